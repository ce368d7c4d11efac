"""Where the nodes of a graph are drawn: in columns from left to right. Pure numbers, in pixels.

1. An edge that leads back (found by a depth-first walk from the start) does not count for columns;
   it is drawn below. Every other edge leads to a later column (longest path).
2. Nodes of a column are ordered by the mean place of their neighbours, a few sweeps to and fro.
   An edge over several columns passes through a place of its own in each.
3. A node that calls a graph is a box around that graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from runs.picture.shape import END, START, Edge, Shape

CHARACTER, PAD, HEIGHT, ROUND = 7.2, 22.0, 28.0, 14.0
LONGEST = 24
"""Characters of a name that are shown."""
BETWEEN_COLUMNS, BETWEEN_NODES, MARGIN, TITLE = 48.0, 14.0, 12.0, 20.0
SWEEPS = 4
DIP = 22.0
"""How far an edge that leads back runs below the nodes."""


@dataclass(slots=True, kw_only=True)
class Spot:
    """A node, or a place through which an edge passes."""

    name: str
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    """Of its upper left corner."""
    passes: bool = False
    within: Placed | None = None

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    path: str
    conditional: bool


@dataclass(slots=True, kw_only=True)
class Placed:
    """A graph with a place for everything."""

    spots: list[Spot]
    lines: list[Line] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


@lru_cache(maxsize=128)
def place(shape: Shape) -> Placed:
    return _Layout(shape).placed()


class _Layout:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        within = dict(shape.below)
        self.spots = {name: _spot(name, within.get(name)) for name in shape.nodes}
        known = [e for e in shape.edges if {e.source, e.target} <= set(shape.nodes)]
        self.back = _leading_back(shape.nodes, known)
        self.ahead = [edge for edge in known if edge not in self.back]
        self.ways: list[tuple[Edge, list[str]]] = []

    def placed(self) -> Placed:
        columns = self._ordered(self._columns())
        height = self._put(columns)
        lines = [_ahead([self.spots[name] for name in way], edge) for edge, way in self.ways]
        bottom = height - MARGIN
        lines += [
            _back(self.spots[edge.source], self.spots[edge.target], edge, bottom + 6 * number)
            for number, edge in enumerate(self.back)
        ]
        shown = [spot for spot in self.spots.values() if not spot.passes]
        return Placed(
            spots=shown,
            lines=lines,
            width=max((spot.x + spot.width for spot in shown), default=0.0) + MARGIN,
            height=height + (DIP + 6 * len(self.back) if self.back else 0),
        )

    def _columns(self) -> list[list[str]]:
        rank = dict.fromkeys(self.shape.nodes, 0)
        for _ in self.shape.nodes:  # longest path: at most as many rounds as there are nodes
            for edge in self.ahead:
                rank[edge.target] = max(rank[edge.target], rank[edge.source] + 1)
        columns: list[list[str]] = [[] for _ in range(max(rank.values(), default=0) + 1)]
        for name in self.shape.nodes:
            columns[rank[name]].append(name)
        for edge in self.ahead:
            self.ways.append((edge, self._way(edge, rank, columns)))
        return columns

    def _way(self, edge: Edge, rank: dict[str, int], columns: list[list[str]]) -> list[str]:
        """The nodes and places through which an edge runs, one in each column."""
        way = [edge.source]
        for column in range(rank[edge.source] + 1, rank[edge.target]):
            name = f"{edge.source}\n{edge.target}\n{column}"
            if name not in self.spots:
                self.spots[name] = Spot(name=name, width=0.0, height=HEIGHT / 2, passes=True)
                columns[column].append(name)
            way.append(name)
        return [*way, edge.target]

    def _ordered(self, columns: list[list[str]]) -> list[list[str]]:
        neighbours: dict[str, list[str]] = {}
        for _edge, way in self.ways:
            for one, other in pairwise(way):
                neighbours.setdefault(one, []).append(other)
                neighbours.setdefault(other, []).append(one)
        for sweep in range(SWEEPS):
            for number in _to_and_fro(len(columns), sweep):
                around = [columns[n] for n in (number - 1, number + 1) if 0 <= n < len(columns)]
                places = {name: at / len(c) for c in around for at, name in enumerate(c, start=1)}
                columns[number].sort(key=lambda name: _mean(neighbours.get(name, ()), places))
        return columns

    def _put(self, columns: Sequence[Sequence[str]]) -> float:
        """Give every spot its place; the height of all."""
        heights = [sum(self.spots[n].height + BETWEEN_NODES for n in c) for c in columns]
        tallest, x = max(heights, default=0.0), MARGIN
        for column, height in zip(columns, heights, strict=True):
            width = max((self.spots[name].width for name in column), default=0.0)
            y = MARGIN + (tallest - height) / 2
            for name in column:
                spot = self.spots[name]
                spot.x, spot.y = round(x + (width - spot.width) / 2, 1), round(y, 1)
                y += spot.height + BETWEEN_NODES
            x += width + BETWEEN_COLUMNS
        return tallest - BETWEEN_NODES + 2 * MARGIN


def shown(name: str) -> str:
    """A node's name as it is written."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _spot(name: str, within: Shape | None) -> Spot:
    if name in (START, END):
        return Spot(name=name, width=ROUND, height=ROUND)
    width = len(shown(name)) * CHARACTER + PAD
    if within is None:
        return Spot(name=name, width=width, height=HEIGHT)
    inner = place(within)
    return Spot(
        name=name,
        width=max(width, inner.width),
        height=inner.height + TITLE,
        within=inner,
    )


