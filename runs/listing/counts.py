"""How many of the runs that are found are in which state, as chips that filter the list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import Count as Counted
from django.db.models import Q
from django.http import QueryDict
from django.utils.translation import gettext, pgettext

from accounts import speech
from runs import queries
from runs.listing import addresses
from runs.listing.finding import Scope
from runs.status import STATES, State, Status

MOST = 1_000
"""Runs of one state that are counted."""
_ANY = "any state"
"""Stands for a state among the parameters of a statement, as this very object."""
SHOWN = (Status.WAITING, Status.RUNNING, Status.QUEUED, Status.FAILED, Status.SUCCEEDED)


@dataclass(frozen=True, slots=True)
class Count:
    """A number of runs, up to MOST."""

    number: int
    more: bool = False

    @classmethod
    def of(cls, scope: Scope) -> Count:
        return cls.upto(scope.runs().values("pk")[: MOST + 1].count())

    @classmethod
    def upto(cls, number: int) -> Count:
        return cls(min(number, MOST), number > MOST)

    def __str__(self) -> str:
        number = intcomma(self.number)
        return gettext("%(number)s+") % {"number": number} if self.more else str(number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A count that filters the list, or takes the filter away where it is on."""

    state: State
    count: Count
    label: str
    url: str
    on: bool


def chips(scope: Scope, query: QueryDict) -> list[Chip]:
    """Of the runs that meet the other filters. Two queries.

    None where values were looked for that may be hidden from the reader, and one page has no room
    for what was found: how many hide them must not be told by a number.
    """
    if scope.shown:
        found = scope.newest()
        if len(found) > queries.PAGE:
            return []
        scope = scope.among(found)
    attention = Count.of(scope.only(queries.attention()))
    return [
        _chip(attention, query, _attention(), "attention", "1"),
        *(_chip(count, query, STATES[each], "status", each) for each, count in _states(scope)),
    ]


def _states(scope: Scope) -> list[tuple[Status, Count]]:
    if scope.rare is None:
        found = _upto_most(scope)
    else:
        found = dict(scope.runs().values_list("status").annotate(Counted("pk")).order_by())
    return [(each, Count.upto(found.get(each, 0))) for each in SHOWN]


def _upto_most(scope: Scope) -> dict[str, int]:
    """By state. Each is counted by itself, so that the index of its state is read no further than
    needed; the statement is made once, and sent once."""
    runs = scope.only(Q(status=_ANY)).runs().values("pk")[: MOST + 1]
    try:
        one, given = runs.query.sql_with_params()
    except EmptyResultSet:  # nothing can meet the filters
        return {}
    counted = f"SELECT %s, count(*) FROM ({one}) found"  # noqa: S608 (made by Django)
    params: list[Any] = [each for status in SHOWN for each in (status, *_with(given, status))]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join([counted] * len(SHOWN)), params)
        return dict(cursor.fetchall())


def _with(given: Sequence[Any], status: str) -> Iterator[Any]:  # Any: whatever is compared
    """These parameters, asking for this state."""
    return (status if each is _ANY else each for each in given)


def _attention() -> State:
    return State(
        value="attention",
        label=gettext("need an operator"),
        tone="warn",
        icon="triangle",
        sentence=gettext("Stuck, stalled, parked, or with an effect in doubt."),
    )


def _chip(count: Count, query: QueryDict, state: State, name: str, value: str) -> Chip:
    is_on = query.get(name) == value
    other = "attention" if name == "status" else "status"
    return Chip(
        state=state if count.number else replace(state, tone="neutral"),
        count=count,
        label=_label(state, count),
        url=addresses.here(query, **{name: None if is_on else value, other: None}),
        on=is_on,
    )


def _label(state: State, count: Count) -> str:
    if state.value != "attention":
        return f"{count} {speech.inside(state.label)}"
    if count.number == 1:
        return gettext("1 needs an operator")
    return pgettext("runs", "%(count)s need an operator") % {"count": count}
