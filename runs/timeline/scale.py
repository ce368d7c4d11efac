"""Where a moment is drawn: time runs from 0 to 100, the percentages of the chart's width.

Idle time (nobody drives) that would take more than a quarter of the width is folded to a fixed
width, so that work stays visible; a fold says how long it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

WIDTH = 100.0
FOLD = 8.0
"""Width of folded time."""
FOLDED_ABOVE = 0.25
"""Share of the unfolded width above which idle time is folded."""
MOST_FOLDS = 6
APART, APART_MAJOR = 22.0, 45.0
"""Percent between two folds of which both say how long they were: on a desktop, and on a phone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """A time in which nobody drove, and why."""

    start: datetime
    end: datetime
    tone: str
    why: str

    @property
    def length(self) -> timedelta:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of time, in seconds since the start of the chart, and where it is drawn."""

    start: float
    end: float
    x: float
    width: float
    folded: bool

    def place(self, at: float) -> float:
        share = (at - self.start) / (self.end - self.start) if self.end > self.start else 0.0
        return self.x + self.width * min(max(share, 0.0), 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    x: float
    width: float
    length: timedelta
    """How much time is folded here."""
    named: bool = True
    """There is room to say so."""
    major: bool = True
    """Also on a phone."""

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 2)

    @property
    def end(self) -> float:
        return round(self.x + self.width, 2)


@dataclass(frozen=True, slots=True)
class Scale:
    start: datetime
    stretches: tuple[Stretch, ...]

    def x(self, at: datetime) -> float:
        """Moments outside of the chart are drawn at its edge."""
        seconds = (at - self.start).total_seconds()
        for stretch in self.stretches:
            if seconds <= stretch.end:
                return stretch.place(seconds)
        last = self.stretches[-1]
        return last.x + last.width

    @property
    def folds(self) -> list[Fold]:
        found = [
            Fold(
                x=round(each.x, 2),
                width=each.width,
                length=timedelta(seconds=each.end - each.start),
            )
            for each in self.stretches
            if each.folded
        ]
        return [
            replace(each, named=_room(each, found, APART), major=_room(each, found, APART_MAJOR))
            for each in found
        ]


def _room(fold: Fold, folds: Sequence[Fold], apart: float) -> bool:
    """Whether no longer fold is as close as that."""
    longer = (each for each in folds if (each.length, -each.x) > (fold.length, -fold.x))
    return all(abs(each.x - fold.x) >= apart for each in longer)


def make(idle: Sequence[Idle], start: datetime, end: datetime) -> Scale:
    """The scale from `start` to `end`, with long ones of these idle times folded."""
    gaps = [
        ((each.start - start).total_seconds(), (each.end - start).total_seconds()) for each in idle
    ]
    total = max((end - start).total_seconds(), 0.001)
    folded = _folded(gaps, total)
    shown = total - sum(b - a for a, b in folded)
    per_second = (WIDTH - FOLD * len(folded)) / shown
    return Scale(start, tuple(_stretches(sorted(folded), total, per_second)))


def _folded(gaps: Sequence[tuple[float, float]], total: float) -> set[tuple[float, float]]:
    """Folding one gap widens the others, so this looks again until nothing changes."""
    folded: set[tuple[float, float]] = set()
    if total <= sum(b - a for a, b in gaps):
        return folded  # nobody ever drove: there is nothing to make room for
    while True:
        shown = total - sum(b - a for a, b in folded)
        wide = {(a, b) for a, b in gaps if b - a > FOLDED_ABOVE * shown} - folded
        if not wide or len(folded) + len(wide) > MOST_FOLDS:
            return folded
        folded |= wide


def _stretches(
    folded: Sequence[tuple[float, float]], total: float, per_second: float
) -> Iterable[Stretch]:
    at, x = 0.0, 0.0
    for start, end in folded:
        if start > at:
            width = (start - at) * per_second
            yield Stretch(at, start, x, width, folded=False)
            x += width
        yield Stretch(start, end, x, FOLD, folded=True)
        at, x = end, x + FOLD
    if total > at or not folded:
        yield Stretch(at, total, x, (total - at) * per_second, folded=False)
