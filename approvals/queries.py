"""What the pages show: inboxes, the badge, and one request with everything a decision needs.

Whether somebody may decide is asked of `eligibility.why_not`, the same function that decides.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts.actors import ClockTimestamp
from accounts.models import User
from approvals import (
    clock,
    deadlines,
    eligibility,
    errors,
    gates,
    policy,
    replies,
    rounds,
    shapes,
    urgency,
    votes,
)
from approvals.eligibility import Involved, Person, Standing
from approvals.errors import NotEligible
from approvals.models import Decision, Request, Vote
from approvals.policies import masks
from approvals.policies.rule import Policy
from approvals.policies.steps import Mask
from approvals.policy import Gate, OnDeadline, Risk
from approvals.status import DELIVERIES, STATES, Status, Verdict
from runs.models import Run
from runs.status import LIVE, State

PAGE = 50
MOST = 500
"""Open requests looked at for one person, nearest deadline first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One request in a list."""

    request: Request
    run: Run
    state: State
    group: str
    decision: Decision | None
    delivery: State | None
    mine: bool
    """It waits for the person who looks."""
    gate: Gate | None = None
    """What a verdict must satisfy; None where it is not open any more."""

    @property
    def risk(self) -> str:
        return self.gate.risk if self.gate else Risk.NORMAL


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
    """The policy in words: "1 of finance, not the requester"."""
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


def detail(request_id: UUID, user: User, *, reveal: bool = False) -> Detail:
    """Raises NoSuchRequest, also for requests that this person may not see.

    What a policy masks from this person is hidden in everything here, and then nothing can be
    changed; `reveal` shows it.
    """
    request = (
        visible_to(user)
        .select_related("run", "decision", "replaced_by", "replaces")
        .filter(pk=request_id)
        .first()
    )
    if request is None:
        raise errors.NoSuchRequest
    gate = gates.of(request)
    person = eligibility.person(user)
    refusals = _refusals(request, gate, person, eligibility.involved(request.run))
    votes = list(request.votes.select_related("user", "on_behalf_of").order_by("at", "pk"))
    free = user.has_perm(replies.ANSWER)
    asked = replies.asked(request, gate, free=free)
    hidden = 0
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
        lapse=_lapse(request),
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


def waiting_for(user: User) -> int:
    """How many open requests this person may decide now: the badge."""
    return len(_mine(user))


def needs(user: User) -> list[Row]:
    """The requests that this person may decide now, the most urgent first: see `urgency`."""
    return _sorted(_row(request, gate, mine=True) for request, gate in _mine(user))


def pending(user: User) -> list[Row]:
    """Every open request that this person may see, the most urgent first."""
    mine = {request.pk for request, _ in _mine(user)}
    found = _with_run(visible_to(user).filter(status=Status.PENDING))
    book = policy.in_force()
    return _sorted(
        _row(request, gates.of(request, book), mine=request.pk in mine)
        for request in found.order_by("deadline", "pk")[:MOST]
    )


def decided(
    user: User,
    *,
    before: tuple[datetime, UUID] | None = None,
    since: datetime | None = None,
    limit: int = PAGE,
) -> list[Row]:
    """Closed requests, newest first; `before` is the (closed_at, id) of the last one seen.

    `since`: only those closed since then.
    """
    found = _with_run(visible_to(user).exclude(status=Status.PENDING))
    if since is not None:
        found = found.filter(closed_at__gte=since)
    if before is not None:
        at, pk = before
        found = found.filter(Q(closed_at__lt=at) | Q(closed_at=at, pk__lt=pk))
    return [_row(request) for request in found.order_by("-closed_at", "-pk")[:limit]]


def of_run(run: Run, user: User) -> list[Row]:
    """All requests of one run that this person may see, newest first."""
    found = _with_run(visible_to(user).filter(run=run))
    return [_row(request) for request in found.order_by("-created_at", "-pk")]


def visible_to(user: User) -> QuerySet[Request]:
    """Approvers see what their groups were asked; operators, auditors and admins see all."""
    if not user.may_sign_in or not user.has_perm("approvals.view_request"):
        return Request.objects.none()
    if user.has_perm("runs.view_payload") or user.has_perm("audit.view_entry"):
        return Request.objects.all()
    return Request.objects.filter(_asked_of(eligibility.person(user)))


def _asked_of(person: Person) -> Q:
    """Requests in which this person may have a say, for themselves or for somebody absent."""
    everybody = (person, *(each.person for each in person.absent))
    groups = sorted({group for each in everybody for group in each.groups})
    addresses = sorted({each.address for each in everybody})
    return Q(groups__overlap=groups) | Q(people__overlap=addresses)


# --- how it is found out --------------------------------------------------------------------------


def _sorted(rows: Iterable[Row]) -> list[Row]:
    now = clock.now()
    return sorted(rows, key=lambda row: urgency.place(row.request, row.risk, now))


def _mine(user: User) -> list[tuple[Request, Gate]]:
    person = eligibility.person(user)
    if not person.may_decide:
        return []
    found = list(
        _with_run(Request.objects.filter(_asked_of(person), status=Status.PENDING))
        .filter(
            deadline__gt=ClockTimestamp(), run__cancel_asked_at__isnull=True, run__status__in=LIVE
        )
        .exclude(votes__user=user)
        .order_by("deadline", "pk")[:MOST]
    )
    if not found:
        return []
    involved = eligibility.involved_in(request.run for request in found)
    book = policy.in_force()
    asked = [(each, gates.of(each, book)) for each in found]
    return [each for each in asked if _can_act(*each, person, involved[each[0].run_id])]


def _can_act(request: Request, gate: Gate, person: Person, involved: Involved) -> bool:
    """Whether it makes sense to call on this person: they may approve it, or only reject it."""
    verdict = Verdict.APPROVED
    if _unanswerable(request, gate, verdict):
        verdict = Verdict.REJECTED
    return not _unanswerable(request, gate, verdict) and (
        eligibility.why_not(person, gate, involved, verdict) is None
    )


def _refusals(
    request: Request, gate: Gate, person: Person, involved: Involved
) -> dict[Verdict, str]:
    """Why this person may not approve and may not reject; empty where they may."""
    shut = _shut(request)
    if not shut and request.votes.filter(user_id=person.user_id).exists():
        shut = str(eligibility.voted())
    return {
        verdict: str(
            shut
            or eligibility.why_not(person, gate, involved, verdict)
            or (verdict == Verdict.APPROVED and _echo(request, gate, person, involved))
            or _unanswerable(request, gate, verdict)
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


def _shut(request: Request) -> str:
    """Why nobody may decide this request; empty if it is open."""
    if request.status != Status.PENDING:
        return STATES[request.status].sentence
    if request.run.cancel_asked_at is not None:
        return str(errors.CancelAsked())
    if request.run.ended:
        return str(errors.Withdrawn())
    if deadlines.passed(request):
        return str(errors.DeadlinePassed(request))
    return ""


def _unanswerable(request: Request, gate: Gate, verdict: Verdict) -> str:
    return replies.why_not(request, gate, verdict)


def _lapse(request: Request) -> str:
    rule = Policy.read(request.policy)
    follows = deadlines.outcome(request, rule).outcome
    return OnDeadline(follows).label


def _with_run(found: QuerySet[Request]) -> QuerySet[Request]:
    return found.select_related("run", "decision")


def _row(request: Request, gate: Gate | None = None, *, mine: bool = False) -> Row:
    decision = rounds.decision_of(request)
    return Row(
        request=request,
        run=request.run,
        state=STATES[request.status],
        group=request.group,
        decision=decision,
        delivery=DELIVERIES[decision.delivery] if decision else None,
        mine=mine,
        gate=gate,
    )
