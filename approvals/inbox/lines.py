"""The lists of approvals: requests as rows that say what is wanted of whom, and until when.

A row that the reader has seen stays where it is while the list refreshes itself, also when it is
decided meanwhile. What is newer is counted, and shown when the reader asks for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from accounts import clock
from accounts.models import User
from accounts.speech import later as _
from approvals import claims, glance, policy, queries, urgency
from approvals.aftermath import mishaps
from approvals.claims import Looker
from approvals.electorate import Electorate, Tally, gate_of
from approvals.models import Request
from approvals.policy import Book, Gate, Risk
from approvals.queries import Closed, Row
from approvals.status import Status
from runs.status import State

SIZE = 50
"""Rows at first; the reader may have more shown."""
NOBODY = State(
    value="nobody",
    label=_("Nobody can approve"),
    tone="warn",
    icon="triangle",
    sentence=_("Fewer people may approve than the policy asks for. An administrator can add some."),
)
OVERDUE = State(
    value="overdue",
    label=_("Deadline passed"),
    tone="warn",
    icon="hourglass",
    sentence=_("The time for deciding is over; the request expires in a moment."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of a list."""

    row: Row
    gate: Gate
    state: State
    label: str
    """What the badge says."""
    rule: str
    """What the policy asks besides what the badge says; may be empty."""
    risk: str
    """Where it is not the usual one."""
    urgent: bool
    approvals: int
    """So far."""
    quorum: int
    pick: bool = False
    """The reader may choose it, to decide many at once."""
    bulk: bool = False
    """It may be approved together with others."""
    mishap: State | None = None
    """How badly it went wrong afterwards, if somebody said so."""
    lookers: tuple[Looker, ...] = ()
    """Who says that they look at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Open requests as of the moment at which the reader opened the list."""

    lines: list[Line]
    as_of: datetime
    newer: int
    """Requests that were opened since."""
    mine: int
    """All that this person may decide now."""
    more: int
    """Requests after those that are shown."""


def opened(user: User, *, mine: bool, as_of: datetime | None, most: int = SIZE) -> Listing:
    """Up to `most` open requests, the most urgent first: of those that this person may decide, or
    of all they see.

    With `as_of`, those of that moment; the ones that were closed since are still among them.
    """
    rows = queries.needs(user) if mine else queries.pending(user)
    groups = frozenset(user.groups.values_list("name", flat=True))
    there, newer, moment = rows, 0, as_of or clock.page()
    if as_of is not None:
        shown = [row for row in rows if row.request.created_at <= as_of]
        gone = _closed_since(user, as_of, groups if mine else None)
        there, newer = _sorted([*shown, *gone], as_of), len(rows) - len(shown)
    return Listing(
        lines=lines(queries.whole(there[:most]), groups),
        as_of=moment,
        newer=newer,
        mine=sum(row.mine for row in rows),
        more=max(len(there) - most, 0),
    )


def lines(rows: Iterable[Row], groups: Collection[str] = ()) -> list[Line]:
    """Rows with what the lists show besides. A constant number of queries.

    `groups`: of the reader, to say what may be approved together with others.
    """
    found = list(rows)
    asked = [row.request for row in found if row.request.status == Status.PENDING]
    electorate, book = Electorate.of(asked), policy.in_force()
    now = clock.page()
    lookers = claims.on([request.pk for request in asked])
    wrong = mishaps.worst([row.request.pk for row in found if row.decision])
    return [
        replace(
            _line(row, electorate, book, now),
            lookers=tuple(lookers.get(row.request.pk, ())),
            mishap=wrong.get(row.request.pk),
            pick=row.mine,
            bulk=row.mine and row.gate is not None and not _opened_first(row, row.gate, groups),
        )
        for row in found
    ]


def _opened_first(row: Row, gate: Gate, groups: Collection[str]) -> bool:
    return bool(glance.why_open(row.request, gate, groups))


def state_of(state: State, request: Request, tally: Tally | None, now: datetime) -> State:
    """`state`, or what lies over it: that it is too late, or that nobody could approve."""
    if request.status != Status.PENDING:
        return state
    if request.deadline <= now:
        return OVERDUE
    return NOBODY if tally and not tally.possible else state


def label_of(state: State, gate: Gate) -> str:
    """`state` in words: who is waited for, where somebody is."""
    if state.value != Status.PENDING:
        return state.label
    asked = gate.asked
    return _("Waiting for {group}", group=asked[:1].upper() + asked[1:])


def _closed_since(user: User, moment: datetime, groups: Collection[str] | None) -> list[Row]:
    """Those closed since; with `groups` only those that were asked of them or of this person."""
    closed = queries.decided(user, Closed(since=moment), limit=queries.MOST)
    since = [row for row in closed if row.request.created_at <= moment]
    if groups is None:
        return since
    mine = set(groups)
    return [
        row for row in since if mine & set(row.request.groups) or user.email in row.request.people
    ]


def _sorted(found: list[Row], now: datetime) -> list[Row]:
    """As they stood at `now`, so that none moves under the reader's eyes."""
    book = policy.in_force()

    def place(row: Row) -> tuple[int, datetime, str]:
        gate = row.gate or gate_of(row.request, book)
        return urgency.place(row.request, gate.risk, now)

    return sorted(found, key=place)


def _line(row: Row, electorate: Electorate, book: Book, now: datetime) -> Line:
    request = row.request
    gate = row.gate or gate_of(request, book)
    tally = electorate.tally(request, gate) if request.status == Status.PENDING else None
    state = state_of(row.state, request, tally, now)
    return Line(
        row=row,
        gate=gate,
        state=state,
        label=label_of(state, gate),
        rule=gate.terms if state.value == Status.PENDING else gate.sentence,
        risk="" if gate.risk == Risk.NORMAL else Risk(gate.risk).label,
        urgent=urgency.is_near(request, now),
        approvals=tally.approvals if tally else 0,
        quorum=gate.quorum,
    )
