"""The chart of a timeline: pure numbers, drawn by templates/runs/_chart.html.

1. The first row is the lease: who held it when. Below it stands one row for each lane.
2. A row has bars where somebody drove, dashed boxes where the run waited in between. Rows of what
   layers above tell have the stages that these tell.
3. More than MOST_ROWS rows are grouped by their names; what is then too much is left out, and said.
4. Boxes of one tone that nobody could tell apart are one box, so that a drawing stays small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from runs.story import Stage
from runs.timeline import drives as driving
from runs.timeline import scale, ticks
from runs.timeline.drives import Drive
from runs.timeline.lanes import Lane
from runs.timeline.scale import Fold, Idle, Scale
from runs.timeline.ticks import Tick

NARROWEST = 0.35
"""Percent: what is shorter is drawn as wide."""
BLURRED = 0.25
"""Percent between two boxes that cannot be told apart."""
ROOM = 0.95
"""Percent that a character of small text takes on a desktop."""
MOST_ROWS = 48
DEEPEST = 4
TIMES = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A bar or a dashed box of a row, in percent."""

    x: float
    width: float
    tone: str
    label: str = ""
    short: str = ""
    """Written on it, if it is wide enough."""

    @property
    def middle(self) -> float:
        return round(self.x + self.width / 2, 2)

    @property
    def end(self) -> float:
        return self.x + self.width


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A diamond (a checkpoint), a dot (a decision) or a cross (a lost worker) of a row."""

    x: float
    tone: str = "neutral"
    label: str = ""


@dataclass(slots=True, kw_only=True)
class Row:
    """One line of the drawing."""

    label: str
    depth: int = 0
    kind: str = "step"
    """Or "lease", or the slug of the tab that knows more."""
    href: str = ""
    current: bool = False
    bars: list[Box] = field(default_factory=list)
    waits: list[Box] = field(default_factory=list)
    diamonds: list[Point] = field(default_factory=list)
    dots: list[Point] = field(default_factory=list)
    crosses: list[Point] = field(default_factory=list)
    worked: timedelta = timedelta(0)
    waited: timedelta = timedelta(0)

    @property
    def mostly_waited(self) -> bool:
        return self.kind != "lease" and self.waited > self.worked


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    rows: list[Row]
    ticks: list[Tick]
    folds: list[Fold]
    now: bool = False
    """Its right end is now, and the run goes on."""
    left_out: int = 0
    """Rows that are not drawn."""


def draw(  # noqa: PLR0913 (what is drawn, and from when to when)
    lanes: Sequence[Lane],
    drives: Sequence[Drive],
    *,
    start: datetime,
    end: datetime,
    zero: datetime | None = None,
    now: bool = False,
) -> Chart:
    """The chart from `start` to `end`; ticks count from `zero`, by default from `start`."""
    idle = driving.idle(drives, start, end)
    made = scale.make(idle, start, end)
    pen = _Pen(scale=made, drives=drives, idle=idle, start=start, end=end)
    rows = pen.rows(lanes)
    shown = rows[: MOST_ROWS - bool(drives)]
    return Chart(
        rows=[*pen.lease(), *shown],
        ticks=ticks.make(made, zero or start),
        folds=made.folds,
        now=now,
        left_out=len(rows) - len(shown),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pen:
    scale: Scale
    drives: Sequence[Drive]
    idle: Sequence[Idle]
    start: datetime
    end: datetime

    def lease(self) -> Iterator[Row]:
        """Who held the lease when; nothing of a run that nobody ever drove."""
        if not self.drives:
            return
        row = Row(label=_("Lease"), kind="lease")
        for stage in driving.held(self.drives, self.start, self.end):
            self._stage(row, stage)
        row.bars = [replace(bar, short=_fitting(bar)) for bar in row.bars]
        row.crosses += self._lost(self.start, self.end)
        yield _tidy(row)

    def rows(self, lanes: Iterable[Lane]) -> list[Row]:
        flat = list(_flat(lanes))
        grouped = len(flat) > MOST_ROWS
        rows: dict[object, Row] = {}
        count: dict[object, int] = {}
        for number, (path, lane) in enumerate(flat):
            key: object = path if grouped else number
            if key not in rows:
                rows[key] = self._new(lane, len(path) - 1)
            count[key] = count.get(key, 0) + 1
            self._fill(rows[key], lane, grouped=grouped)
        for key, row in rows.items():
            if count[key] > 1:
                row.label, row.href = f"{row.label} {TIMES}{count[key]}", ""
        return [_tidy(row) for row in rows.values()]

    def _new(self, lane: Lane, depth: int) -> Row:
        return Row(
            label=lane.label,
            depth=min(depth, DEEPEST),
            kind=lane.span.kind if lane.span else "step",
            href=lane.span.url if lane.span else f"#{lane.anchor}" * bool(lane.anchor),
        )

    def _fill(self, row: Row, lane: Lane, *, grouped: bool) -> None:
        row.current = row.current or lane.current
        if lane.span is not None:
            for stage in lane.span.stages:
                self._stage(row, stage)
            row.dots += [
                Point(x=self._x(mark.at), tone=mark.tone, label=mark.label)
                for mark in lane.span.marks
                if self.start <= mark.at <= self.end
            ]
            return
        self._work(row, lane)
        row.crosses += self._lost(lane.start, lane.end)
        if lane.saved and not grouped:  # among bars of several steps, diamonds would hide them
            row.diamonds.append(Point(x=self._x(lane.end)))

    def _work(self, row: Row, lane: Lane) -> None:
        for drive in self.drives:
            begin, until = max(drive.start, lane.start), min(drive.end, lane.end)
            if begin > until or (begin == until and lane.end > lane.start):
                continue
            unfinished = drive.end < lane.end or not lane.saved
            tone = drive.tone if drive.tone and unfinished else lane.tone
            row.bars.append(self._box(begin, until, tone))
            row.worked += until - begin
        for gap in self.idle:
            begin, until = max(gap.start, lane.start), min(gap.end, lane.end)
            if begin < until:
                row.waits.append(self._box(begin, until, gap.tone, gap.why))
                row.waited += until - begin

    def _stage(self, row: Row, stage: Stage) -> None:
        begin, until = max(stage.start, self.start), min(stage.end or self.end, self.end)
        if begin > until:
            return
        box = self._box(begin, until, stage.tone, stage.label)
        if stage.idle:
            row.waits.append(box)
            row.waited += until - begin
        else:
            row.bars.append(box)
            row.worked += until - begin

    def _lost(self, start: datetime, end: datetime) -> list[Point]:
        """Where a worker gave its last sign."""
        return [
            Point(x=self._x(drive.end), tone="warn", label=_("worker lost"))
            for drive in self.drives
            if drive.lost and start <= drive.end < end
        ]

    def _x(self, at: datetime) -> float:
        return round(self.scale.x(at), 2)

    def _box(self, begin: datetime, until: datetime, tone: str, label: str = "") -> Box:
        """Never narrower than can be seen, and never beyond the right edge."""
        left, right = self.scale.x(begin), self.scale.x(until)
        width = max(right - left, NARROWEST)
        left = min(left, scale.WIDTH - width)
        return Box(x=round(left, 2), width=round(width, 2), tone=tone, label=label)


def _flat(
    lanes: Iterable[Lane], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Lane]]:
    """Every lane with its path of names from the top."""
    for lane in lanes:
        path = (*above, lane.label)
        yield path, lane
        yield from _flat(lane.below, path)


def _fitting(bar: Box) -> str:
    """As much of a holding's fence and worker as its bar has room for."""
    fence_and_worker = bar.label.rpartition(": ")[0]
    return fence_and_worker if bar.width > len(fence_and_worker) * ROOM else ""


def _tidy(row: Row) -> Row:
    row.bars, row.waits = list(_merged(row.bars)), list(_merged(row.waits))
    return row


def _merged(boxes: Sequence[Box]) -> Iterator[Box]:
    last: Box | None = None
    for box in sorted(boxes, key=lambda each: each.x):
        if last and box.tone == last.tone and _blurred(last, box):
            end = max(last.end, box.end)
            same = last.label == box.label
            last = Box(
                x=last.x,
                width=round(end - last.x, 2),
                tone=box.tone,
                label=last.label if same else "",
            )
            continue
        if last:
            yield last
        last = box
    if last:
        yield last


def _blurred(one: Box, other: Box) -> bool:
    """Whether there is no gap to be seen, and one of them hardly is."""
    tiny = min(one.width, other.width) <= NARROWEST
    return other.x - one.end < (BLURRED if tiny else -BLURRED)
