"""What a page draws of a graph: placed nodes in the colours of one run, and the same as a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runs.models import Run
from runs.picture import kept, layout, standing
from runs.picture.kept import Kept
from runs.picture.layout import Placed
from runs.picture.shape import END, START, Shape
from runs.picture.standing import Path
from runs.status import State

MOST_NODES = 60
"""A larger graph is only listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    name: str
    shown: str
    x: float
    y: float
    width: float
    height: float
    round: float
    state: State | None
    inner: bool
    """A graph is drawn within."""
    dot: bool
    """It is the start or the end."""

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def baseline(self) -> float:
        return self.y + (14 if self.inner else self.height / 2 + 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    path: str
    conditional: bool
    x: float
    y: float
    """By how much the path is moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One node of the list."""

    name: str
    state: State | None
    leads: str
    """The names of the nodes after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    kept: Kept
    same: bool
    """It is the version under which the run was started."""
    nodes: list[Node]
    """Empty: there are too many to draw."""
    lines: list[Line]
    rows: list[Row]
    width: float
    height: float

    @property
    def reached(self) -> list[Row]:
        """The nodes of which there is something to say about this run."""
        return [row for row in self.rows if row.state]


def of(run: Run, at: Mapping[Path, str]) -> Drawing | None:
    """The graph of this run, which is at these nodes; None: no worker has drawn it."""
    found = kept.of(run)
    if found is None:
        return None
    states = standing.of(run.pk, at)
    small = found.shape.size <= MOST_NODES
    placed = layout.place(found.shape) if small else Placed(spots=[])
    return Drawing(
        kept=found,
        same=found.version == run.agent_version,
        nodes=list(_nodes(placed, states)),
        lines=list(_lines(placed)),
        rows=list(_rows(found.shape, states)),
        width=placed.width,
        height=placed.height,
    )


def _nodes(
    placed: Placed, states: Mapping[Path, State], above: Path = (), x: float = 0, y: float = 0
) -> Iterator[Node]:
    """Those around before those within, so that nothing is covered."""
    for spot in placed.spots:
        path = (*above, spot.name)
        dot = spot.name in (START, END)
        yield Node(
            name=spot.name,
            shown="" if dot else layout.shown(spot.name),
            x=round(x + spot.x, 1),
            y=round(y + spot.y, 1),
            width=round(spot.width, 1),
            height=round(spot.height, 1),
            round=spot.height / 2 if dot else 6,
            state=states.get(path),
            inner=spot.within is not None,
            dot=dot,
        )
        if spot.within:
            left, top = _inside(spot)
            yield from _nodes(spot.within, states, path, x + left, y + top)


def _lines(placed: Placed, x: float = 0, y: float = 0) -> Iterator[Line]:
    for line in placed.lines:
        yield Line(path=line.path, conditional=line.conditional, x=round(x, 1), y=round(y, 1))
    for spot in placed.spots:
        if spot.within:
            left, top = _inside(spot)
            yield from _lines(spot.within, x + left, y + top)


def _inside(spot: layout.Spot) -> tuple[float, float]:
    """Where the graph within a node begins."""
    inner = spot.within.width if spot.within else 0
    return spot.x + (spot.width - inner) / 2, spot.y + layout.TITLE - 4


def _rows(shape: Shape, states: Mapping[Path, State], above: Path = ()) -> Iterator[Row]:
    within = dict(shape.below)
    for node in shape.nodes:
        after = [e.target for e in shape.edges if e.source == node and e.target != END]
        path = (*above, node)
        if node not in (START, END):
            yield Row(name=" / ".join(path), state=states.get(path), leads=", ".join(after))
        if node in within:
            yield from _rows(within[node], states, path)
