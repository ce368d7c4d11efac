"""Which runs meet the filters, asked so that the database answers from the right index.

The planner cannot know how many runs meet a search, and guesses. Where it guesses wrong it walks
down a hundred thousand runs for three. So each part of a search is asked by itself first, for at
most MOST ids. Those of the rarest are looked up, and whatever else is asked for is checked there.
If none is rare, walking down the list finds a page soon.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.lookups import Overlap
from django.contrib.postgres.search import SearchQuery
from django.db.models import Model, Q, QuerySet, TextField, Value

from accounts.models import User
from audit.models import ClockTimestamp
from runs import planner, ports, queries, shown, standing, visible, web
from runs.listing.filters import Filters
from runs.listing.search import LIKE_AN_ID, Leaf, Search
from runs.models import Run, RunSought

MOST = 5_000
"""Runs that a part of a search may have to count as rare."""
FEW = 2_500
"""Runs that somebody may see who may see few: they are looked up."""
Ids = QuerySet[Model, UUID]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a run stands in every list."""

    created_at: datetime
    run_id: UUID

    @classmethod
    def of(cls, run: Run) -> Place:
        return cls(created_at=run.created_at, run_id=run.pk)

    @classmethod
    def read(cls, text: str) -> Place | None:
        """What an address says; None if it is nothing of the kind."""
        moment, _, identity = text.partition("~")
        at = web.moment(moment)
        try:
            return cls(created_at=at, run_id=UUID(identity)) if at else None
        except ValueError:
            return None

    def __str__(self) -> str:
        return f"{self.created_at.isoformat()}~{self.run_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The runs that the filters ask for, of those that one person may see."""

    where: Q
    shown: Q
    """What is asked besides, so that nothing hidden is told: dear to find out."""
    seen: QuerySet[Run]
    rare: planner.Ids | None = None
    """The only runs that come into question; None: any."""
    _newest: list[list[Run]] = field(default_factory=list, init=False, compare=False)
    """Once it has been read."""

    def runs(self) -> QuerySet[Run]:
        return self.likely().filter(self.shown)

    def likely(self) -> QuerySet[Run]:
        """Not asked yet whether they are shown."""
        found = self.seen.filter(self.where)
        return found if self.rare is None else found.filter(planner.among("id", self.rare))

    def only(self, where: Q) -> Scope:
        return replace(self, where=self.where & where) if where else self

    def among(self, found: Sequence[Run]) -> Scope:
        """Those of these runs, which are known to be shown."""
        these = planner.Ids.of(run.pk for run in found)
        return replace(self, shown=Q(), rare=these)

    def page(
        self, *, after: Place | None = None, before: Place | None = None, limit: int
    ) -> list[Run]:
        """Up to `limit`, newest first, each with its lease; after or before a place in the list."""
        found = self.likely().select_related("lease", "started_by")
        if before is not None:
            newer = found.filter(_newer(before)).order_by("created_at", "id")
            return shown.first(newer, self.shown, limit)[::-1]
        if after is not None:
            found = found.filter(_older(after))
        return shown.first(found.order_by("-created_at", "-id"), self.shown, limit)

    def newest(self) -> list[Run]:
        """The first page, and one more if there is more: read once, to be shown and counted."""
        if not self._newest:
            self._newest.append(self.page(limit=queries.PAGE + 1))
        return self._newest[0]

    def fitting(self, ids: Collection[UUID]) -> set[UUID]:
        """Those of these runs that meet the filters now."""
        return set(self.runs().filter(pk__in=ids).values_list("pk", flat=True))

    def others(self, than: Sequence[Run], *, down_to: Place | None, most: int) -> int:
        """How many there are besides these, not older than `down_to`; up to `most`."""
        found = self.runs()
        if down_to is not None:
            found = found.filter(_newer(down_to))
        return found.exclude(pk__in=[run.pk for run in than])[:most].count()


def of(filters: Filters, user: User) -> Scope:
    """Whatever their status, where that is asked for: see `in_state`. One query for each part of
    the search."""
    sides = list(_sides(filters.search))
    where = _plain(filters)
    for side in sides:
        where &= side.where
    looked = (*(side.look() for side in sides), visible.few(user, FEW))
    rare = (found for found in looked if found is not None)
    return Scope(
        where=where,
        shown=_shown(filters.search.leaves, user),
        seen=visible.to(user),
        rare=min(rare, key=lambda found: found.number, default=None),
    )


def in_state(filters: Filters) -> Q:
    """What the filters ask of a run's present state."""
    where = queries.attention() if filters.attention else Q()
    if filters.status == "stuck":
        return where & standing.stuck()
    if filters.status == "stalled":
        return where & standing.stalled()
    if filters.status == standing.DRIVEN:
        return where & standing.driven()
    return where & Q(status=filters.status) if filters.status else where


