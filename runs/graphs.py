"""The graphs behind the registered agents, in processes that drive.

1. Loading imports the graph and refuses shapes that cannot be driven safely, with the reason.
2. Savers are attached per drive; one that a graph was compiled with is replaced.
"""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.utils.module_loading import import_string
from langgraph.channels import DeltaChannel
from langgraph.constants import START
from langgraph.pregel import Pregel
from langgraph.pregel.protocol import PregelProtocol
from langgraph.pregel.remote import RemoteGraph

from runs import errors, registry
from runs.registry import Declaration

OURS = ("accounts", "approvals", "audit", "ledger", "runs", "signalbox")
"""Packages of Signalbox itself: what their code names is no part of an agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A declaration with its graph, in a process that drives."""

    declared: Declaration
    graph: Pregel[Any, Any, Any, Any]
    is_async: bool

    @property
    def begins_at_once(self) -> bool:
        """Whether nodes run in the very first step, as the body of an @entrypoint does.

        In a StateGraph the first step is LangGraph's own, and its checkpoint is saved before nodes
        run.
        """
        return START not in self.graph.nodes

    def saving(self, saver: object) -> Pregel[Any, Any, Any, Any]:
        """The graph as it saves, and reads what was saved, by this saver."""
        graph = self.graph.copy(update={"checkpointer": saver})
        # In strict mode LangGraph notes at compile time which classes of the state may be read
        # back as themselves, and forgets it in a copy.
        graph._serde_allowlist = self.graph._serde_allowlist
        return graph


@cache
def load(name: str) -> Agent:
    """Import the agent's graph. Raises UnknownAgent or UnfitGraph (why it cannot be driven)."""
    declared = registry.declaration(name)
    try:
        graph = import_string(declared.graph)
    except Exception as exc:  # an agent's module runs here
        raise errors.UnfitGraph(f"{name}: cannot import {declared.graph}: {exc}") from exc
    refuse_unfit(name, graph)
    is_async = _is_async(graph) if declared.run_async is None else declared.run_async
    return Agent(declared=declared, graph=graph, is_async=is_async)


def refuse_unfit(name: str, graph: object) -> None:
    """Raise UnfitGraph if runs of this graph could not be driven safely; the message says why."""
    if isinstance(graph, RemoteGraph):
        raise errors.UnfitGraph(
            f"{name}: a RemoteGraph runs elsewhere, so its steps cannot be fenced."
            " Register the graph itself."
        )
    if not isinstance(graph, Pregel):
        raise errors.UnfitGraph(
            f"{name}: {type(graph).__name__} is not a compiled graph."
            " Compile the StateGraph, or use @entrypoint."
        )
    for path, level in _graphs(name, graph):
        if isinstance(level, RemoteGraph):
            raise errors.UnfitGraph(f"{path}: a RemoteGraph cannot be fenced.")
        if level.interrupt_before_nodes or level.interrupt_after_nodes:
            raise errors.UnfitGraph(
                f"{path}: a static breakpoint (interrupt_before or interrupt_after) passes on any"
                " input. Ask with approvals.ask() or interrupt() inside the node."
            )
        if level is not graph and level.checkpointer is False:
            raise errors.UnfitGraph(
                f"{path}: a subgraph compiled with checkpointer=False cannot be driven durably."
                " Leave the argument out."
            )
        deltas = [key for key, c in level.channels.items() if isinstance(c, DeltaChannel)]
        if deltas:
            raise errors.UnfitGraph(
                f"{path}: the DeltaChannel {deltas[0]!r} cannot be pruned or read at long threads."
                " Use a plain channel with a reducer."
            )


def _graphs(path: str, graph: Any, above: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """The graph and every graph inside it, each with its path. What is remote is not entered."""
    yield path, graph
    if isinstance(graph, Pregel) and id(graph) not in above:
        for name, node in graph.nodes.items():
            for child in {id(each): each for each in children(node)}.values():
                yield from _graphs(f"{path}/{name}", child, (*above, id(graph)))


def children(node: Any) -> Iterator[Any]:
    """The graphs that a node is or calls, as far as its code shows them."""
    yield from node.subgraphs
    yield from _in(node.bound)


def _in(bound: Any) -> Iterator[Any]:
    """LangGraph's own list stops at the first graph and leaves out those without a saver."""
    if isinstance(bound, PregelProtocol):
        yield bound
    for part in (*getattr(bound, "steps", ()), *getattr(bound, "deps", ())):
        yield from _in(part)
    for function in (getattr(bound, "func", None), getattr(bound, "afunc", None)):
        if inspect.isfunction(function):
            yield from (each for each in _named(function) if isinstance(each, PregelProtocol))


def _named(function: types.FunctionType) -> Iterator[object]:
    """What the code of a function refers to outside of itself."""
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # a name that was never given a value
            yield cell.cell_contents
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield function.__globals__[name]


def _is_async(graph: Pregel[Any, Any, Any, Any]) -> bool:
    """Whether some node has only an async form, so that the graph must be driven with `ainvoke`."""
    return any(_only_async(node.bound) for node in _nodes(graph))


def _nodes(graph: Any) -> Iterator[Any]:
    for _, level in _graphs("", graph):
        yield from level.nodes.values()


def _only_async(bound: Any) -> bool:
    steps = getattr(bound, "steps", None)
    if steps:
        return any(_only_async(step) for step in steps)
    func, afunc = getattr(bound, "func", None), getattr(bound, "afunc", None)
    if inspect.iscoroutinefunction(func):
        return True
    return func is None and afunc is not None
