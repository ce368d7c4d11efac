"""The agents that may be started: declared in settings, loaded only where graphs are driven.

1. A declaration is plain data; web processes read it and never import an agent's code.
2. Loading imports the graph and refuses shapes that cannot be driven safely, with the reason.
3. Savers are attached per drive; a graph is registered without one (or with one that is ignored).
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import timedelta
from functools import cache
from string import Formatter
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string
from langgraph.channels import DeltaChannel
from langgraph.pregel import Pregel
from langgraph.pregel.remote import RemoteGraph

from runs import errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """One entry of RUNS_AGENTS."""

    name: str
    """How callers name it; stored on every run."""
    graph: str
    """Dotted path of a compiled StateGraph or an @entrypoint."""
    version: str
    """Stored on every run at admission. Raise it when runs under way could notice the change."""
    label: str = ""
    title: str = ""
    """Template of a run's title; `{field}` takes a top-level field of the input."""
    compatible_with: tuple[str, ...] = ()
    """Older (or newer) versions whose runs this version may continue."""
    input_schema: Mapping[str, Any] | None = None
    """JSON Schema that the input must fit."""
    stall_after: timedelta | None = None
    """Longest time without progress; default RUNS_STALL_AFTER."""
    tries: int | None = None
    """Attempts at one head for errors that may pass; default RUNS_TRIES."""
    transient: str = ""
    """Dotted path of `f(exception) -> bool | None`: may it pass by itself? None: as usual."""
    recursion_limit: int | None = None
    run_async: bool | None = None
    """Drive with `ainvoke`. None: if some node has only an async form."""

    @property
    def shown(self) -> str:
        return self.label or self.name

    def fits(self, version: str) -> bool:
        """Whether this version may drive a run that was admitted under `version`."""
        return version == self.version or version in self.compatible_with

    def title_for(self, given: object) -> str:
        """The run's title; a field that the input lacks is shown as an ellipsis."""
        values = given if isinstance(given, dict) else {"input": given}
        wanted = [name for _, name, _, _ in Formatter().parse(self.title) if name]
        shown = {name: str(values.get(name, "…")) for name in wanted}
        return (self.title.format_map(shown) if self.title else self.shown)[:300]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A declaration with its graph, in a process that drives."""

    declared: Declaration
    graph: Pregel[Any, Any, Any, Any]
    is_async: bool


@cache
def declarations() -> dict[str, Declaration]:
    """Every declared agent by name. Raises ImproperlyConfigured and says which entry is wrong."""
    found: dict[str, Declaration] = {}
    for number, entry in enumerate(settings.RUNS_AGENTS):
        declared = _declared(f"RUNS_AGENTS[{number}]", entry)
        if declared.name in found:
            raise ImproperlyConfigured(f"RUNS_AGENTS names {declared.name!r} twice.")
        found[declared.name] = declared
    return found


def _declared(where: str, entry: Mapping[str, Any]) -> Declaration:
    known = {item.name: item for item in fields(Declaration)}
    for key in entry:
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            raise ImproperlyConfigured(f"{where}: unknown key {key!r}.{hint}")
    for key, item in known.items():
        if item.default is MISSING and key not in entry:
            raise ImproperlyConfigured(f"{where}: {key!r} is missing.")
    values = dict(entry)
    values["compatible_with"] = tuple(values.get("compatible_with", ()))
    return Declaration(**values)


def declaration(name: str) -> Declaration:
    """Raises UnknownAgent, with the nearest name."""
    try:
        return declarations()[name]
    except KeyError:
        close = difflib.get_close_matches(name, declarations(), n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        known = ", ".join(sorted(declarations())) or "none"
        raise errors.UnknownAgent(
            f"No agent is named {name!r}.{hint} Registered: {known}."
        ) from None


@cache
def load(name: str) -> Agent:
    """Import the agent's graph. Raises UnknownAgent or UnfitGraph (why it cannot be driven)."""
    declared = declaration(name)
    try:
        graph = import_string(declared.graph)
    except ImportError as exc:
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
        if isinstance(level, RemoteGraph):
            raise errors.UnfitGraph(f"{path}: a RemoteGraph cannot be fenced.")
        deltas = [key for key, c in level.channels.items() if isinstance(c, DeltaChannel)]
        if deltas:
            raise errors.UnfitGraph(
                f"{path}: the DeltaChannel {deltas[0]!r} cannot be pruned or read at long threads."
                " Use a plain channel with a reducer."
            )


def _graphs(path: str, graph: Any) -> Iterator[tuple[str, Any]]:
    yield path, graph
    for name, child in graph.get_subgraphs():
        yield f"{path}/{name}", child


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
