"""Round times along the chart: never close to each other, none in folds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from runs.timeline.scale import Scale, Stretch

MINUTE, HOUR = 60, 3600
BETWEEN = 10.5
"""Percent between two ticks, about the width of a long label on a desktop."""
SIGN = 0.9
"""Percent that a sign of a label takes there."""
BETWEEN_MAJOR = 27.0
"""The same on a phone, where only major ticks have a label."""
CLEAR, CLEAR_MAJOR = 5.5, 37.0
"""Between a tick and a fold, whose length is written above it: on a desktop, and on a phone."""
EDGE, EDGE_MAJOR = 2.0, 9.0
"""From either end: where a label must begin or end at its tick, and where a phone has no room for
one that has its tick in the middle."""
NARROWEST = 0.4
"""A stretch that is narrower has no ticks."""
LENGTHS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 2592000, 7776000),
)
"""Seconds between two ticks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    x: float
    after: timedelta
    """Since the start of the run."""
    label: str
    """As exact as it must be to differ from that of the next one."""
    major: bool

    @property
    def anchor(self) -> str:
        """Which part of its label stands at the tick."""
        if self.x < EDGE:
            return "start"
        return "end" if self.x > 100 - 2 * EDGE else "middle"


def make(scale: Scale, zero: datetime) -> list[Tick]:
    """Ticks that count from `zero`."""
    ticks: list[Tick] = []
    for x, after, step in _places(scale, (zero - scale.start).total_seconds()):
        words = label(after, step)
        if not _clear(scale, x, CLEAR) or (ticks and x - ticks[-1].x < _apart(ticks[-1], words)):
            continue
        last = max((tick.x for tick in ticks if tick.major), default=-BETWEEN_MAJOR)
        clear = CLEAR_MAJOR if x >= EDGE else CLEAR_MAJOR / 2  # there stands the short "0 s"
        major = x - last >= BETWEEN_MAJOR and _clear(scale, x, clear)
        tick = Tick(x=round(x, 2), after=after, label=words, major=major)
        ticks.append(tick if _has_room(tick) else replace(tick, major=False))
    return ticks


def _apart(last: Tick, words: str) -> float:
    """Percent from this tick to the next, so that neither label touches the other."""
    return max(BETWEEN * 0.75, (len(last.label) + len(words)) / 2 * SIGN)


def _has_room(tick: Tick) -> bool:
    return tick.anchor != "middle" or EDGE_MAJOR <= tick.x <= 100 - EDGE_MAJOR


def _places(scale: Scale, zero: float) -> Iterator[tuple[float, timedelta, float]]:
    """Where round times are, how long after `zero`, and how many seconds they are apart."""
    for stretch in scale.stretches:
        if not stretch.folded and stretch.width >= NARROWEST:
            step = _step(stretch)
            number = math.ceil(round((stretch.start - zero) / step, 6))
            while (at := number * step + zero) <= stretch.end:
                yield stretch.place(at), timedelta(seconds=number * step), step
                number += 1


def _step(stretch: Stretch) -> float:
    at_least = (stretch.end - stretch.start) / stretch.width * BETWEEN
    return next((step for step in LENGTHS if step >= at_least), LENGTHS[-1])


def _clear(scale: Scale, x: float, distance: float) -> bool:
    return all(
        not fold.folded or x < fold.x - distance or x > fold.x + fold.width + distance
        for fold in scale.stretches
    )


def label(after: timedelta, step: float) -> str:
    """ "0.5 s", "41 s", "2m 14.2s", "30m", "5h 03m", "5h 03m 10s", "2d", in the reader's words.

    Down to the unit of `step`.
    """
    decimals = next((places for places in range(4) if step >= 0.1**places * 0.999), 3)
    minutes, rest = divmod(round(after.total_seconds(), decimals), 60)
    if not minutes:
        return f"{number_format(f'{rest:.{decimals}f}')} s"
    hours, minutes = divmod(int(minutes), 60)
    days, hours = divmod(hours, 24)
    parts = [_("{d}d").format(d=days)] if days else []
    if hours or (days and step < HOUR):
        parts.append(_("{h}h").format(h=hours))
    if step < HOUR:
        parts.append(_("{m}m").format(m=f"{minutes:02}" if parts else minutes))
    if step < MINUTE:
        lead = "0" if rest < 10 else ""
        parts.append(_("{s}s").format(s=f"{lead}{number_format(f'{rest:.{decimals}f}')}"))
    return " ".join(parts)
