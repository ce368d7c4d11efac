"""Tool calls of agents: what was rejected does not run, and what was shown is what runs."""

from __future__ import annotations

from operator import add
from typing import Annotated, Any, ClassVar, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, hook_config
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from accounts.actors import Actor
from approvals import ask, decisions, replies, shapes
from approvals.electorate import gate_of
from approvals.models import Request
from tests.runs.conftest import now
from tests.scenarios.conftest import (
    decide,
    form,
    guarded,
    open_of,
    page_of,
    pay,
    signed_in,
    titles,
)


class State(TypedDict, total=False):
    log: Annotated[list[Any], add]


def alone(node: Any) -> Any:
    """A graph of this node."""
    return StateGraph(State).add_sequence([("node", node)]).add_edge(START, "node").compile()


# --- calls that a person allows one by one --------------------------------------------------------


class Model(BaseChatModel):
    """Pays two orders at once, then is content."""

    orders: ClassVar[tuple[str, ...]] = ("7", "8")

    @property
    def _llm_type(self) -> str:
        return "two payments"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        calls = [
            {"name": "pay_order", "args": {"order": order}, "id": order, "type": "tool_call"}
            for order in type(self).orders
        ]
        done = any(message.type == "tool" for message in messages)
        said = AIMessage("Done.") if done else AIMessage("", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def pay_order(order: str) -> str:
    """Pay an order."""
    pay(order=order, cents=100)
    return "paid"


class Hasty(AgentMiddleware):  # type: ignore[misc]  # LangChain's agents are not read by mypy
    """Sends the agent to its tools after every word of the model."""

    @hook_config(can_jump_to=["tools"])  # type: ignore[untyped-decorator]
    def after_model(self, state: Any, runtime: Any) -> Any:
        last = state["messages"][-1]
        return {"jump_to": "tools"} if getattr(last, "tool_calls", None) else None


def agent(*middleware: AgentMiddleware, does: Any = pay_order) -> Any:
    return create_agent(Model(), [does], middleware=middleware)


def under(graph: Any) -> Any:
    """A graph of which this one is a node."""
    return (
        StateGraph(MessagesState)
        .add_sequence([("agent", graph)])
        .add_edge(START, "agent")
        .compile()
    )


def asking(mode: Any = "batched") -> AgentMiddleware:
    return HumanInTheLoopMiddleware(interrupt_on={"pay_order": True}, interrupt_mode=mode)


@pytest.mark.parametrize("hasty", [False, True])
@pytest.mark.parametrize("rejected", ["7", "8"])
def test_of_two_calls_the_rejected_one_does_not_run(start, drive, ben, books, hasty, rejected):
    middleware = [Hasty(), asking()] if hasty else [asking()]  # the last one has the first word
    run = start("agent", {"messages": []}, graph=agent(*middleware))
    drive(run)
    request = open_of(run)
    calls = shapes.actions(replies.asked(request, gate_of(request)))
    chosen = {
        call.token: {"type": "reject", "message": "Not this one."}
        if call.args == {"order": rejected}
        else {"type": "approve"}
        for call in calls
    }
    assert len(chosen) == 2
    decisions.decide(
        request.pk,
        actor=Actor.person(ben, entry="page"),
        verdict="approved",
        value=chosen,
        comment="only one of them",
        seen_digest=request.digest,
        token="t",
    )
    drive(run)
    assert [each["order"] for each in books.paid] == [{"7": "8", "8": "7"}[rejected]]


@pytest.mark.parametrize("rejected", ["7", "8"])
def test_of_two_calls_asked_about_one_by_one_the_rejected_one_does_not_run(
    start, drive, ben, books, rejected
):
    run = start("agent", {"messages": []}, graph=agent(asking("per_call")))
    drive(run)
    requests = {each.payload["args"]["order"]: each for each in Request.objects.filter(run=run)}
    assert requests.keys() == {"7", "8"}
    for order, request in requests.items():
        decide(ben, request, "rejected" if order == rejected else "approved")
    drive(run)
    assert now(run).status == "succeeded"
    assert [each["order"] for each in books.paid] == [{"7": "8", "8": "7"}[rejected]]


@tool("pay_order")
def pay_permitted(order: str) -> str:
    """Pay an order, by an effect that needs a permit."""
    guarded(order=order, cents=100)
    return "paid"


def test_middleware_that_sends_the_agent_past_the_question_pays_nothing(start, drive, books):
    """In this order LangChain never asks. What an effect needs, no order of middleware gives."""
    run = start("agent", {"messages": []}, graph=agent(asking(), Hasty(), does=pay_permitted))
    drive(run)
    assert books.calls == []
    assert (now(run).status, now(run).park_reason) == ("parked", "permit_missing")


@pytest.mark.parametrize("below", [False, True])
def test_calls_that_would_ask_in_threads_of_one_node_are_refused_before_anybody_is_asked(
    start, drive, books, below
):
    """Jumped to, LangChain's tools run in threads of one node, and what was said to one call may
    reach another. Nobody could see it when it happens, so nobody is asked."""
    graph = agent(Hasty(), asking("per_call"))
    run = start("agent", {"messages": []}, graph=under(graph) if below else graph)
    drive(run)
    assert now(run).status == "failed"
    assert "several interrupts from threads of one node" in now(run).error
    assert not Request.objects.filter(run=run).exists()
    assert books.calls == []


def test_one_call_that_is_jumped_to_is_asked_about(start, drive, ben, books, monkeypatch):
    monkeypatch.setattr(Model, "orders", ("7",))
    run = start("agent", {"messages": []}, graph=agent(Hasty(), asking("per_call")))
    drive(run)
    decide(ben, open_of(run))
    drive(run)
    assert [each["order"] for each in books.paid] == ["7"]


# --- what was shown is what runs ------------------------------------------------------------------


def test_a_wrapper_that_rewrites_arguments_after_the_approval_pays_nothing(
    start, drive, ben, books
):
    """Currency, defaults, rounding: the effect itself is what must have been shown."""

    def wrapper(order: str, cents: int = 99) -> None:
        guarded(order=order, cents=cents + 1)

    def node(_: State) -> State:
        if ask("pay?", tool="scenario.guarded", args={"order": "7", "cents": 99}):
            wrapper("7")
        return {"log": []}

    run = start("asks", graph=alone(node))
    drive(run)
    decide(ben, open_of(run))
    drive(run)
    assert books.calls == []
    assert (now(run).status, now(run).park_reason) == ("parked", "permit_missing")


# --- questions of no form in particular -----------------------------------------------------------

DEEP: dict[str, Any] = {}
for _ in range(40):
    DEEP = {"a": DEEP}
PAYLOADS = {
    "text": "Go on?",
    "empty": "",
    "null": None,
    "list": [1, "two", {"three": None}],
    "no action_request": {"config": {"allow_accept": True}, "n": 1},
    "deep": DEEP,
    "large": {"text": "x" * 1_000_000},
    "nothing": {},
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_any_payload_can_be_read_approved_and_rejected_and_then_the_next(start, drive, ben, name):
    payload = PAYLOADS[name]

    def node(_: State) -> State:
        return {"log": [interrupt(payload), interrupt("and now?")]}

    run = start("asks", graph=alone(node))
    drive(run)
    client = signed_in(ben)
    request = open_of(run)
    sent = form(client, request, "approved")
    assert client.post(page_of(request), sent | {"read_all": "on"}).status_code == 302
    drive(run)
    assert titles(run) == ["and now?"]
    decide(ben, open_of(run), "rejected")
    drive(run)
    assert now(run).output == {"log": [True, False]}
    assert Request.objects.filter(run=run).count() == 2
