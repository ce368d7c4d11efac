"""Agents whose models may call tools of every sort: declared, read-only, and neither."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypedDict

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.tools import BaseTool, StructuredTool, tool
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import ToolNode

from ledger.agent_tools import as_tool
from ledger.models import Idempotency
from ledger.outcomes import Outcome
from ledger.tools import effect, reads


@effect("bound.pay", idempotency=Idempotency.PROVIDER, window=timedelta(hours=24), permit=True)
def pay(order: str, *, idempotency_key: str) -> Outcome:
    """Pay for an order.

    Only once.
    """
    return Outcome.success("re_1")


@effect("bound.tell", idempotency=Idempotency.LEDGER)
def tell(to: str) -> Outcome:
    """Tell somebody."""
    return Outcome.success("ml_1")


@reads("bound.look")
def look(order: str) -> str:
    """Look an order up."""
    return order


@tool
def thin(order: str) -> str:
    """Pay, in other words."""
    return str(pay(order=order))


def wipe(table: str) -> str:
    """Wipe a table."""
    return table


async def afar(query: str) -> str:
    """What a server offers, as clients of the Model Context Protocol make it."""
    return query


class Hand(BaseTool):
    """A tool of a class of its own."""

    name: str = "hand"
    description: str = "Move a hand."

    def _run(self, where: str) -> str:
        return where


def model() -> Any:
    return GenericFakeChatModel(messages=iter([]))


remote = StructuredTool.from_function(coroutine=afar, name="search_web", description="Search.")
well = create_agent(model(), tools=[as_tool(tell), pay, look, thin])
careless = create_agent(model(), tools=[pay, wipe, remote, Hand()])


class State(TypedDict, total=False):
    messages: list[Any]


def quietly(state: State) -> State:
    """Calls a tool node of its own inside the node."""
    hidden.invoke(state)
    return {}


hidden = ToolNode([wipe])
builder = StateGraph(State)
builder.add_node("inside", well)
builder.add_node("quietly", quietly)
builder.add_edge(START, "inside")
builder.add_edge("inside", "quietly")
builder.add_edge("quietly", END)
nested = builder.compile()
