"""Effects of coroutines: shielded from cancellation, and never on the event loop's connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph

import ledger
from ledger import refusals
from ledger.models import Idempotency
from ledger.outcomes import Outcome
from ledger.tools import effect
from runs import authority
from runs.models import Lease
from tests.ledger.conftest import STEP, effect_of, outcomes_of, pass_time, take_over
from tests.ledger.provider import raises, unheard
from tests.ledger.test_graphs import State


@pytest.fixture
def hold() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture
def apay(world, hold):
    """Calls like the others; an order called "slow" waits to be let go."""

    async def apay(order: str, *, idempotency_key: str) -> object:
        if order == "slow":
            world.calls.append(idempotency_key)
            await hold.wait()
            return world.perform(idempotency_key, order)
        return world.call(idempotency_key, order)

    return effect("t.apay", idempotency=Idempotency.LEDGER, timeout=timedelta(seconds=3))(apay)


def drive(driver, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return driver(lambda: asyncio.run(work()))


def test_a_coroutine_is_performed_once(apay, world, driver, run):
    async def node() -> list[object]:
        return [await apay(order="7"), await apay("7")]

    assert drive(driver, node) == [{"id": "re_0", "order": "7"}] * 2
    assert len(world.calls) == 1
    assert effect_of(run).status == "sent"


def test_many_at_once_make_one_call(apay, world, driver, run, hold):
    async def node() -> list[object]:
        works = [asyncio.ensure_future(apay(order="slow")) for _ in range(20)]
        await asyncio.sleep(0.3)
        hold.set()
        return await asyncio.gather(*works)

    assert drive(driver, node) == [{"id": "re_0", "order": "slow"}] * 20
    assert len(world.calls) == 1


def test_a_cancelled_node_waits_for_its_call_and_records_it(apay, world, driver, run, hold):
    async def node() -> None:
        work = asyncio.ensure_future(apay(order="slow"))
        while not world.calls:
            await asyncio.sleep(0.01)
        work.cancel()
        await asyncio.sleep(0.1)
        work.cancel()
        assert not work.done()
        hold.set()
        await work

    with pytest.raises(asyncio.CancelledError):
        drive(driver, node)
    assert (effect_of(run).status, outcomes_of(effect_of(run))) == ("sent", ["succeeded"])
    assert len(world.happened) == 1


@pytest.mark.parametrize("after", [0.0, 0.002, 0.005, 0.01, 0.02, 0.05])
def test_a_node_cancelled_at_any_moment_leaves_no_call_open(apay, world, driver, run, after):
    async def node() -> None:
        work = asyncio.ensure_future(apay(order="7"))
        await asyncio.sleep(after)
        work.cancel()
        await asyncio.wait({work})

    drive(driver, node)
    found = list(effect_of_all(run))
    assert all(outcomes_of(each) in (["succeeded"], ["absent"]) for each in found)
    happened = sum(each.status == "sent" for each in found)
    assert len(world.happened) == happened
    drive(driver, lambda: apay(order="7"))
    assert len(world.happened) == 1


def effect_of_all(run):
    return run.effects.all()


def test_an_event_loop_that_is_shut_down_leaves_a_doubt_not_an_open_call(
    apay, world, driver, run, hold
):
    async def node() -> None:
        asyncio.ensure_future(apay(order="slow"))  # noqa: RUF006 (left alone on purpose)
        while not world.calls:
            await asyncio.sleep(0.01)

    drive(driver, node)
    assert outcomes_of(effect_of(run)) == ["unknown"]
    assert effect_of(run).status == "in_doubt"


def test_a_coroutine_that_takes_too_long_is_cancelled_and_unknown(world, driver, run):
    ended: list[str] = []

    async def slow(*, idempotency_key: str) -> Outcome:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return Outcome.success("r")

    tool = effect("t.aslow", idempotency=Idempotency.LEDGER, timeout=timedelta(seconds=0.2))(slow)
    with pytest.raises(refusals.EffectInDoubt, match="no answer within"):
        drive(driver, tool)
    assert ended == ["cancelled"]
    assert outcomes_of(effect_of(run)) == ["unknown"]


def test_last_words_of_a_cancelled_coroutine_are_heard(driver, run):
    async def stubborn(*, idempotency_key: str) -> Outcome:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            return Outcome.success("re_just", "just in time")
        return Outcome.unknown("never")

    tool = effect("t.words", idempotency=Idempotency.LEDGER, timeout=timedelta(seconds=0.2))(
        stubborn
    )
    assert drive(driver, tool) == "just in time"


def test_unknown_ends_of_coroutines_are_in_doubt(apay, world, driver, run):
    for say in (unheard(), raises(asyncio.CancelledError())):
        world.says = [say]
        with pytest.raises(refusals.EffectInDoubt):
            drive(driver, lambda: apay(order="7"))
    assert len(world.calls) == 1


def test_a_coroutine_can_wait_for_what_a_plain_effect_left_open(t, apay, world, driver, run):
    world.says = [world.happens_unheard()]
    world.finds = [lambda: None]
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.lookup(order="7"))
    with pytest.raises(refusals.LookAgainLater):
        drive(driver, lambda: apay(order="8"))
    assert len(world.calls) == 1


def test_a_plain_effect_resolves_what_a_coroutine_left_open(t, world, driver, run):
    async def akept(order: str, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order)

    tool = effect("t.akept", idempotency=Idempotency.PROVIDER, window=timedelta(hours=1))(akept)
    world.says = [unheard()] * 3
    with pytest.raises(refusals.LookAgainLater):
        drive(driver, lambda: tool(order="7"))
    pass_time(run, timedelta(minutes=1))
    take_over(run)(lambda: t.ledger(order="8"))
    assert [order for _, order in world.happened] == ["7", "8"]


def test_in_a_graph_that_is_driven_asynchronously(apay, world, run):
    async def node(state: State) -> State:
        await ledger.aprogress("paying")
        return {"out": [await apay(order="7")]}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    graph = builder.compile(checkpointer=InMemorySaver())
    token = STEP.set("real")
    driver = take_over(run)

    async def main() -> Any:
        return await graph.ainvoke({"n": 0}, {"configurable": {"thread_id": str(run.pk)}})

    try:
        with authority.using(driver.authority):
            state = asyncio.run(main())
    finally:
        STEP.reset(token)
    assert state["out"] == [{"id": "re_0", "order": "7"}]
    assert effect_of(run).step.startswith("node@")
    assert Lease.objects.get(pk=run.pk).progress_note == "paying"
