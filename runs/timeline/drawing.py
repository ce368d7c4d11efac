"""The geometry of a run's timeline: pure numbers, drawn by templates/runs/_timeline.svg.

1. Time runs from left to right. Idle time (nobody drives) that would take more than a quarter of
   the width is folded to a fixed width, so that work stays visible; a fold says how long it was.
2. Each lane is one step: bars where somebody drove, dashed boxes where the run waited in between.
3. Nothing is narrower than 3 px. More than MOST_LANES lanes are grouped by name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

WIDTH, LEFT, RIGHT = 1160.0, 190.0, 1050.0
"""Of the drawing, of the plot's left edge, of its right edge; lengths are written right of bars."""
TOP, ROW, BAR = 28.0, 28.0, 14.0
FOLD = 76.0
"""Width of folded time."""
FOLDED_ABOVE = 0.25
"""Share of the unfolded width above which idle time is folded."""
MOST_FOLDS = 6
NARROWEST = 3.0
BETWEEN_TICKS = 90.0
CLEAR = 30.0
"""Between a tick and a fold, whose length is written above it."""
MOST_LANES = 40
TIMES = "\N{MULTIPLICATION SIGN}"
STEPS = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 2592000, 7776000),
)
"""Seconds between two ticks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A time in which somebody drove the run, and what the time after it is."""

    start: datetime
    end: datetime
    tone: str = ""
    """Of work that this drive began and did not complete; empty: the lane's."""
    rest: str = "neutral"
    """Tone of the idle time that follows."""
    why: str = ""
    """What the idle time that follows is."""
    lost: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One step of the run, from the checkpoint before it to the one after it."""

    label: str
    start: datetime
    end: datetime
    tone: str = "ok"
    anchor: str = ""
    """Id of the event in the table that tells the same."""
    saved: bool = True
    """It ended with a checkpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something at one moment."""

    at: datetime
    tone: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A bar or a dashed box of a row."""

    x: float
    width: float
    tone: str
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A diamond, a dot or a cross of a row."""

    x: float
    tone: str = "neutral"
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    x: float
    after: timedelta
    """Since the start of the run."""
    label: str
    """As exact as it must be to differ from that of the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    x: float
    width: float
    length: timedelta
    """How much time is folded here."""

    @property
    def half(self) -> float:
        return self.width / 2


