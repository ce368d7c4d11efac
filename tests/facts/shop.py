"""Agents that pay, with an effect that only the ledger keeps from happening twice."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy, Send

from ledger.models import Idempotency
from ledger.outcomes import Outcome
from ledger.tools import effect
from tests.support import graphs
from tests.support.graphs import State


@effect("facts.pay", idempotency=Idempotency.LEDGER, timeout=timedelta(seconds=5))
def pay(order: str) -> Outcome:
    graphs.reach(f"paid.{order}")
    return Outcome.success(f"receipt for {order}")


def second(_: State) -> State:
    graphs.reach("second.before")
    pay(order="7")
    graphs.reach("second")
    return {"log": ["second"]}


till = graphs.chain(first=graphs.plain("first"), second=second, third=graphs.plain("third"))


def _counter() -> Any:
    """Two Sends that pay the same."""

    def spread(_: State) -> list[Send]:
        return [Send("worker", {"item": item}) for item in ("a", "b")]

    def worker(state: State) -> State:
        pay(order="7")
        graphs.reach(f"worker.{state['item']}")
        return {"log": [state["item"]]}

    builder = StateGraph(State)
    builder.add_node("spread", graphs.plain("spread"))
    builder.add_node("worker", worker)
    builder.add_edge(START, "spread")
    builder.add_conditional_edges("spread", spread, ["worker"])
    return builder.compile()


counter = _counter()


def _stubborn() -> Any:
    """A node that retries whatever is raised, beside one that does its work."""
    builder: Any = StateGraph(State)
    again = RetryPolicy(retry_on=Exception, initial_interval=0.01, max_attempts=3)
    builder.add_node("second", second, retry_policy=again)
    builder.add_node("quiet", graphs.plain("quiet"))
    builder.add_edge(START, "second")
    builder.add_edge(START, "quiet")
    return builder.compile()


stubborn = _stubborn()
