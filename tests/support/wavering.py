"""An agent whose node asks for something else when it runs again, and one that is true to itself.

Like agents that use a random number, the time, or another answer of a model.
"""

from __future__ import annotations

import operator
import os
from datetime import timedelta
from typing import Annotated, Any, TypedDict

from langgraph.graph import START, StateGraph

import approvals
from ledger.models import Idempotency
from ledger.outcomes import Outcome
from ledger.tools import effect
from tests.support.graphs import reach

SECRET = "jo@example.com"


class State(TypedDict, total=False):
    order: str
    email: str
    log: Annotated[list[Any], operator.add]


@effect(
    "wavering.pay",
    idempotency=Idempotency.PROVIDER,
    window=timedelta(hours=1),
    timeout=timedelta(seconds=5),
)
def pay(order: str, note: str, email: str, *, idempotency_key: str) -> object:
    return Outcome.success(f"paid-{order}", {"paid": order})


def plan(_: State) -> State:
    reach("plan")
    return {"log": ["planned"], "email": SECRET}


def settle(note: str) -> Any:
    def node(state: State) -> State:
        reach("settle")
        said = f"process {os.getpid()}" if note == "pid" else note
        return {"log": [pay(order=state["order"], note=said, email=SECRET)]}

    return node


def close(_: State) -> State:
    reach("close")
    return {"log": ["closed"]}


def gate(_: State) -> State:
    answer = approvals.ask("Close it?")
    return {"log": [["gate", bool(answer)]]}


def _graph(note: str) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("plan", plan)
    builder.add_node("settle", settle(note))
    builder.add_node("gate", gate)
    builder.add_node("close", close)
    builder.add_edge(START, "plan")
    builder.add_edge("plan", "settle")
    builder.add_edge("settle", "gate")
    builder.add_edge("gate", "close")
    return builder.compile()


steady = _graph("as before")
wavering = _graph("pid")
