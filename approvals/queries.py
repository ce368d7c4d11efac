"""What the lists show, and the badge: who sees which requests, and whom each calls on.

Whether somebody may decide is asked of `eligibility.why_not`, the same function that decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet

from accounts import clock, once
from accounts.actors import ClockTimestamp
from accounts.models import User
from approvals import (
    eligibility,
    gates,
    light,
    persons,
    policy,
    replies,
    rounds,
    urgency,
)
from approvals.eligibility import Involved, Person
from approvals.models import Decision, Request
from approvals.policy import Book, Gate, Risk
from approvals.status import DELIVERIES, STATES, Status, Verdict
from runs import planner
from runs.models import Run
from runs.status import LIVE, State

PAGE = 50
MOST_TOLD = 99
"""More requests that wait for somebody are told as "99+"."""
PART = 125
"""Requests that are looked at to count those: some more, as not all that somebody is asked are for
them to decide."""
HEAVY = ("askers", "run__input", "run__output", "run__error", "run__park_detail")
"""What no list shows."""
NEWEST = 50_000
"""Closed requests in which a text is looked for: there is no index for it."""
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
class Closed:
    """Which closed requests are asked for; an empty field asks for nothing."""

    mine: bool = False
    """Only those on which the reader gave a word."""
    since: datetime | None = None
    until: datetime | None = None
    """Not included."""
    text: str = ""
    """Each of its words is in the title or in that of the run; looked for in the NEWEST ones."""


def waiting_for(user: User) -> int:
    """How many open requests this person may decide now, up to MOST_TOLD + 1: the badge.

    Every page asks, so not more are read than are needed to know.
    """
    mine = once.known(_mine, user)
    if mine is not None:
        return min(len(mine), MOST_TOLD + 1)
    count = 0
    for start in range(0, MOST, PART):
        looked, found = _looked(user, slice(start, start + PART))
        count += len(found)
        if count > MOST_TOLD or looked < PART:
            break
    return min(count, MOST_TOLD + 1)


def needs(user: User) -> list[Row]:
    """The requests that this person may decide now, the most urgent first: see `urgency`.

    Light ones: `whole` reads what is shown.
    """
    return _sorted(_row(request, gate, mine=True) for request, gate in _mine(user))


def pending(user: User) -> list[Row]:
    """Every open request that this person may see, the most urgent first; light ones, too."""
    mine = _mine(user)
    waiting = visible_to(user).filter(status=Status.PENDING).order_by("deadline", "pk")
    others = waiting.exclude(planner.among("id", planner.Ids.of(request.pk for request, _ in mine)))
    book = policy.in_force()
    rows = [_row(request, gate, mine=True) for request, gate in mine]
    rows += [_row(each, _wants(each, book).gate) for each in light.read(others, slice(MOST))]
    rows.sort(key=lambda row: (row.request.deadline, row.request.pk))
    return _sorted(rows[:MOST])


def whole(rows: Iterable[Row]) -> list[Row]:
    """These rows with all that a list shows, as they are now. One query.

    One that was closed meanwhile does not wait for anybody any more.
    """
    light = list(rows)
    found = Request.objects.filter(pk__in=[row.request.pk for row in light])
    now = _with_run(found).defer(*HEAVY).in_bulk()
    return [
        _row(request, row.gate, mine=row.mine and request.status == Status.PENDING)
        for row in light
        if (request := now.get(row.request.pk))
    ]


def decided(
    user: User,
    asked: Closed = Closed(),
    *,
    before: tuple[datetime, UUID] | None = None,
    limit: int = PAGE,
) -> list[Row]:
    """Closed requests, newest first; `before` is the (closed_at, id) of the last one seen."""
    found = _with_run(visible_to(user).exclude(status=Status.PENDING))
    if asked.mine:
        found = found.filter(votes__user=user)
    if asked.since is not None:
        found = found.filter(closed_at__gte=asked.since)
    if asked.until is not None:
        found = found.filter(closed_at__lt=asked.until)
    if words := asked.text.split():
        closed = Request.objects.exclude(status=Status.PENDING).order_by("-closed_at", "-pk")
        found = found.filter(pk__in=closed.values("pk")[:NEWEST])
        for word in words:
            found = found.filter(Q(title__icontains=word) | Q(run__title__icontains=word))
    if before is not None:
        at, pk = before
        # Written so that the first part is one range of the index.
        older = Q(closed_at__lt=at) | Q(pk__lt=pk)
        found = found.filter(Q(closed_at__lte=at) & older)
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
    return Request.objects.filter(_asked_of(persons.reader(user)))


def _asked_of(person: Person) -> Q:
    """Requests in which this person may have a say, for themselves or for somebody absent."""
    everybody = (person, *(each.person for each in person.absent))
    groups = sorted({group for each in everybody for group in each.groups})
    addresses = sorted({each.address for each in everybody})
    return Q(groups__overlap=groups) | Q(people__overlap=addresses)


# --- how it is found out --------------------------------------------------------------------------


WANTS = "_wants"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wants:
    """What a request asks of whoever looks at it."""

    book: Book
    gate: Gate
    verdict: str | None
    """To approve it, or only to reject it; None: it can be given neither."""


def _sorted(rows: Iterable[Row]) -> list[Row]:
    now = clock.page()
    return sorted(rows, key=lambda row: urgency.place(row.request, row.risk, now))


@once.a_page
def _mine(user: User) -> list[tuple[Request, Gate]]:
    return _looked(user, slice(MOST))[1]


def _looked(user: User, part: slice) -> tuple[int, list[tuple[Request, Gate]]]:
    """How many there were to look at in this part, nearest deadline first, and those that this
    person may decide."""
    if not user.has_perm(eligibility.PERMISSION):
        return 0, []  # nor need it be known for whom they stand in
    person = persons.reader(user)
    if not person.may_decide:
        return 0, []
    open_ = Request.objects.filter(_asked_of(person), status=Status.PENDING)
    now = open_.filter(
        deadline__gt=ClockTimestamp(), run__cancel_asked_at__isnull=True, run__status__in=LIVE
    )
    found = light.read(now.exclude(votes__user=user).order_by("deadline", "pk"), part)
    if not found:
        return 0, []
    involved = persons.involved_in(request.run for request in found)
    book = policy.in_force()
    asked = [(each, _wants(each, book)) for each in found]
    return len(found), [
        (each, wants.gate)
        for each, wants in asked
        if _can_act(wants, person, involved[each.run_id])
    ]


def _wants(request: Request, book: Book) -> _Wants:
    """Worked out once for a light request, which is the same as long as its row is, and a book."""
    kept: _Wants | None = request.__dict__.get(WANTS)
    if kept is None or kept.book is not book:
        gate = gates.of(request, book)
        wanted = (Verdict.APPROVED, Verdict.REJECTED)
        verdict = next((each for each in wanted if not replies.why_not(request, gate, each)), None)
        kept = request.__dict__[WANTS] = _Wants(book=book, gate=gate, verdict=verdict)
    return kept


def _can_act(wants: _Wants, person: Person, involved: Involved) -> bool:
    """Whether it makes sense to call on this person: they may approve it, or only reject it."""
    return wants.verdict is not None and (
        eligibility.why_not(person, wants.gate, involved, wants.verdict) is None
    )


def _with_run(found: QuerySet[Request]) -> QuerySet[Request]:
    return found.select_related("run", "decision")


def _row(request: Request, gate: Gate | None = None, *, mine: bool = False) -> Row:
    decision = None if request.status == Status.PENDING else rounds.decision_of(request)
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
