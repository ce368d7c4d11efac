"""Settings of a worker that must not start: one of its agents cannot be driven."""

from __future__ import annotations

from typing import TypedDict

from langgraph.graph import START, StateGraph

from tests.settings import *  # noqa: F403

CELERY_BROKER_URL = "memory://"
RUNS_AGENTS = [{"name": "gate", "graph": "tests.support.unfit.gate", "version": "1"}]


class _State(TypedDict):
    said: str


def _breakpoint() -> object:
    builder = StateGraph(_State)
    builder.add_node("ask", lambda state: state)
    builder.add_edge(START, "ask")
    return builder.compile(interrupt_before=["ask"])


gate = _breakpoint()
