"""Giving one verdict to many requests, each by itself."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts import errors as accounts_errors
from accounts.actors import Actor
from accounts.models import User
from accounts.speech import later
from approvals import decisions, errors, gates, policy, queries, refusals, shapes
from approvals.bulk import kinds
from approvals.bulk.outcomes import OUTCOMES
from approvals.decisions import Outcome
from approvals.models import Request
from approvals.policy import Gate
from approvals.status import Verdict
from audit import trail
from runs.status import State

PATIENCE = timedelta(seconds=20)
"""How long one sending may take; below the web server's time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request, as it was shown in one form."""

    request_id: UUID
    digest: str
    token: str

    @classmethod
    def read(cls, text: str) -> Sent | None:
        """What a box sends; None if it is nothing of the kind."""
        identity, _, rest = text.partition(".")
        digest, _, token = rest.partition(".")
        try:
            return cls(request_id=UUID(identity), digest=digest, token=token)
        except ValueError:
            return None

    @property
    def text(self) -> str:
        return f"{self.request_id}.{self.digest}.{self.token}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one item."""

    sent: Sent
    title: str
    """Empty for what the person may not see."""
    state: State
    why: str = ""
    """Where it did not count; or what else there is to know."""
    repeated: bool = False
    """The same form came again; this is what became of it the first time."""
    passkey: bool = False
    """The proof that is needed is one by passkey."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """One form, whatever is ticked on it."""

    verdict: str
    comment: str = ""
    reason: str = ""
    """One of the policies' named reasons to reject; kept with those whose policy names it."""
    kind: str = ""
    """Token of the kind that was shown; approving, all must be of it."""
    batch: str = ""
    """Names the form in the audit log."""


def decide(items: Sequence[Sent], user: User, *, actor: Actor, ballot: Ballot) -> list[Result]:
    """Give `ballot` to each item by `decisions.decide`; the results in the given order.

    Never raises for an item: what refuses it is its result, and is audited as its refusal. After
    PATIENCE, or the first item that wants a proof of identity, the rest is left unreached.
    Call it outside of transactions.
    """
    teller = _Teller.of(items, user, actor, ballot)
    ends = time.monotonic() + PATIENCE.total_seconds()
    results: dict[Sent, Result] = {}
    proof = False
    for sent in sorted(items, key=teller.strictness):
        stop = proof or time.monotonic() > ends
        results[sent] = teller.unreached(sent) if stop else teller.decide(sent)
        proof = proof or results[sent].state.value == "proof"
    found = [results[sent] for sent in items]
    _record(found, actor, ballot)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Teller:
    """Gives one ballot to one item after the other."""

    actor: Actor
    ballot: Ballot
    requests: dict[UUID, Request]
    """Those that the person may see."""
    gates: dict[UUID, Gate]

    @classmethod
    def of(cls, items: Iterable[Sent], user: User, actor: Actor, ballot: Ballot) -> _Teller:
        found = queries.visible_to(user).filter(pk__in=[each.request_id for each in items])
        requests = {each.pk: each for each in found.select_related("run")}
        book = policy.in_force()
        held = {pk: gates.of(each, book) for pk, each in requests.items()}
        return cls(actor=actor, ballot=ballot, requests=requests, gates=held)

    def strictness(self, sent: Sent) -> float:
        """To begin with what wants the newest proof: then nothing is done before it is asked."""
        gate = self.gates.get(sent.request_id)
        within = gate.reauthenticate_within if gate else None
        return within.total_seconds() if within else float("inf")

    def decide(self, sent: Sent) -> Result:
        try:
            outcome = self._decide(sent)
        except accounts_errors.PasskeyNeeded as refusal:
            return self._result(sent, "proof", why=refusal.shown, passkey=True)
        except accounts_errors.ReauthenticationNeeded as refusal:
            return self._result(sent, "proof", why=refusal.shown)
        except (errors.ApprovalsError, accounts_errors.AccountsError) as refusal:
            return self._result(sent, "refused", why=refusal.shown)
        return self._told(sent, outcome)

    def unreached(self, sent: Sent) -> Result:
        return self._result(sent, "unreached")

    def _decide(self, sent: Sent) -> Outcome:
        self._require_fit(sent)
        gate = self.gates[sent.request_id]
        named = self.ballot.reason if self.ballot.reason in gate.reject_reasons else ""
        return decisions.decide(
            sent.request_id,
            actor=self.actor,
            verdict=self.ballot.verdict,
            comment=self.ballot.comment,
            reason=named,
            seen_digest=sent.digest,
            token=sent.token,
        )

    def _require_fit(self, sent: Sent) -> None:
        """Refuse what the decision would not, and record that."""
        request = self.requests.get(sent.request_id)
        refusal: errors.ApprovalsError
        if request is None:
            refusal = errors.NoSuchRequest()
        elif self.ballot.verdict == Verdict.APPROVED and self._kind(request) != self.ballot.kind:
            refusal = errors.OneByOne(
                later(
                    "It is of another kind than the others. Open it, read it and decide it there."
                )
            )
        else:
            return
        refusals.record(
            sent.request_id,
            refusal,
            actor=self.actor,
            verdict=self.ballot.verdict,
            run_id=request.run_id if request else None,
        )
        raise refusal

    def _kind(self, request: Request) -> str:
        question = shapes.describe(request.shape, request.payload)
        return kinds.of(request, question.tool).token

    def _told(self, sent: Sent, outcome: Outcome) -> Result:
        why = ""
        if not outcome.decided:
            why = ngettext(
                "{count} more must approve.", "{count} more must approve.", outcome.missing
            ).format(count=outcome.missing)
        elif outcome.already_done:
            why = _("It had happened already. The run goes on with the stored result.")
        value = outcome.verdict if outcome.decided else "voted"
        return self._result(sent, value, why=why, repeated=outcome.repeated)

    def _result(
        self,
        sent: Sent,
        value: str,
        *,
        why: str = "",
        repeated: bool = False,
        passkey: bool = False,
    ) -> Result:
        request = self.requests.get(sent.request_id)
        return Result(
            sent=sent,
            title=request.title if request else "",
            state=OUTCOMES[value],
            why=why,
            repeated=repeated,
            passkey=passkey,
        )


def _record(results: list[Result], actor: Actor, ballot: Ballot) -> None:
    """One entry that ties the entries of the items together; none for a form that came again."""
    done = [each for each in results if each.state.value in ("approved", "rejected", "voted")]
    if not done or all(each.repeated for each in done):
        return
    others = {str(each.sent.request_id): each.state.value for each in results if each not in done}
    with transaction.atomic():
        trail.record(
            "decision.many",
            actor=actor,
            target=("bulk", ballot.batch),
            reason=ballot.comment,
            data={
                "verdict": ballot.verdict,
                "count": len(done),
                "requests": [str(each.sent.request_id) for each in done],
                "others": others,
            },
        )
