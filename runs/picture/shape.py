"""The shape of a graph: nodes, edges, and the graphs within. Plain data, which JSON can hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

START, END = "__start__", "__end__"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    source: str
    target: str
    conditional: bool = False
    """Taken or not, as the graph's code decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """`nodes` in the order of the graph; `below` are graphs that nodes call, by their node."""

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    below: tuple[tuple[str, Shape], ...] = ()

    @property
    def size(self) -> int:
        """How many nodes there are, with those of the graphs within."""
        return len(self.nodes) + sum(shape.size for _node, shape in self.below)

    def every(self, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        """The path of each node: its name after those of the nodes that call its graph."""
        within = dict(self.below)
        for node in self.nodes:
            yield (*above, node)
            if node in within:
                yield from within[node].every((*above, node))

    def stored(self) -> dict[str, Any]:
        return {
            "nodes": list(self.nodes),
            "edges": [[each.source, each.target, each.conditional] for each in self.edges],
            "below": {node: shape.stored() for node, shape in self.below},
        }

    @classmethod
    def read(cls, stored: dict[str, Any]) -> Shape:
        return cls(
            nodes=tuple(stored["nodes"]),
            edges=tuple(
                Edge(source=source, target=target, conditional=conditional)
                for source, target, conditional in stored["edges"]
            ),
            below=tuple((node, cls.read(each)) for node, each in stored["below"].items()),
        )
