"""Agents whose next step is looked at before it runs.

several   one node pays "1", then "2", then "3"
nested    child[pays "1" in one node, "2" in the next]
asking    one node pays "1", asks, and pays "2"
"""

from __future__ import annotations

from datetime import timedelta
from operator import add
from typing import Annotated, Any, TypedDict

from langgraph.graph import END, START, StateGraph

import approvals
from ledger.models import Idempotency
from ledger.tools import effect
from tests.ledger import desk


@effect("desk.pay", idempotency=Idempotency.PROVIDER, window=timedelta(hours=24))
def pay(order: str, *, idempotency_key: str) -> object:
    """Pay for one order."""
    return desk.WORLD.call(idempotency_key, order)


class State(TypedDict, total=False):
    log: Annotated[list[Any], add]


def all_three(_: State) -> State:
    return {"log": [pay(order=order) for order in ("1", "2", "3")]}


def one(_: State) -> State:
    return {"log": [pay(order="1")]}


def two(_: State) -> State:
    return {"log": [pay(order="2")]}


def ask(_: State) -> State:
    first = pay(order="1")
    if approvals.ask("Pay 2?", tool="desk.pay", args={"order": "2"}):
        return {"log": [first, pay(order="2")]}
    return {"log": [first]}


def line(*nodes: Any) -> StateGraph[State]:
    builder = StateGraph(State)
    last = START
    for node in nodes:
        name = getattr(node, "__name__", "child")
        builder.add_node(name, node)
        builder.add_edge(last, name)
        last = name
    builder.add_edge(last, END)
    return builder


several = line(all_three).compile()
nested = line(line(one, two).compile()).compile()
asking = line(ask).compile()