@dataclass(slots=True, kw_only=True)
class Row:
    """One line of the drawing."""

    label: str
    y: float
    tone: str
    anchor: str = ""
    bars: list[Box] = field(default_factory=list)
    waits: list[Box] = field(default_factory=list)
    diamonds: list[Point] = field(default_factory=list)
    dots: list[Point] = field(default_factory=list)
    crosses: list[Point] = field(default_factory=list)
    worked: timedelta = timedelta(0)
    waited: timedelta = timedelta(0)

    @property
    def mostly_waited(self) -> bool:
        return self.waited > self.worked

    @property
    def end_x(self) -> float:
        """Right of everything that is drawn."""
        boxes = [box.x + box.width for box in (*self.bars, *self.waits)]
        return max(boxes, default=LEFT) + (12 if self.diamonds else 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    rows: list[Row]
    ticks: list[Tick]
    folds: list[Fold]

    width: float = WIDTH
    left: float = LEFT
    right: float = RIGHT
    top: float = TOP
    bar: float = BAR

    @property
    def height(self) -> float:
        return TOP + ROW * len(self.rows) + 6


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A piece of time, in seconds since the start of the chart, and where it is drawn."""

    start: float
    end: float
    x: float
    width: float
    folded: bool

    def place(self, at: float) -> float:
        share = (at - self.start) / (self.end - self.start) if self.end > self.start else 0.0
        return self.x + self.width * min(max(share, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class _Idle:
    start: float
    end: float
    tone: str
    why: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a moment is drawn."""

    start: datetime
    stretches: tuple[_Stretch, ...]

    def x(self, at: datetime) -> float:
        """Moments outside of the chart are drawn at its edge."""
        seconds = (at - self.start).total_seconds()
        for stretch in self.stretches:
            if seconds <= stretch.end:
                return stretch.place(seconds)
        last = self.stretches[-1]
        return last.x + last.width


def draw(  # noqa: PLR0913 (what is drawn, and from when to when)
    lanes: Sequence[Lane],
    drives: Sequence[Drive],
    marks: Iterable[Mark] = (),
    *,
    start: datetime,
    end: datetime,
    zero: datetime | None = None,
) -> Chart:
    """The chart from `start` to `end`; ticks count from `zero`, by default from `start`."""
    idle = _idle(drives, start, end)
    scale = _scale(idle, start, end)
    rows, placed = _rows(lanes)
    for lane, row in placed:
        _fill(row, lane, drives, idle, scale)
    if len(rows) < len(lanes):
        for row in rows:  # bars of several steps: diamonds would hide them
            row.diamonds.clear()
    for mark in marks:
        _put(placed, mark, scale)
    return Chart(
        rows=rows,
        ticks=_ticks(scale, ((zero or start) - start).total_seconds()),
        folds=[
            Fold(x=round(s.x, 1), width=s.width, length=timedelta(seconds=s.end - s.start))
            for s in scale.stretches
            if s.folded
        ],
    )


def _idle(drives: Sequence[Drive], start: datetime, end: datetime) -> list[_Idle]:
    """The times between `start` and `end` in which nobody drove."""
    found, at, tone, why = [], start, "neutral", "waits for a worker"
    for drive in sorted(drives, key=lambda each: each.start):
        if drive.start > at:
            found.append((at, min(drive.start, end), tone, why))
        at = max(at, drive.end)
        tone, why = drive.rest, drive.why
    if at < end:
        found.append((at, end, tone, why))
    return [
        _Idle((a - start).total_seconds(), (b - start).total_seconds(), tone, why)
        for a, b, tone, why in found
        if a < b
    ]


def _scale(idle: Sequence[_Idle], start: datetime, end: datetime) -> Scale:
    total = max((end - start).total_seconds(), 0.001)
    worked = total - sum(gap.end - gap.start for gap in idle)
    folded: set[_Idle] = set()
    while worked > 0:  # folding one stretch widens the others, so look again until nothing changes
        shown = total - sum(gap.end - gap.start for gap in folded)
        wide = [
            gap for gap in idle if gap not in folded and gap.end - gap.start > FOLDED_ABOVE * shown
        ]
        if not wide or len(folded) + len(wide) > MOST_FOLDS:
            break
        folded.update(wide)
    shown = total - sum(gap.end - gap.start for gap in folded)
    per_second = (RIGHT - LEFT - FOLD * len(folded)) / shown
    in_order = sorted(folded, key=lambda gap: gap.start)
    return Scale(start, tuple(_stretches(in_order, total, per_second)))


def _stretches(folded: Sequence[_Idle], total: float, per_second: float) -> Iterable[_Stretch]:
    at, x = 0.0, LEFT
    for gap in folded:
        if gap.start > at:
            width = (gap.start - at) * per_second
            yield _Stretch(at, gap.start, x, width, folded=False)
            x += width
        yield _Stretch(gap.start, gap.end, x, FOLD, folded=True)
        at, x = gap.end, x + FOLD
    if total > at or not folded:
        yield _Stretch(at, total, x, (total - at) * per_second, folded=False)


def _rows(lanes: Sequence[Lane]) -> tuple[list[Row], list[tuple[Lane, Row]]]:
    """The rows, and each lane with its row: one each, or one for all of the same name."""
    grouped = len(lanes) > MOST_LANES
    count = Counter(lane.label for lane in lanes)
    rows: dict[object, Row] = {}
    placed = []
    for number, lane in enumerate(lanes):
        key = lane.label if grouped else number
        if key not in rows:
            times = f" {TIMES}{count[lane.label]}" if grouped and count[lane.label] > 1 else ""
            rows[key] = Row(
                label=lane.label + times,
                y=TOP + ROW * len(rows),
                tone=lane.tone,
                anchor=lane.anchor,
            )
        placed.append((lane, rows[key]))
    return list(rows.values()), placed


def _fill(
    row: Row, lane: Lane, drives: Sequence[Drive], idle: Sequence[_Idle], scale: Scale
) -> None:
    for drive in drives:
        begin, until = max(drive.start, lane.start), min(drive.end, lane.end)
        if begin > until or (begin == until and lane.end > lane.start):
            continue
        unfinished = drive.end < lane.end or not lane.saved
        tone = drive.tone if drive.tone and unfinished else lane.tone
        row.bars.append(_box(scale.x(begin), scale.x(until), tone))
        row.worked += until - begin
    for gap in idle:
        begin = max(scale.start + timedelta(seconds=gap.start), lane.start)
        until = min(scale.start + timedelta(seconds=gap.end), lane.end)
        if begin < until:
            row.waits.append(_box(scale.x(begin), scale.x(until), gap.tone, gap.why))
            row.waited += until - begin
    row.crosses += [
        Point(x=scale.x(drive.end), tone="warn", label="worker lost")
        for drive in drives
        if drive.lost and lane.start <= drive.end < lane.end
    ]
    if lane.saved:
        row.diamonds.append(Point(x=scale.x(lane.end)))


def _box(start: float, end: float, tone: str, label: str = "") -> Box:
    return Box(
        x=round(start, 1), width=round(max(end - start, NARROWEST), 1), tone=tone, label=label
    )


def _put(rows: Sequence[tuple[Lane, Row]], mark: Mark, scale: Scale) -> None:
    """Onto the last lane that was under way at that moment."""
    for lane, row in reversed(rows):
        if lane.start <= mark.at <= lane.end:
            row.dots.append(Point(x=scale.x(mark.at), tone=mark.tone, label=mark.label))
            return


def _ticks(scale: Scale, zero: float) -> list[Tick]:
    """Round times, never closer than BETWEEN_TICKS, none in folds; `zero` counts from the start."""
    ticks: list[Tick] = []
    for stretch in scale.stretches:
        length = stretch.end - stretch.start
        if stretch.folded or stretch.width < NARROWEST or length <= 0:
            continue
        step = _step(length / stretch.width * BETWEEN_TICKS)
        number = math.ceil(round((stretch.start - zero) / step, 6))
        while (at := number * step + zero) <= stretch.end:
            x = stretch.place(at)
            clear = all(
                not f.folded or x < f.x - CLEAR or x > f.x + f.width + CLEAR
                for f in scale.stretches
            )
            if clear and (not ticks or x - ticks[-1].x >= BETWEEN_TICKS * 0.75):
                after = timedelta(seconds=number * step)
                ticks.append(Tick(x=round(x, 1), after=after, label=_label(after, step)))
            number += 1
    return ticks


def _label(after: timedelta, step: float) -> str:
    """ "0.5 s", "41 s", "2m 14.2s", "5h 03m", "5h 03m 10s": down to the unit of `step`."""
    decimals = next((places for places in range(4) if step >= 0.1**places * 0.999), 3)
    seconds = after.total_seconds()
    minutes, rest = divmod(round(seconds, decimals), 60)
    if not minutes:
        return f"{rest:.{decimals}f} s"
    width = decimals + 3 if decimals else 2
    exact = f" {rest:0{width}.{decimals}f}s"
    hours, minutes = divmod(int(minutes), 60)
    if not hours:
        return f"{minutes}m{exact}"
    days, hours = divmod(hours, 24)
    parts = [f"{days}d"] * bool(days) + [f"{hours}h"] + [f"{minutes:02}m"] * (step < 3600)
    return " ".join(parts) + exact * (step < 60)


def _step(at_least: float) -> float:
    return next((step for step in STEPS if step >= at_least), STEPS[-1])
