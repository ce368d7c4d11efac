"""Effects as tools of LangChain agents: what the model sees, and what it is told."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast
from uuid import uuid4

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command
from pydantic import BaseModel

import approvals
from audit.canonical import digest, fingerprint
from ledger import errors, refusals
from ledger.agent_tools import as_tool
from ledger.models import Effect, Idempotency
from ledger.outcomes import Outcome
from ledger.tools import effect, reads
from runs import authority
from tests.ledger.conftest import SomePermits, effect_of, take_over
from tests.ledger.provider import Provider, http, returns, unheard
from tests.ledger.test_graphs import Once, Scripted, calling, until_done

pytestmark = pytest.mark.usefixtures("real_steps")
BYE = AIMessage(content="bye")


@pytest.fixture
def refund(world: Provider):
    def refund(order: str, amount: int = 10, *, idempotency_key: str) -> object:
        """Refund an order."""
        return world.call(idempotency_key, order, amount=amount)

    return effect("t.refund", idempotency=Idempotency.LEDGER)(refund)


@pytest.fixture
def arefund(world: Provider):
    async def arefund(order: str, *, idempotency_key: str) -> object:
        """Refund an order."""
        return world.call(idempotency_key, order)

    return effect("t.arefund", idempotency=Idempotency.LEDGER)(arefund)


def agent(tool: Any, *says: AIMessage, **options: Any) -> Any:
    model = Scripted(messages=iter([*says, BYE]))
    return create_agent(model, [tool], checkpointer=InMemorySaver(), **options)


def told(run: Any, tool: Any, *says: AIMessage) -> list[ToolMessage]:
    """What the tools of an agent have told its model."""
    end = until_done(agent(tool, *says), run, {"messages": [("user", "refund")]})
    return [each for each in end["messages"] if isinstance(each, ToolMessage)]


def test_the_model_sees_the_arguments_and_nothing_of_the_ledger(refund):
    tool = as_tool(refund)
    schema = cast(type[BaseModel], tool.tool_call_schema).model_json_schema()
    assert set(schema["properties"]) == {"order", "amount"}
    assert schema["required"] == ["order"]
    assert (tool.name, tool.description) == ("refund", "Refund an order.")
    assert as_tool(refund, name="pay_back", description="Pay it back.").name == "pay_back"


def test_the_result_is_told_as_it_is_stored(refund, run, world):
    (message,) = told(run, as_tool(refund), calling("c1"))
    assert json.loads(str(message.content)) == {"id": "re_0", "order": "same"}
    assert (message.status, message.tool_call_id) == ("success", "c1")
    assert effect_of(run).args == {"order": "same", "amount": 10}


def test_each_tool_call_is_an_effect_of_its_own_and_stays_so(refund, run, world, monkeypatch):
    crash = Once(most=2)
    real = as_tool(refund)
    perform = real.func
    assert perform is not None

    def crashing(**given: Any) -> str:
        words: str = perform(**given)
        crash(f"call {len(crash.reached)}")
        return words

    crashing.__signature__ = perform.__signature__  # type: ignore[attr-defined]
    crashing.__annotations__ = perform.__annotations__
    monkeypatch.setattr(real, "func", crashing)
    assert len(told(run, real, calling("c1", "c2"))) == 2
    assert len(crash.reached) == 2
    assert len(world.calls) == 2


def test_tool_calls_that_share_a_task_are_told_apart(refund, run, world):
    builder = StateGraph(MessagesState)
    builder.add_node("tools", ToolNode([as_tool(refund)]))
    builder.add_edge(START, "tools")
    graph = builder.compile(checkpointer=InMemorySaver())
    until_done(graph, run, {"messages": [calling("c1", "c2")]})
    assert len(world.calls) == 2
    steps = Effect.objects.values_list("step", flat=True)
    assert {step.split("/")[1] for step in steps} == {"c1", "c2"}


def test_a_refusal_is_an_error_message_and_the_model_may_try_another(refund, run, world):
    world.says = [http(402, {"error": "declined"})]
    first, second = told(run, as_tool(refund), calling("c1"), calling("c2", order="other"))
    assert (first.status, second.status) == ("error", "success")
    assert "nothing happened" in str(first.content)
    assert "declined" in str(first.content)


def test_arguments_that_cannot_be_kept_are_an_error_message(run, world):
    def pay(amount: int, *, idempotency_key: str) -> object:
        """Pay."""
        return world.call(idempotency_key, "7", amount=amount)

    tool = as_tool(effect("t.pay_int", idempotency=Idempotency.LEDGER)(pay))
    says = AIMessage("", tool_calls=[{"name": "pay", "args": {"amount": 2**60}, "id": "c1"}])
    (message,) = told(run, tool, says)
    assert message.status == "error"
    assert "as text" in str(message.content)
    assert world.calls == []


def test_a_result_that_was_not_kept_is_no_error(refund, run, world):
    """An error would have the model do it again, under another id."""
    world.says = [returns(Outcome.success("re_9", "x" * 100_000))]
    (message,) = told(run, as_tool(refund), calling("c1"))
    assert message.status == "success"
    assert "re_9" in str(message.content)
    assert "Do not do it again" in str(message.content)


def test_a_doubt_stops_the_run_and_the_model_never_hears_of_it(refund, run, world):
    world.says = [unheard()]
    graph = agent(as_tool(refund), calling("c1"))
    with pytest.raises(refusals.EffectInDoubt):
        until_done(graph, run, {"messages": [("user", "refund")]})
    state = graph.get_state({"configurable": {"thread_id": str(run.pk)}})
    assert not any(isinstance(each, ToolMessage) for each in state.values["messages"])


@pytest.mark.parametrize("kind", ["plain", "coroutine"])
def test_tools_of_both_kinds_work_in_an_async_agent(refund, arefund, run, world, kind):
    tool = as_tool(arefund if kind == "coroutine" else refund)
    name = tool.name
    says = AIMessage("", tool_calls=[{"name": name, "args": {"order": "7"}, "id": "c1"}])
    config: Any = {"configurable": {"thread_id": str(run.pk)}}
    driver = take_over(run)

    async def drive() -> Any:
        with authority.using(driver.authority):
            given: Any = {"messages": [("user", "refund")]}
            return await agent(tool, says).ainvoke(given, config, durability="sync")

    end = asyncio.run(drive())
    assert json.loads(end["messages"][-2].content)["order"] == "7"
    assert len(world.calls) == 1
    assert effect_of(run).step.endswith("/c1")


def test_arguments_that_are_models_are_kept_as_json(run, world):
    class Line(BaseModel):
        sku: str
        count: int

    def order(lines: list[Line], *, idempotency_key: str) -> object:
        """Order."""
        return world.call(idempotency_key, str(lines))

    order.__annotations__["lines"] = list[Line]
    tool = as_tool(effect("t.order", idempotency=Idempotency.LEDGER)(order))
    args = {"lines": [{"sku": "a", "count": 2}]}
    (message,) = told(
        run, tool, AIMessage("", tool_calls=[{"name": "order", "args": args, "id": "c"}])
    )
    assert message.status == "success"
    assert effect_of(run).args == args


def test_only_declared_effects_with_words_for_the_model_become_tools(world):
    def silent(order: str, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order)

    with pytest.raises(errors.NotAnEffect, match="docstring"):
        as_tool(effect("t.silent", idempotency=Idempotency.LEDGER)(silent))
    with pytest.raises(errors.NotAnEffect, match="@effect"):
        as_tool(silent)  # type: ignore[arg-type]
    with pytest.raises(errors.NotAnEffect, match="@effect"):
        as_tool(reads("t.silent_read")(lambda order: order))  # type: ignore[arg-type]


# --- people --------------------------------------------------------------------------------------


def ask_first(run: Any, graph: Any) -> Any:
    """Drive to the question, and return it."""
    config: Any = {"configurable": {"thread_id": str(run.pk)}}
    until_done(graph, run, {"messages": [("user", "refund")]})
    (pending,) = graph.get_state(config).interrupts
    return pending


@pytest.mark.parametrize("verdict", ["approve", "edit", "reject"])
def test_the_middleware_asks_before_an_effect_and_what_was_edited_is_done(
    refund, run, world, verdict
):
    middleware = HumanInTheLoopMiddleware(interrupt_on={"refund": True})
    graph = agent(as_tool(refund), calling("c1"), middleware=[middleware])
    pending = ask_first(run, graph)
    assert world.calls == []
    decision: dict[str, object] = {"type": verdict}
    if verdict == "edit":
        decision["edited_action"] = {"name": "refund", "args": {"order": "other"}}
    end = until_done(graph, run, Command(resume={pending.id: {"decisions": [decision]}}))
    orders = {"approve": ["same"], "edit": ["other"], "reject": []}[verdict]
    assert [each["order"] for each in world.seen] == orders
    assert end["messages"][-1].content == "bye"


@pytest.fixture
def permitted(world: Provider):
    def permitted(order: str, *, idempotency_key: str) -> object:
        """Refund an order."""
        return world.call(idempotency_key, order)

    return effect("t.permitted", idempotency=Idempotency.LEDGER, permit=True)(permitted)


def asking(permitted: Any) -> Any:
    says = AIMessage("", tool_calls=[{"name": "permitted", "args": {"order": "7"}, "id": "c1"}])
    return agent(as_tool(permitted, asks=approvals.asks("Refund order {order}?")), says)


def answer(pending: Any, decision: str, **more: object) -> Command[Any]:
    said = {"decision": decision, "comment": "", "by": "Ben", "digest": fingerprint(pending.value)}
    return Command(resume={pending.id: said | more})


def test_a_tool_that_asks_earns_the_permit_of_its_effect(permitted, run, world):
    graph = asking(permitted)
    pending = ask_first(run, graph)
    assert pending.value["question"] == "Refund order 7?"
    assert pending.value["tool"] == "t.permitted"
    with pytest.raises(refusals.PermitMissing):  # the answer alone is not enough
        until_done(graph, run, answer(pending, "approved"))
    described = permitted.describe(order="7")
    from_people = {(described["tool"], digest(described["args"])): [uuid4()]}
    SomePermits.approved = from_people
    until_done(graph, run, answer(pending, "approved"))
    assert [each["order"] for each in world.seen] == ["7"]


def test_a_tool_that_asks_calls_with_what_people_changed(permitted, run, world):
    graph = asking(permitted)
    pending = ask_first(run, graph)
    SomePermits.approved = {("t.permitted", digest({"order": "8"})): [uuid4()]}
    until_done(graph, run, answer(pending, "approved", args={"order": "8"}))
    assert [each["order"] for each in world.seen] == ["8"]


@pytest.mark.parametrize(
    ("decision", "words"), [("rejected", "Ben did not allow it: Not him."), ("expired", "in time")]
)
def test_the_model_is_told_who_did_not_allow_it(permitted, run, world, decision, words):
    graph = asking(permitted)
    pending = ask_first(run, graph)
    end = until_done(graph, run, answer(pending, decision, comment="Not him."))
    message = end["messages"][-2]
    assert (message.status, words in message.content) == ("error", True)
    assert world.calls == []
