"""What tells one piece of work from another: F32."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.config import get_config
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Send

from ledger.models import Effect
from runs.status import Outcome
from tests.facts import shop
from tests.runs.conftest import output
from tests.support import graphs

SEEN: list[tuple[str, int, str]] = []
"""(place, step, task id) of every piece of work."""


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    SEEN.clear()


def see(place: str) -> None:
    info = get_runtime().execution_info
    assert info is not None
    SEEN.append((place, get_config()["metadata"]["langgraph_step"], info.task_id))


def steps(place: str) -> list[int]:
    return [step for seen, step, _ in SEEN if seen.startswith(place)]


def ids(place: str) -> list[str]:
    return [task_id for seen, _, task_id in SEEN if seen.startswith(place)]


def _sends() -> Any:
    def worker(state: graphs.State) -> graphs.State:
        see(f"send.{state['item']}")
        return {"log": [graphs.person(state["item"])]}

    builder = StateGraph(graphs.State)
    builder.add_node("worker", worker)
    builder.add_conditional_edges(
        START, lambda _: [Send("worker", {"item": "a"}), Send("worker", {"item": "b"})], ["worker"]
    )
    return builder.compile()


def _loop() -> Any:
    def again(state: graphs.State) -> graphs.State:
        see("loop")
        return {"count": state.get("count", 0) + 1}

    builder = StateGraph(graphs.State)
    builder.add_node("again", again)
    builder.add_edge(START, "again")
    builder.add_conditional_edges(
        "again", lambda state: "again" if state["count"] < 3 else END, ["again", END]
    )
    return builder.compile()


@task
def double(number: int) -> int:
    see(f"task.{number}")
    return number * 2


@entrypoint()
def calls(numbers: list[int]) -> list[int]:
    return [each.result() for each in [double(number) for number in numbers]]


def test_f32_sends_and_tasks_share_a_step_and_differ_in_their_task_id(thread) -> None:
    thread(_sends()).call({})
    thread(calls).call([1, 1])
    for place in ("send", "task"):
        assert len(set(steps(place))) == 1
        assert len(set(ids(place))) == 2


def test_f32_a_task_id_is_the_same_when_its_code_runs_again_and_another_per_visit(thread) -> None:
    it = thread(_sends())
    it.call({})
    it.call(None)
    it.resume({it.asked()["a"]: "A"})
    assert (len(ids("send.a")), len(set(ids("send.a")))) == (3, 1)
    thread(_loop()).call({})
    assert len(set(ids("loop"))) == 3


def test_f32_our_driver_lets_each_send_pay_once_also_when_one_of_them_runs_again(
    start, drive
) -> None:
    def raise_once() -> None:
        graphs.HOOKS.clear()
        raise ConnectionError("away")

    graphs.HOOKS["worker.a"] = raise_once
    run = start("counter", graph=shop.counter)
    assert drive(run) is Outcome.RAISED
    assert drive(run) is Outcome.FINISHED
    visits = graphs.visits(run.pk)
    assert (visits.count("worker.a"), visits.count("paid.7")) == (2, 2)
    keys = [each.idempotency_key for each in Effect.objects.filter(run=run)]
    assert len(set(keys)) == len(keys) == 2
    assert output(run)["log"] == ["spread", "a", "b"]
