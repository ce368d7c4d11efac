"""Effects in real graphs: keys that stay over crashes, and stops that reach the driver."""

from __future__ import annotations

import operator
from contextlib import suppress
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain.tools import tool as langchain_tool
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.types import Command, RetryPolicy, Send, interrupt

from ledger import errors, refusals
from ledger.models import Effect, Idempotency
from ledger.tools import effect
from runs import authority
from tests.ledger.conftest import Driver, effect_of, take_over
from tests.ledger.provider import Provider, unheard

pytestmark = pytest.mark.usefixtures("real_steps")


class State(TypedDict, total=False):
    n: int
    out: Annotated[list[Any], operator.add]


class Crash(Exception):
    """The node fails after its effects."""


@pytest.fixture
def pay(world: Provider):
    def pay(order: str, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order)

    return effect("t.pay", idempotency=Idempotency.LEDGER)(pay)


class Once:
    """Raises the first time it is reached at a place, up to so many times."""

    def __init__(self, most: int = 100) -> None:
        self.reached: set[str] = set()
        self.most = most

    def __call__(self, place: str) -> None:
        if place not in self.reached and len(self.reached) < self.most:
            self.reached.add(place)
            raise Crash(place)


def until_done(graph: Any, run: Any, given: object, tries: int = 20) -> Any:
    """Invoke, and as long as it crashes, let a new driver continue."""
    config: Any = {"configurable": {"thread_id": str(run.pk)}}
    for _ in range(tries):
        driver = take_over(run)
        with suppress(Crash), authority.using(driver.authority):
            return graph.invoke(given, config, durability="sync")
        given = None
    raise AssertionError("it never ends")


def steps(run: Any) -> list[str]:
    found = Effect.objects.filter(run=run).order_by("created_at")
    return [effect.step.split("@")[0] for effect in found]


def test_each_visit_of_a_loop_is_an_effect_of_its_own_and_stays_so(pay, world, run):
    crash = Once()

    def visit(state: State) -> State:
        pay(order="same")
        crash(f"visit {state['n']}")
        return {"n": state["n"] + 1}

    builder = StateGraph(State)
    builder.add_node("visit", visit)
    builder.add_edge(START, "visit")
    builder.add_conditional_edges("visit", lambda s: "visit" if s["n"] < 3 else "__end__")
    until_done(builder.compile(checkpointer=InMemorySaver()), run, {"n": 0})
    assert len(world.calls) == 3
    assert steps(run) == ["visit"] * 3


def test_each_send_is_an_effect_of_its_own_and_stays_so(pay, world, run):
    crash = Once()

    def leaf(state: State) -> State:
        pay(order="same")
        if state["n"] % 2:
            crash(f"leaf {state['n']}")
        return {"out": [state["n"]]}

    builder = StateGraph(State)
    builder.add_node("leaf", leaf)
    builder.add_conditional_edges(
        START, lambda _: [Send("leaf", {"n": n, "out": []}) for n in range(6)], ["leaf"]
    )
    until_done(builder.compile(checkpointer=InMemorySaver()), run, {"n": 0})
    assert len(world.calls) == 6
    assert steps(run) == ["leaf"] * 6


def test_each_task_of_a_workflow_is_an_effect_of_its_own_and_stays_so(pay, world, run):
    crash = Once()

    @task
    def settle(order: str, place: str) -> object:
        paid = pay(order=order)
        crash(place)
        return paid

    @entrypoint(checkpointer=InMemorySaver())
    def workflow(given: str) -> list[object]:
        first = settle("same", "one").result()
        both = [settle("same", "two"), settle("same", "three")]
        paid = [first, *[each.result() for each in both]]
        pay(order="same")
        crash("body")
        return paid

    until_done(workflow, run, "start")
    assert len(world.calls) == 4
    assert steps(run).count("settle") == 3
    assert steps(run).count("workflow") == 1


def test_subgraphs_as_nodes_and_called_from_nodes_keep_their_keys(pay, world, run):
    crash = Once(most=4)

    def inner(state: State) -> State:
        pay(order="same")
        crash(f"inner {len(crash.reached)}")
        return {"out": ["inner"]}

    child = StateGraph(State)
    child.add_node("inner", inner)
    child.add_edge(START, "inner")
    subgraph = child.compile()

    def call(state: State) -> State:
        subgraph.invoke({"n": 1})
        crash("call")
        return {}

    builder = StateGraph(State)
    builder.add_node("child", subgraph)
    builder.add_node("call", call)
    builder.add_edge(START, "child")
    builder.add_edge("child", "call")
    until_done(builder.compile(checkpointer=InMemorySaver()), run, {"n": 0})
    assert len(crash.reached) == 4
    assert len(world.calls) == 2


def test_effects_before_a_question_are_not_repeated_when_it_is_answered(pay, world, run):
    def branch(state: State) -> State:
        pay(order="before")
        answer = interrupt(f"question {state['n']}")
        pay(order="after")
        return {"out": [answer]}

    builder = StateGraph(State)
    builder.add_node("branch", branch)
    builder.add_conditional_edges(
        START, lambda _: [Send("branch", {"n": n, "out": []}) for n in range(2)], ["branch"]
    )
    graph = builder.compile(checkpointer=InMemorySaver())
    until_done(graph, run, {"n": 0})
    assert len(world.calls) == 2
    config: Any = {"configurable": {"thread_id": str(run.pk)}}
    for _ in range(2):
        pending = graph.get_state(config).interrupts
        until_done(graph, run, Command(resume={pending[0].id: "yes"}))
    assert sorted(each["order"] for each in world.seen) == ["after", "after", "before", "before"]