def matching(filters: Filters, user: User) -> QuerySet[Run]:
    """The runs that meet all filters, of those that this person may see."""
    return of(filters, user).only(in_state(filters)).runs()


def field_exists(path: str) -> bool:
    """Whether the input of some run has such a field."""
    return RunSought.objects.filter(leaves__contains=[f"{path}="]).exists()


def _plain(filters: Filters) -> Q:
    """Filters that have an index in the order of the list, or narrow one that has."""
    named = filters.search.named
    asked: dict[str, object] = {
        "agent": filters.agent,
        "agent_version": filters.version,
        "started_by": filters.owner,
        "error_class": filters.error,
        "created_at__gte": filters.started_from,
        "created_at__lt": filters.started_until,
        "ended_at__gte": filters.ended_from,
        "ended_at__lt": filters.ended_until,
    }
    where = Q(**{name: value for name, value in asked.items() if value})
    columns = {"agent": "agent", "version": "agent_version", "error": "error_class"}
    where &= Q(**{columns[name]: value for name, value in named.items() if name in columns})
    if filters.since:
        where &= Q(created_at__gte=ClockTimestamp() - filters.since)
    return where


# --- the parts of a search ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One part of a search."""

    where: Q
    """What it asks of a run."""
    ids: tuple[Ids, ...]
    """The same as ids of runs: all that one of these queries finds, each from an index."""

    def look(self) -> planner.Ids | None:
        """The ids; None if there are more than MOST."""
        return planner.Ids.found(self.ids, most=MOST)


def _sides(search: Search) -> Iterator[_Side]:
    if search.text:
        yield _text(search)
    for leaf in search.leaves:
        yield _sought(_holds(leaf))
    if "key" in search.named:
        yield _sought(_key(search.named["key"]))
    if "id" in search.named:
        yield _any(*_id(search.named["id"]))


def _shown(leaves: Sequence[Leaf], user: User) -> Q:
    """Every run is found by what its pages show to who searches: else the list would tell it."""
    where = Q()
    if leaves and not user.has_perm(web.REVEAL):
        found = shown.leaves("input", ports.masks().cloaked(user)("id", "agent"))
        for leaf in leaves:
            spellings = Value(leaf.spellings, ArrayField(TextField()))
            where &= Q(Overlap(found, spellings))
    return where


def _text(search: Search) -> _Side:
    parts = [_key(search.text)]
    if search.words:
        parts.append(_titled(search.words))
    sought = _sought(*parts)
    if not LIKE_AN_ID.fullmatch(search.text):
        return sought
    by_id = _any(*_id(search.text))
    return _Side(where=sought.where | by_id.where, ids=(*sought.ids, *by_id.ids))


def _titled(words: Sequence[str]) -> Q:
    begun = " & ".join(f"'{word}':*" for word in words)
    return Q(words=SearchQuery(begun, config="pg_catalog.simple", search_type="raw"))


def _holds(leaf: Leaf) -> Q:
    return Q(leaves__overlap=leaf.spellings)


def _key(text: str) -> Q:
    """The second part says what the index is told by: without it, PostgreSQL does not use it."""
    return Q(key=text) & ~Q(key="")


def _id(text: str) -> tuple[Q, Q]:
    """Of a run and of what is known of it: what has this id, or one with this beginning or end."""
    digits = text.replace("-", "").lower()
    if not digits or len(digits) > 32:
        return Q(pk__in=()), Q(pk__in=())
    first, last = UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
    return Q(pk__range=(first, last)), Q(tail__startswith=digits[::-1])


def _sought(*parts: Q) -> _Side:
    where = Q()
    for part in parts:
        where |= part
    known = planner.beside(RunSought.objects.filter(where), run="pk")
    ids = (RunSought.objects.filter(part).values_list("run_id", flat=True) for part in parts)
    return _Side(where=Q(known), ids=tuple(ids))


def _any(run: Q, known: Q) -> _Side:
    sought = _sought(known)
    return _Side(
        where=run | sought.where,
        ids=(Run.objects.filter(run).values_list("pk", flat=True), *sought.ids),
    )


# --- places in the list ---------------------------------------------------------------------------


def _older(place: Place) -> Q:
    # Written so that the first part is one range of the index.
    return Q(created_at__lte=place.created_at) & (
        Q(created_at__lt=place.created_at) | Q(id__lt=place.run_id)
    )


def _newer(place: Place) -> Q:
    return Q(created_at__gte=place.created_at) & (
        Q(created_at__gt=place.created_at) | Q(id__gt=place.run_id)
    )
