"""Votes: one person's word on one request, and the one decision that enough of them make.

Called by `decisions.decide` alone, which has locked run and request and refused whatever may not
be. What is added here is somebody's usable vote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext_noop as noop

from accounts.actors import Actor
from accounts.speech import later
from approvals import eligibility, errors, notices, persons, requests, shapes, waking
from approvals.electorate import Electorate
from approvals.eligibility import Involved, Standing
from approvals.errors import NotEligible
from approvals.models import Decision, Request, Vote
from approvals.policy import Excluded, Gate
from approvals.shapes import Given
from approvals.status import Status, Verdict
from audit import canonical
from ledger.models import Effect
from ledger.status import DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one person's verdict."""

    request_id: UUID
    run_id: UUID
    verdict: str
    decided: bool
    """This vote decided the request; otherwise more people are needed."""
    missing: int
    """How many more people had to approve after this vote."""
    already_done: bool
    """The effect in question had happened before; the run goes on with its stored result."""
    repeated: bool = field(default=False, compare=False)
    """The same form came again; this is what became of it the first time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """What one person sent."""

    actor: Actor
    verdict: str
    value: object
    comment: str
    seen_digest: str
    token: str
    reason: str = ""
    """One of the policy's named reasons to reject."""
    args: Mapping[str, object] | None = None
    """Those of a question of ours, as changed."""

    @property
    def said(self) -> str:
        """Reason and comment, as the agent and the log are told."""
        return ": ".join(filter(None, (self.reason, self.comment)))


