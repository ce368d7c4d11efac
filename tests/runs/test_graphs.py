"""A graph that cannot be driven safely is refused when it is loaded, and the reason is told."""

from __future__ import annotations

import asyncio
import importlib
from itertools import chain
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.pregel.remote import RemoteGraph

from runs import errors
from runs import graphs as loaded
from tests.support import graphs

Text = Annotated[list[str], add]


class State(TypedDict):
    log: Text


class Delta(TypedDict):
    log: Annotated[list[str], DeltaChannel(lambda known, new: [*known, *chain.from_iterable(new)])]


def compiled(node: Any, schema: Any = State, **how: Any) -> Any:
    builder = StateGraph(schema)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    return builder.compile(**how)


def plain(_: Any) -> dict[str, list[str]]:
    return {"log": ["plain"]}


async def only_async(_: Any) -> dict[str, list[str]]:
    await asyncio.sleep(0)
    return {"log": ["async"]}


@tool
def pay(amount: int) -> str:
    """Pay."""
    return str(amount)


def calling(inner: Any) -> Any:
    """A graph whose node calls another graph in its code."""

    def node(state: State) -> Any:
        return inner.invoke(state)

    return compiled(node)


class Holder:
    """An object whose attribute is a graph."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner


def calling_attribute(inner: Any) -> Any:
    holder = Holder(inner)

    def node(state: State) -> Any:
        return holder.inner.invoke(state)

    return compiled(node)


def calling_second(inner: Any) -> Any:
    """A graph whose node calls two others; LangGraph lists only one."""
    another = compiled(plain)

    def node(state: State) -> Any:
        return inner.invoke(another.invoke(state))

    return compiled(node)


def never_given() -> Any:
    """A graph whose node refers to a name that is gone by the time it is loaded."""
    gone = plain

    def node(state: State) -> Any:
        return gone(state)  # noqa: F821 (deleted below, on purpose)

    graph = compiled(node)
    del gone
    return graph


def _calls_itself() -> Any:
    def node(state: State) -> Any:
        return state if state["log"] else itself.invoke({"log": ["once"]})

    itself = compiled(node)
    return itself


BEFORE = compiled(plain, interrupt_before=["node"])
UNSAVED = compiled(plain, checkpointer=False)
REMOTE = RemoteGraph("elsewhere", url="http://127.0.0.1:1")
DELTA = compiled(plain, Delta)
UNSAFE = {
    "breakpoint before": (BEFORE, "static breakpoint"),
    "breakpoint after": (compiled(plain, interrupt_after=["node"]), "static breakpoint"),
    "breakpoint everywhere": (compiled(plain, interrupt_before="*"), "static breakpoint"),
    "breakpoint in a child": (compiled(BEFORE), "agent/node: a static breakpoint"),
    "breakpoint in a grandchild": (compiled(compiled(BEFORE)), "agent/node/node: a static"),
    "breakpoint in a called graph": (calling(BEFORE), "agent/node: a static breakpoint"),
    "breakpoint in an attribute": (calling_attribute(BEFORE), "agent/node: a static breakpoint"),
    "breakpoint in the second call": (calling_second(BEFORE), "agent/node: a static breakpoint"),
    "unsaved child": (compiled(UNSAVED), "checkpointer=False"),
    "unsaved called graph": (calling(UNSAVED), "agent/node: a subgraph"),
    "unsaved grandchild": (compiled(compiled(UNSAVED)), "agent/node/node: a subgraph"),
    "remote": (REMOTE, "RemoteGraph runs elsewhere"),
    "remote child": (compiled(REMOTE), "agent/node: a RemoteGraph"),
    "delta channel": (DELTA, "DeltaChannel 'log'"),
    "delta channel in a child": (compiled(DELTA), "agent/node: the DeltaChannel"),
    "not compiled": (StateGraph(State), "StateGraph is not a compiled graph"),
    "a function": (plain, "function is not a compiled graph"),
}
SAFE = {
    "calls itself": _calls_itself(),
    "refers to nothing": never_given(),
    "line": graphs.line,
    "subgraph": graphs.nested,
    "functional": graphs.functional,
    "compiled with a saver": compiled(plain, checkpointer=InMemorySaver()),
    "compiled with checkpointer=False": UNSAVED,
}


@pytest.mark.parametrize("name", UNSAFE)
def test_an_unsafe_shape_is_refused_with_its_reason(declare, name: str) -> None:
    graph, reason = UNSAFE[name]
    declare("agent", graph)
    with pytest.raises(errors.UnfitGraph, match=reason) as refusal:
        loaded.load("agent")
    assert str(refusal.value).startswith("agent")


@pytest.mark.parametrize("name", SAFE)
def test_a_safe_shape_is_loaded(declare, name: str) -> None:
    declare("agent", SAFE[name], version="3")
    agent = loaded.load("agent")
    assert agent.graph is SAFE[name]
    assert (agent.declared.version, agent.is_async) == ("3", False)


def test_langchains_agents_are_safe(declare) -> None:
    """Their messages are kept in a plain channel, so nothing of the DeltaChannel bites them."""
    agents = importlib.import_module("langchain.agents")  # mypy breaks when it reads this package
    asking = agents.middleware.HumanInTheLoopMiddleware(interrupt_on={"pay": True})
    model = GenericFakeChatModel(messages=iter(()))
    declare("agent", agents.create_agent(model, [pay], middleware=[asking]))
    assert not loaded.load("agent").is_async


def test_a_module_that_cannot_be_imported_makes_an_unfit_agent(declare) -> None:
    declare("agent")
    with pytest.raises(errors.UnfitGraph, match=r"cannot import tests\.support\.graphs\.agent"):
        loaded.load("agent")


def test_an_agent_whose_code_fails_at_import_is_unfit(declare, settings) -> None:
    declare("agent")
    settings.RUNS_AGENTS[0]["graph"] = "tests.runs.fails_at_import.graph"
    with pytest.raises(errors.UnfitGraph, match=r"cannot import .*fails_at_import.*: broken"):
        loaded.load("agent")


def test_an_agent_that_is_not_declared_is_unknown(declare) -> None:
    declare("line")
    with pytest.raises(errors.UnknownAgent, match="Did you mean 'line'"):
        loaded.load("lines")


# --- driven how -----------------------------------------------------------------------------------


@task
async def async_task(number: int) -> int:
    return number


@entrypoint()
async def async_entrypoint(given: int) -> int:
    return await async_task(given)


ASYNC = {
    "sync": (compiled(plain), False),
    "async": (compiled(only_async), True),
    "both": (compiled(RunnableLambda(plain, only_async)), False),
    "async child": (compiled(compiled(only_async)), True),
    "async grandchild": (compiled(compiled(compiled(only_async))), True),
    "async entrypoint": (async_entrypoint, True),
}


@pytest.mark.parametrize("name", ASYNC)
def test_a_graph_with_a_node_that_is_only_async_is_driven_so(declare, name: str) -> None:
    graph, expected = ASYNC[name]
    declare("agent", graph)
    assert loaded.load("agent").is_async is expected


@pytest.mark.parametrize("how", [True, False])
def test_a_declaration_may_say_how_it_is_driven(declare, how: bool) -> None:
    declare("agent", compiled(RunnableLambda(plain, only_async)), run_async=how)
    assert loaded.load("agent").is_async is how
