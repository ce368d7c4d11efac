"""How runs ended in the last 24 hours: one bar per hour, as numbers that a template draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.db.models import Count, QuerySet
from django.db.models.functions import TruncHour
from django.utils import timezone

from runs.models import Run
from runs.status import STATES, State, Status

HOURS = 24
WIDTH, HEIGHT = 1200.0, 100.0
BASE = 99.0
"""Where bars stand; above is room for the busiest hour."""
GAP = 8.0
LOWEST = 2.0
"""Height of the smallest bar that is not empty."""
ORDER = (Status.FAILED, Status.CANCELLED, Status.SUCCEEDED)
"""From the bottom up: what went wrong stands on the base line, where heights can be compared."""
LABELLED = (0, 6, 12, 18, 23)
"""Bars whose hour is written below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    state: State
    count: int
    y: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One hour."""

    hour: datetime
    x: float
    width: float
    blocks: tuple[Block, ...]
    counts: tuple[int, ...]
    """In the order of `Chart.states`."""
    labelled: bool

    @property
    def total(self) -> int:
        return sum(self.counts)

    @property
    def query(self) -> str:
        """What the list of runs is asked for to show these."""
        until = timezone.localtime(self.hour + timedelta(hours=1), self.hour.tzinfo)
        return urlencode({"ended_from": _written(self.hour), "ended_until": _written(until)})


def _written(hour: datetime) -> str:
    """As the list's form has it; with its offset where clocks are put back and show it twice."""
    twice = hour.replace(fold=0).utcoffset() != hour.replace(fold=1).utcoffset()
    return hour.isoformat(timespec="minutes") if twice else f"{hour:%Y-%m-%dT%H:%M}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    bars: tuple[Bar, ...]
    states: tuple[State, ...]
    totals: tuple[int, ...]
    most: int
    """Runs in the busiest hour."""

    width: float = WIDTH
    height: float = HEIGHT
    base: float = BASE

    @property
    def total(self) -> int:
        return sum(self.totals)


def last_day(now: datetime, runs: QuerySet[Run]) -> Chart:
    """Those of `runs` that ended in this hour or in the 23 before it, by the reader's clock."""
    this_hour = timezone.localtime(now).replace(minute=0, second=0, microsecond=0)
    hours = [this_hour - timedelta(hours=back) for back in reversed(range(HOURS))]
    found = (
        runs.filter(ended_at__gte=hours[0])
        .annotate(hour=TruncHour("ended_at"))
        .values_list("hour", "status")
        .annotate(Count("pk"))
    )
    return draw({(hour.timestamp(), status): count for hour, status, count in found}, hours)


def draw(counts: Mapping[tuple[float, str], int], hours: list[datetime]) -> Chart:
    """`counts` by (hour as a timestamp, status). Two hours of the same clock time stay two bars."""
    table = [[counts.get((hour.timestamp(), status), 0) for status in ORDER] for hour in hours]
    most = max((sum(row) for row in table), default=0)
    step = WIDTH / max(len(hours), 1)
    bars = []
    for number, (hour, row) in enumerate(zip(hours, table, strict=True)):
        bars.append(
            Bar(
                hour=hour,
                x=round(number * step + GAP / 2, 1),
                width=round(step - GAP, 1),
                blocks=_blocks(row, most),
                counts=tuple(row),
                labelled=number in LABELLED,
            )
        )
    return Chart(
        bars=tuple(bars),
        states=tuple(STATES[status] for status in ORDER),
        totals=tuple(sum(row[place] for row in table) for place in range(len(ORDER))),
        most=most,
    )


def _blocks(row: list[int], most: int) -> tuple[Block, ...]:
    blocks, y = [], BASE
    for status, count in zip(ORDER, row, strict=True):
        if count:
            height = max(round(BASE * count / most, 1), LOWEST)
            y = round(y - height, 1)
            blocks.append(Block(state=STATES[status], count=count, y=y, height=height))
    return tuple(blocks)