def outcome(request: Request, vote: Vote, *, repeated: bool = False) -> Outcome:
    """What became of a vote, as it was when it was given."""
    return Outcome(
        request_id=request.pk,
        run_id=request.run_id,
        verdict=vote.verdict,
        decided=vote.missing == 0,
        missing=vote.missing,
        already_done=vote.already_done,
        repeated=repeated,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """The seventh step: one usable vote of somebody who may vote, added to those before it."""

    request: Request
    gate: Gate
    involved: Involved
    standing: Standing
    """As whom this person votes."""
    ballot: Ballot
    given: Given
    """What the ballot means."""
    at: datetime
    """When it was found to be in time."""
    widest: Gate
    """`gate`, as if all groups had joined that are still to be asked."""

    def add(self) -> Outcome:
        editor = self._editor()
        if self.ballot.verdict == Verdict.REJECTED:
            agreeing, missing = [], 0
        else:
            agreeing = self._agreeing()
            missing = max(0, self.gate.quorum - len(agreeing) - self._counts(editor))
            if missing and self.given.edited:
                self._require_others(missing, agreeing)
        absent = self.standing.absent
        vote = Vote.objects.create(
            request=self.request,
            user_id=self.standing.person.user_id,
            on_behalf_of_id=absent.user_id if absent else None,
            verdict=self.ballot.verdict,
            value=self.given.value,
            args=self.given.changed,
            edited_by_id=editor,
            comment=self.ballot.comment,
            reason=self.ballot.reason,
            digest=self.ballot.seen_digest,
            token=self.ballot.token,
            missing=missing,
            already_done=self._already_done(),
            authenticated_at=self.ballot.actor.authenticated_at,
            entry=self.ballot.actor.entry,
            at=self.at,
        )
        if missing:
            self._record("decision.voted", {"missing": missing, "edited_by": editor})
        else:
            self._decide(agreeing, editor)
        return outcome(self.request, vote)

    def _agreeing(self) -> list[Standing]:
        """Who approved before and may still approve now, each time with the same value.

        Raises BadValue if somebody approved something else, and NotEligible if this approval would
        be the word of somebody who approved before.
        """
        votes = {vote.user_id: vote for vote in self.request.votes.filter(verdict=Verdict.APPROVED)}
        heard = standing_votes(votes, self.gate, self.involved)
        for each in heard:
            if not self._same(votes[each.person.user_id]):
                raise errors.BadValue(
                    later(
                        "{label} approved with another value. Approve the same, or reject.",
                        label=each.person.label,
                    )
                )
            if eligibility.one_voice(each, self.standing, self.involved.agent):
                raise eligibility.echo(each.person.label)
        return heard

    def _require_others(self, missing: int, agreeing: list[Standing]) -> None:
        """Raise NobodyElse if too few people could ever approve the arguments as changed."""
        electorate = Electorate.of([self.request])
        able = electorate.others(self.request, self.widest, [*agreeing, self.standing])
        if able < missing:
            raise errors.NobodyElse(needs=self.gate.sentence, missing=missing, able=able)

    def _same(self, vote: Vote) -> bool:
        """Whether a vote approved exactly what is approved now."""
        held = canonical.fingerprint([vote.value, vote.args])
        return held == canonical.fingerprint([self.given.value, self.given.changed])

    def _editor(self) -> int | None:
        """Who first changed the arguments to what is approved now; None if they are unchanged.

        Raises NotEligible if this would be the editor's own word once more.
        """
        if not self.given.edited:
            return None
        proposals = self.request.votes.filter(
            verdict=Verdict.APPROVED, edited_by__isnull=False
        ).select_related("edited_by")
        for vote in proposals.order_by("pk"):
            if self._same(vote) and vote.edited_by is not None:
                editor = Standing(person=persons.bare(vote.edited_by))
                if eligibility.one_voice(editor, self.standing, self.involved.agent):
                    raise eligibility.echo(editor.person.label)
                return vote.edited_by.pk
        return self.standing.person.user_id

    def _counts(self, editor: int | None) -> bool:
        return Excluded.EDITOR not in self.gate.excluded or editor != self.standing.person.user_id

    def _args_hash(self) -> str:
        """Of the effect that an approval of this would permit."""
        changed = self.given.changed
        return self.request.args_hash if changed is None else canonical.digest(dict(changed))

    def _already_done(self) -> bool:
        """Whether this run has already had the effect that an approval would permit."""
        return (
            bool(self.request.tool)
            and Effect.objects.filter(
                run_id=self.request.run_id,
                tool=self.request.tool,
                args_hash=self._args_hash(),
                status__in=DONE,
            ).exists()
        )

    def _decide(self, agreeing: list[Standing], editor: int | None) -> None:
        decider = ", ".join(each.label for each in [*agreeing, self.standing])
        if not requests.close(
            self.request, Status(self.ballot.verdict), self.ballot.said, actor=self.ballot.actor
        ):
            raise errors.Busy
        decision = Decision.objects.create(
            request=self.request,
            verdict=self.ballot.verdict,
            value=self.given.value,
            args=self.given.changed,
            args_hash=self._args_hash(),
            edited_by_id=editor,
            comment=self.ballot.said,
            decided_by_id=self.standing.person.user_id,
            decider=decider[:200],
            digest=self.request.digest,
            answer=shapes.answer(self.given, comment=self.ballot.said, by=decider),
            at=self.at,
        )
        self._record(
            "decision.made",
            {"decision": decision.pk, "decider": decider, "edited_by": editor}
            | ({"args_hash": decision.args_hash} if editor else {}),
        )
        notices.notify(notices.Event.DECIDED, self.request)
        waking.wake(self.request.run_id, cause=noop("decision"))

    def _record(self, verb: str, data: dict[str, object]) -> None:
        requests.record(
            verb,
            self.request,
            actor=self.ballot.actor,
            reason=self.ballot.said,
            data=data
            | {
                # Fingerprints, not what was said: nothing can be taken out of the log again.
                "tool": self.request.tool,
                "verdict": self.ballot.verdict,
                "value": _print_of(self.given.value),
                "args": _print_of(self.given.changed),
                "digest": self.request.digest,
                "round": self.request.round,
                "method": self.ballot.actor.method,
                "on_behalf_of": self.standing.absent.label if self.standing.absent else "",
            },
        )


def _print_of(value: object) -> str:
    return "" if value is None else canonical.fingerprint(value)


def counts(vote: Vote, gate: Gate) -> bool:
    """Whether an approval is more than a proposal: who edits does not approve the edit, too."""
    return Excluded.EDITOR not in gate.excluded or vote.edited_by_id != vote.user_id


def standing_votes(votes: Mapping[int, Vote], gate: Gate, involved: Involved) -> list[Standing]:
    """Of these approvals by user id, those that count now: one for each voice, oldest first."""
    votes = {user_id: vote for user_id, vote in votes.items() if counts(vote, gate)}
    heard: list[Standing] = []
    for person in sorted(persons.of(votes), key=lambda each: votes[each.user_id].pk):
        now = eligibility.standing(person, gate, involved)
        if isinstance(now, NotEligible):
            continue
        then = votes[person.user_id].on_behalf_of
        if then is not None and now.absent is None:
            now = replace(now, absent=persons.bare(then))
        if not any(eligibility.one_voice(now, other, involved.agent) for other in heard):
            heard.append(now)
    return heard
