"""An agent for tests of the ledger under the real driver: pays, then tells."""

from __future__ import annotations

from datetime import timedelta
from operator import add
from typing import Annotated, Any, TypedDict

from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph

from ledger.models import Idempotency
from ledger.outcomes import Found
from ledger.tools import effect
from tests.ledger.provider import Provider

WORLD = Provider()
WINDOW = timedelta(hours=24)
TIMEOUT = timedelta(seconds=5)


def find(key: str) -> Found | None:
    return WORLD.find(key)


@effect("desk.kept", idempotency=Idempotency.PROVIDER, window=WINDOW, timeout=TIMEOUT)
def kept(order: str, *, idempotency_key: str) -> object:
    return WORLD.call(idempotency_key, order)


@effect("desk.found", idempotency=Idempotency.LOOKUP, lookup=find, timeout=TIMEOUT)
def found(order: str, *, idempotency_key: str) -> object:
    return WORLD.call(idempotency_key, order)


@effect("desk.alone", idempotency=Idempotency.LEDGER, timeout=TIMEOUT)
def alone(order: str, *, idempotency_key: str) -> object:
    return WORLD.call(idempotency_key, order)


TOOLS = {"kept": kept, "found": found, "alone": alone}


class State(TypedDict, total=False):
    tool: str
    swallow: bool
    log: Annotated[list[Any], add]


def pay(state: State) -> State:
    try:
        return {"log": [TOOLS[state["tool"]](order="7")]}
    except Exception:
        if not state.get("swallow"):
            raise
        return {"log": ["swallowed"]}


def tell(_: State) -> State:
    return {"log": [kept(order="told")]}


builder = StateGraph(State)
builder.add_node("pay", pay)
builder.add_node("tell", tell)
builder.add_edge(START, "pay")
builder.add_edge("pay", "tell")
builder.add_edge("tell", END)
graph = builder.compile()


async def apay(state: State) -> State:
    return {"log": [await akept(order="7")]}


@effect("desk.akept", idempotency=Idempotency.PROVIDER, window=WINDOW, timeout=TIMEOUT)
async def akept(order: str, *, idempotency_key: str) -> object:
    return WORLD.call(idempotency_key, order)


builder = StateGraph(State)
builder.add_node("pay", apay)
builder.add_edge(START, "pay")
builder.add_edge("pay", END)
async_graph = builder.compile()


@task
def pay_one(order: str) -> object:
    return alone(order=order)


@entrypoint()
def workflow(orders: list[str]) -> list[object]:
    paid = [pay_one(order) for order in orders]
    return [each.result() for each in paid]
