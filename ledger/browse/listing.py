"""Effects in pages by key, newest first, and how many there are. Bounded work, however many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.db.models import Count as Counted
from django.db.models import Q

from accounts.models import User
from ledger import status
from ledger.browse import search
from ledger.browse.filters import Filters
from ledger.browse.search import Breadth, Scope
from ledger.models import Effect, EffectAttempt, Incident
from ledger.status import Status
from runs import shown

MOST = 10_000
"""Nothing is counted further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a page ends: the last (or first) row that it shows."""

    created_at: datetime
    uid: UUID

    @classmethod
    def of(cls, effect: Effect) -> Place:
        return cls(created_at=effect.created_at, uid=effect.uid)


@dataclass(frozen=True, slots=True)
class Count:
    """How many, or how many at least."""

    number: int
    more: bool = False

    @classmethod
    def upto(cls, number: int) -> Count:
        """Of a number that was not counted beyond MOST."""
        return cls(min(number, MOST), number > MOST)

    def __bool__(self) -> bool:
        return self.number > 0

    def __str__(self) -> str:
        return f"{self.number:,}{'+' * self.more}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The effects that meet some filters and that somebody may see."""

    scope: Scope
    _newest: list[list[Effect]] = field(default_factory=list, init=False, compare=False)
    """Once it has been read."""

    @classmethod
    def of(cls, filters: Filters, user: User) -> Listing:
        return cls(scope=search.scope(filters, user))

    def in_state(self, state: str) -> Listing:
        """Those in this state; empty: all."""
        if not state:
            return self
        return Listing(scope=replace(self.scope, where=self.scope.where & Q(status=state)))

    def page(
        self, *, after: Place | None = None, before: Place | None = None, limit: int = 50
    ) -> list[Effect]:
        """Up to `limit`, newest first, each with its run.

        `after` is the last row of the page before, `before` the first row of the page after.
        """
        found = self.scope.likely().select_related("run")
        if before is not None:
            newer = found.filter(_newer(before)).order_by("created_at", "uid")
            return shown.first(newer, self.scope.shown, limit)[::-1]
        if after is not None:
            found = found.filter(_older(after))
        older = found.order_by("-created_at", "-uid")
        return shown.first(older, self.scope.shown, limit)

    def newest(self) -> list[Effect]:
        """The first page, and one more if there is more: read once, to be shown and counted."""
        if not self._newest:
            self._newest.append(self.page(limit=search.PAGE + 1))
        return self._newest[0]

    def newer_than(self, place: Place, *, most: int) -> int:
        """How many have come since, up to `most`. In order, so that no more is looked at."""
        newer = self.scope.effects().filter(_newer(place)).order_by("created_at", "uid")
        return newer[:most].count()

    def counts(self) -> dict[str, Count]:
        """How many there are in each state, at least; empty where counting would take long, of
        filters that many effects meet and that have no index in the order of the list, or would
        tell what is hidden."""
        if self.scope.breadth is Breadth.VEILED:
            return self._on_one_page()
        if self.scope.rare is not None:
            found = dict(self.scope.effects().values_list("status").annotate(Counted("pk")))
            return {state: Count(found.get(state, 0)) for state in status.Status.values}
        if self.scope.breadth is Breadth.EVERYTHING:
            return {state: self.in_state(state).count() for state in status.Status.values}
        return self._upto_most() if self.scope.breadth is Breadth.IN_ORDER else {}

    def count(self) -> Count:
        return Count.upto(self.scope.effects().values("pk")[: MOST + 1].count())

    def _on_one_page(self) -> dict[str, Count]:
        """Of what one page has room for; empty where there is more."""
        counted = Counter(each.status for each in self.newest())
        if counted.total() > search.PAGE:
            return {}
        return {state: Count(counted[state]) for state in status.Status.values}

    def _upto_most(self) -> dict[str, Count]:
        """Of the newest MOST; what is in doubt has an index of its own and is counted beyond."""
        newest = self.scope.effects().order_by("-created_at", "-uid").values_list("status")
        counted = Counter(state for (state,) in newest[: MOST + 1])
        more = counted.total() > MOST
        counts = {
            state: Count(counted[state], more and counted[state] > 0)
            for state in status.Status.values
        }
        return counts | {Status.IN_DOUBT: self.in_state(Status.IN_DOUBT).count()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlays:
    """What of some effects shows besides their state, each as the keys of those it is true of."""

    calling: frozenset[str]
    """A call is open."""
    unheard: frozenset[str]
    """Nobody knows how a call ended."""
    incident: frozenset[str]

    @classmethod
    def of(cls, effects: Iterable[Effect]) -> Overlays:
        """Two queries."""
        keys = [effect.pk for effect in effects]
        ends = (status.Outcome.OPEN, status.Outcome.UNKNOWN)
        calls = EffectAttempt.objects.filter(effect__in=keys, outcome__in=ends)
        ended = list(calls.values_list("effect_id", "outcome"))
        incidents = Incident.objects.filter(effect__in=keys).values_list("effect_id", flat=True)
        return cls(
            calling=frozenset(key for key, outcome in ended if outcome == status.Outcome.OPEN),
            unheard=frozenset(key for key, outcome in ended if outcome == status.Outcome.UNKNOWN),
            incident=frozenset(incidents),
        )


def total(counts: dict[str, Count]) -> Count:
    """Of all states together."""
    number = sum(count.number for count in counts.values())
    return Count(min(number, MOST), number > MOST or any(count.more for count in counts.values()))


def _older(place: Place) -> Q:
    # Written so that the first part is one range of the index.
    return Q(created_at__lte=place.created_at) & (
        Q(created_at__lt=place.created_at) | Q(uid__lt=place.uid)
    )


def _newer(place: Place) -> Q:
    return Q(created_at__gte=place.created_at) & (
        Q(created_at__gt=place.created_at) | Q(uid__gt=place.uid)
    )
