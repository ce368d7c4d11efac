"""Which effects meet the filters, asked so that the database answers from the right index.

The planner cannot know how many effects meet a search, and guesses. Where it guesses wrong it walks
down a million effects for three. So each filter that may be rare is asked by itself first, for at
most MOST ids. Those of the rarest are looked up, and whatever else is asked for is checked there.
If none is rare, walking down the list finds a page soon.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from django.db.models import Q, QuerySet

from accounts.models import User
from ledger.browse import sides, words
from ledger.browse.filters import Filters
from ledger.browse.sides import Side
from ledger.models import Effect
from runs import planner, visible
from runs.models import Run

MOST = 5_000
"""Effects that a filter may have to count as rare."""
FEW = 2_500
"""Runs that somebody may see who may see few: effects are compared with their ids."""
FEWER = 500
"""Runs that somebody may see whose effects are looked up."""
PAGE = 50
"""Effects on a page, as a rule."""


class Breadth(Enum):
    """What else is asked for, where nothing rare is."""

    EVERYTHING = auto()
    """Nothing."""
    IN_ORDER = auto()
    """Only what has an index in the order of the list."""
    MIXED = auto()
    VEILED = auto()
    """Values that may be hidden from the reader: how many effects hide them must not be told by
    what is counted, and what is not; and it is dear to find out of many that they show them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What the filters ask for, as it has been found to be asked best."""

    where: Q
    shown: Q
    """What is asked besides, so that nothing hidden is told: dear to find out."""
    rare: planner.Ids | None = None
    """The only effects that come into question; None: any."""
    breadth: Breadth

    def effects(self) -> QuerySet[Effect]:
        return self.likely().filter(self.shown)

    def likely(self) -> QuerySet[Effect]:
        """Not asked yet whether they are shown."""
        found = Effect.objects.filter(self.where)
        return found if self.rare is None else found.filter(planner.among("uid", self.rare))


def scope(filters: Filters, user: User) -> Scope:
    """Of the effects that this person may see. A constant number of queries."""
    few = visible.few(user, FEW)
    seen = visible.within(user, "run") if few is None else planner.within("run_id", few)
    asked = [*sides.of(filters, user), *_readers(few)]
    plain = sides.plain(filters)
    looked = [(side, found) for side in asked if (found := _look(side)) is not None]
    rarest, rare = min(looked, key=lambda each: each[1].number, default=(None, None))
    if few and rare is None and _is_shorter(few, asked):
        seen = planner.among("run_id", few)
    where = plain & seen
    for side in asked:
        if side is not rarest or not side.exact:
            where &= side.where
    shown = Q()
    for side in asked:
        shown &= side.shown
    breadth = Breadth.IN_ORDER if plain else Breadth.EVERYTHING
    if asked or seen:
        breadth = Breadth.MIXED
    if shown:
        breadth = Breadth.VEILED
    return Scope(where=where, shown=shown, rare=rare, breadth=breadth)


def _look(side: Side) -> planner.Ids | None:
    """Its ids; None if there are more than MOST."""
    return None if side.expected > words.COMMON else planner.Ids.found(side.ids, most=MOST)


def _is_shorter(few: planner.Ids, asked: list[Side]) -> bool:
    """Whether looking up all effects of these runs is expected to take less than walking down the
    list until a page of those that meet all sides is full."""
    if not asked:
        return False
    met = min(
        side.expected or planner.expected(Effect.objects.filter(side.where)) for side in asked
    )
    # With n of R runs, the effects of one run are looked up n times, and one in R / n that is
    # walked past is of these runs. The number of all effects is in both. To look one up takes about
    # three times as long as to walk past one.
    return 3 * few.number**2 * met < PAGE * planner.expected(Run.objects.all()) ** 2


def _readers(few: planner.Ids | None) -> Iterator[Side]:
    """What somebody may see who may see these runs alone."""
    if few is not None and few.number <= FEWER:
        yield sides.exactly(planner.among("run_id", few))