class Scripted(GenericFakeChatModel):
    """A model that says what it is told to, and takes any tools."""

    def bind_tools(self, *args: object, **kwargs: object) -> Scripted:  # type: ignore[override]
        return self


def calling(*ids: str, order: str = "same") -> AIMessage:
    calls = [{"name": "refund", "args": {"order": order}, "id": each} for each in ids]
    return AIMessage(content="", tool_calls=calls)


def test_each_tool_call_of_an_agent_is_an_effect_of_its_own_and_stays_so(pay, world, run):
    crash = Once(most=2)

    @langchain_tool
    def refund(order: str) -> str:
        """Refund an order."""
        pay(order=order)
        crash(f"refund {len(crash.reached)}")
        return "done"

    model = Scripted(messages=iter([calling("c1", "c2"), AIMessage(content="bye")]))
    agent = create_agent(model, [refund], checkpointer=InMemorySaver())
    until_done(agent, run, {"messages": [("user", "refund twice")]})
    assert len(world.calls) == 2
    assert steps(run) == ["tools"] * 2


def test_a_declared_effect_can_be_an_agents_tool_itself(pay, world, run):
    refund = langchain_tool("refund", description="Refund an order.")(pay)
    assert set(refund.args) == {"order"}
    model = Scripted(messages=iter([calling("c1"), AIMessage(content="bye")]))
    agent = create_agent(model, [refund], checkpointer=InMemorySaver())
    until_done(agent, run, {"messages": [("user", "refund")]})
    assert len(world.calls) == 1
    assert effect_of(run).args == {"order": "same"}


@pytest.mark.parametrize(("told_apart", "calls"), [(False, 1), (True, 2)])
def test_tool_calls_that_share_a_task_are_told_apart_by_their_ids(
    pay, world, run, told_apart, calls
):
    @langchain_tool
    def refund(order: str, runtime: ToolRuntime) -> str:
        """Refund an order."""
        pay(order=order, tool_call_id=runtime.tool_call_id if told_apart else None)
        return "done"

    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([refund]))
    builder.add_edge(START, "tools")
    graph = builder.compile(checkpointer=InMemorySaver())
    until_done(graph, run, {"messages": [calling("c1", "c2")]})
    assert len(world.calls) == calls


@pytest.mark.parametrize("how", ["retry policy", "tool retry", "tool errors handled"])
def test_an_effect_in_doubt_passes_through_everything_that_retries_and_handles(
    pay, world, run, how
):
    world.says = [unheard()]

    @langchain_tool
    def refund(order: str) -> str:
        """Refund an order."""
        pay(order=order)
        return "done"

    def node(state: State) -> State:
        pay(order="7")
        return {}

    if how == "retry policy":
        builder = StateGraph(State)
        builder.add_node("node", node, retry_policy=RetryPolicy(retry_on=Exception))
        builder.add_edge(START, "node")
        graph, given = builder.compile(checkpointer=InMemorySaver()), {"n": 0}
    elif how == "tool retry":
        model = Scripted(messages=iter([calling("c1"), AIMessage(content="bye")]))
        retry = ToolRetryMiddleware(max_retries=3, initial_delay=0.0)
        graph = create_agent(model, [refund], middleware=[retry], checkpointer=InMemorySaver())
        given = {"messages": [("user", "refund")]}
    else:
        builder = StateGraph(MessagesState)
        builder.add_node("tools", ToolNode([refund], handle_tool_errors=True))
        builder.add_edge(START, "tools")
        graph, given = builder.compile(checkpointer=InMemorySaver()), {"messages": [calling("c1")]}
    with pytest.raises(refusals.EffectInDoubt):
        until_done(graph, run, given)
    assert len(world.calls) == 1


def test_siblings_finish_when_one_branch_is_in_doubt(world, run, t):
    world.says = [unheard()]

    def bad(state: State) -> State:
        t.ledger(order="7")
        return {"out": ["bad"]}

    def good(state: State) -> State:
        return {"out": ["good"]}

    builder = StateGraph(State)
    for name, node in (("bad", bad), ("good", good)):
        builder.add_node(name, node)
        builder.add_edge(START, name)
    graph = builder.compile(checkpointer=InMemorySaver())
    with pytest.raises(refusals.EffectInDoubt):
        until_done(graph, run, {"n": 0})
    state = graph.get_state({"configurable": {"thread_id": str(run.pk)}})
    assert [each.name for each in state.tasks if each.result is None] == ["bad"]


def test_a_plain_node_function_outside_a_graph_has_no_authority(pay, world):
    with pytest.raises(errors.NoAuthority):
        pay(order="7")
    assert world.calls == []


def test_a_driver_alone_is_no_node(pay, world, driver: Driver):
    with authority.using(driver.authority), pytest.raises(errors.NoAuthority):
        pay(order="7")
    assert world.calls == []
