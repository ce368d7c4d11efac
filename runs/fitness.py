"""What a process must prove before it may drive runs.

A worker calls `require` before it takes its first run; the doctor asks as well.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, TypedDict

from django.core.exceptions import ImproperlyConfigured
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.errors import UnknownInterruptError
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from runs import checkpoints, graphs, registry
from runs.driver import STRICT


class _State(TypedDict):
    said: str


def _ask(state: _State) -> _State:
    return {"said": interrupt("?")}


def strict_resume_works() -> bool:
    """Whether the installed LangGraph refuses an answer to a question that nobody asks.

    The switch is private and older versions ignore it silently, so it is tried, not read.
    """
    builder = StateGraph(_State)
    builder.add_node("ask", _ask)
    builder.add_edge(START, "ask")
    graph = builder.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "strict", STRICT: True}}
    graph.invoke({"said": ""}, config)
    try:
        graph.invoke(Command(resume={"0" * 32: "nobody asked"}), config)
    except UnknownInterruptError:
        return True
    return False


@dataclass
class _Stranger:
    """A class that no graph's state has."""

    said: str = ""


def checkpoints_are_data() -> bool:
    """Whether LangGraph makes nothing from a checkpoint but data and classes of a graph's state.

    Otherwise who can write to the checkpoint tables chooses what a worker instantiates. Tried, not
    read: LangGraph looks at LANGGRAPH_STRICT_MSGPACK once, when it is imported.
    """
    saver = JsonPlusSerializer()
    log = logging.getLogger(JsonPlusSerializer.__module__)
    log.disabled, before = True, log.disabled  # that it was blocked, or was not, is no news
    try:
        made = saver.loads_typed(saver.dumps_typed(_Stranger()))
    finally:
        log.disabled = before
    return not isinstance(made, _Stranger)


def require() -> None:
    """Raise the reason why this process must not drive; load every agent's graph on the way.

    Raises UnfitGraph, SaverNotReady, ImproperlyConfigured.
    """
    if not strict_resume_works():
        raise ImproperlyConfigured(
            "The installed LangGraph ignores strict resume, so an answer could reach the wrong"
            " question. Install the version that Signalbox pins."
        )
    for name in registry.declarations():
        graphs.load(name)
    checkpoints.require_ready()
