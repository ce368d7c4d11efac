"""One request with everything that deciding it needs, as one reader may see it.

Whether somebody may decide is asked of `eligibility.why_not`, the same function that decides.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from accounts import speech
from accounts.models import User
from approvals import (
    deadlines,
    eligibility,
    errors,
    gates,
    persons,
    queries,
    replies,
    rounds,
    shapes,
    votes,
)
from approvals.eligibility import Involved, Person, Standing
from approvals.errors import ApprovalsError, NotEligible
from approvals.models import Decision, Request, Vote
from approvals.policies import masks
from approvals.policies.rule import Policy
from approvals.policies.steps import Mask
from approvals.policy import Gate, OnDeadline
from approvals.status import DELIVERIES, STATES, Status, Verdict
from runs.models import Run
from runs.status import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """One request, for the page on which it is decided."""

    request: Request
    run: Run
    question: shapes.Question
    shape: shapes.Shape
    payload: object
    """As kept; its digest is `digest`."""
    digest: str
    """To be sent back as `seen_digest`."""
    token: str
    """To be sent back as `token`; a new one each time the form is shown."""
    state: State
    gate: Gate
    sentence: str
    """The policy in words: "1 of finance, not who started the run"."""
    lapse: str
    """What happens after the deadline: "then the agent is told that it expired"."""
    deadline: datetime
    votes: list[Vote]
    decision: Decision | None
    delivery: State | None
    may_approve: bool
    why_not_approve: str
    may_reject: bool
    why_not_reject: str
    answerable: bool
    """Approve means something for a question of this shape."""
    why: str
    """Why not."""
    asked: shapes.Asked
    """With values that may be hidden from this person: to be checked with, never to be shown."""
    actions: tuple[shapes.Action, ...]
    """What is to be decided, and how each may be."""
    reauthenticate: bool
    """The policy wants a recent proof of identity."""
    previous: Request | None
    """The round before, whose payload this one differs from."""
    replaced_by: UUID | None
    summary: str = ""
    """What will happen, told by the server from the policy's template; empty if there is none."""
    key_facts: tuple[tuple[str, object], ...] = ()
    """Fields to be read before all others, by their paths."""
    hidden: int = 0
    """Values that a policy masks from this person."""

    @property
    def may_decide(self) -> bool:
        return self.may_approve or self.may_reject


def form_token() -> str:
    """A name for one form, so that it counts once however often it is sent."""
    return secrets.token_urlsafe(24)


def of(request_id: UUID, user: User, *, reveal: bool = False) -> Detail:
    """Raises NoSuchRequest, also for requests that this person may not see.

    What a policy masks from this person is hidden in everything here, and then nothing can be
    changed; `reveal` shows it.
    """
    request = (
        queries.visible_to(user)
        .select_related("run", "decision", "replaced_by", "replaces")
        .filter(pk=request_id)
        .first()
    )
    if request is None:
        raise errors.NoSuchRequest
    gate = gates.of(request)
    person = persons.reader(user)
    refusals = _refusals(request, gate, person, persons.involved(request.run))
    votes = list(request.votes.select_related("user", "on_behalf_of").order_by("at", "pk"))
    free = user.has_perm(replies.ANSWER)
    asked = replies.asked(request, gate, free=free)
    lapse, hidden = _lapse(request), 0
    if not reveal:
        hidden = _hide(request, votes, masks.for_reader(gate.masked, person.groups))
    if hidden:
        gate = replace(gate, editable=())
        asked = replace(asked, may_change=gate.may_change)
    covered = replies.asked(request, gate, free=free)
    unanswerable = shapes.why_not(asked, Verdict.APPROVED)
    decision = rounds.decision_of(request)
    return Detail(
        request=request,
        run=request.run,
        question=shapes.describe(request.shape, request.payload),
        shape=shapes.Shape(request.shape),
        payload=request.payload,
        digest=request.digest,
        token=form_token(),
        state=STATES[request.status],
        gate=gate,
        sentence=gate.sentence,
        lapse=lapse,
        deadline=request.deadline,
        votes=votes,
        decision=decision,
        delivery=DELIVERIES[decision.delivery] if decision else None,
        may_approve=not refusals[Verdict.APPROVED],
        why_not_approve=refusals[Verdict.APPROVED],
        may_reject=not refusals[Verdict.REJECTED],
        why_not_reject=refusals[Verdict.REJECTED],
        answerable=not unanswerable,
        why=unanswerable,
        asked=asked,
        actions=_shown(shapes.actions(asked), shapes.actions(covered)),
        reauthenticate=gate.reauthenticate_within is not None,
        previous=getattr(request, "replaces", None),
        replaced_by=request.replaced_by_id,
        summary=gates.summary(gates.then(request), gates.asked_by(request)),
        key_facts=gates.key_facts(gates.then(request), gates.asked_by(request)),
        hidden=hidden,
    )