def _leading_back(nodes: Sequence[str], edges: Iterable[Edge]) -> list[Edge]:
    """Edges to a node from which the walk came."""
    out: dict[str, list[Edge]] = {}
    for edge in edges:
        out.setdefault(edge.source, []).append(edge)
    found: list[Edge] = []
    left, under_way = set(nodes), set[str]()

    def walk(start: str) -> None:
        steps = [(start, iter(out.get(start, ())))]
        under_way.add(start)
        left.discard(start)
        while steps:
            node, rest = steps[-1]
            edge = next(rest, None)
            if edge is None:
                under_way.discard(node)
                steps.pop()
            elif edge.target in under_way:
                found.append(edge)
            elif edge.target in left:
                under_way.add(edge.target)
                left.discard(edge.target)
                steps.append((edge.target, iter(out.get(edge.target, ()))))

    for node in sorted(nodes, key=lambda name: name != START):
        if node in left:
            walk(node)
    return found


def _to_and_fro(count: int, sweep: int) -> Iterator[int]:
    return iter(range(count) if sweep % 2 == 0 else range(count - 1, -1, -1))


def _mean(names: Iterable[str], places: dict[str, float]) -> float:
    known = [places[name] for name in names if name in places]
    return sum(known) / len(known) if known else 0.5


def _ahead(spots: Sequence[Spot], edge: Edge) -> Line:
    """A curve from right to left edges, through the places on its way."""
    first = spots[0]
    path, x, y = f"M{first.x + first.width:g} {first.middle:g}", first.x + first.width, first.middle
    for spot in spots[1:]:
        bend = (spot.x - x) / 2
        path += f"C{x + bend:g} {y:g} {spot.x - bend:g} {spot.middle:g} {spot.x:g} {spot.middle:g}"
        x, y = spot.x + spot.width, spot.middle
    return Line(path=path, conditional=edge.conditional)


def _back(source: Spot, target: Spot, edge: Edge, bottom: float) -> Line:
    """A curve below everything, from the lower edge of one to that of the other."""
    deep = bottom + DIP
    one, other = source.x + source.width / 2 + 5, target.x + target.width / 2 - 5
    start, end = source.y + source.height, target.y + target.height
    path = f"M{one:g} {start:g}C{one:g} {deep:g} {other:g} {deep:g} {other:g} {end:g}"
    return Line(path=path, conditional=edge.conditional)
