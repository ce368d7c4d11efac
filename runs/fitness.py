"""What a process must prove before it may drive runs.

A worker calls `require` before it takes its first run; the doctor asks as well.
"""

from __future__ import annotations

from typing import Any, TypedDict

from django.core.exceptions import ImproperlyConfigured
from langgraph.checkpoint.memory import InMemorySaver
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