def _shown(
    actions: tuple[shapes.Action, ...], covered: tuple[shapes.Action, ...]
) -> tuple[shapes.Action, ...]:
    """The actions of the question as it was asked, with the values that this reader may see."""
    if len(covered) < len(actions):  # so much is hidden that the rest is no action any more
        covered = tuple(replace(each, args=None, why="") for each in actions)
    return tuple(
        replace(action, args=seen.args, why=seen.why)
        for action, seen in zip(actions, covered, strict=True)
    )


def _hide(request: Request, votes: list[Vote], masked: tuple[Mask, ...]) -> int:
    """Hide what is masked in these rows, which are shown and never saved; how much that was."""
    if not masked:
        return 0
    covered = masks.cover(request.payload, masked, root="payload")
    request.payload = covered.value
    former = getattr(request, "replaces", None)
    if former is not None:
        former.payload = masks.cover(former.payload, masked, root="payload").value
    for row in (*votes, rounds.decision_of(request)):
        if row is not None:
            row.value = masks.cover(row.value, masked, root="payload").value
            row.args = masks.cover(row.args, masked, root="args").value
    return covered.hidden


def _refusals(
    request: Request, gate: Gate, person: Person, involved: Involved
) -> dict[Verdict, str]:
    """Why this person may not approve and may not reject; empty where they may."""
    shut = _shut(request)
    if not shut and request.votes.filter(user_id=person.user_id).exists():
        shut = eligibility.voted()
    return {
        verdict: speech.shown(
            shut
            or eligibility.why_not(person, gate, involved, verdict)
            or (verdict == Verdict.APPROVED and _echo(request, gate, person, involved))
            or replies.why_not(request, gate, verdict)
        )
        for verdict in (Verdict.APPROVED, Verdict.REJECTED)
    }


def _echo(request: Request, gate: Gate, person: Person, involved: Involved) -> NotEligible | None:
    """Why an approval by somebody who may approve would only repeat one that counts already."""
    mine = eligibility.standing(person, gate, involved)
    approved = {
        vote.user_id: vote
        for vote in request.votes.filter(verdict=Verdict.APPROVED).select_related("on_behalf_of")
    }
    if not isinstance(mine, Standing) or not approved:
        return None
    for other in votes.standing_votes(approved, gate, involved):
        if eligibility.one_voice(other, mine, involved.agent):
            return eligibility.echo(other.person.label)
    return None


def _shut(request: Request) -> str | ApprovalsError:
    """Why nobody may decide this request; empty if it is open."""
    if request.status != Status.PENDING:
        return STATES[request.status].sentence
    if request.run.cancel_asked_at is not None:
        return errors.CancelAsked()
    if request.run.ended:
        return errors.Withdrawn()
    if deadlines.passed(request):
        return errors.DeadlinePassed(request)
    return ""


def _lapse(request: Request) -> str:
    rule = Policy.read(request.policy)
    follows = deadlines.outcome(request, rule).outcome
    return OnDeadline(follows).label
