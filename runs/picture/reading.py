"""Reading the shape of a graph that this process has loaded. Workers only."""

from __future__ import annotations

from typing import Any

from runs import graphs
from runs.picture.shape import Edge, Shape

DEEPEST = 3
"""Graphs within graphs are read as far."""


def of(graph: Any, depth: int = 1) -> Shape:
    """The shape of a compiled graph. Raises what LangGraph raises if it cannot draw it."""
    drawn = graph.get_graph()
    within = {}
    for name, node in graph.nodes.items():
        children = list({id(each): each for each in graphs.children(node)}.values())
        if len(children) == 1 and name in drawn.nodes and depth < DEEPEST:
            within[name] = of(children[0], depth + 1)
    return Shape(
        nodes=tuple(drawn.nodes),
        edges=tuple(
            Edge(source=each.source, target=each.target, conditional=each.conditional)
            for each in dict.fromkeys(drawn.edges)
        ),
        below=tuple(within.items()),
    )
