"""What becomes of exceptions: F31."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from langgraph.errors import GraphBubbleUp
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy

from ledger import status as ledger
from ledger import stops
from ledger.models import Effect
from runs import checkpoints, errors
from runs.status import Outcome, Park, Status
from tests.facts import alone, shop
from tests.runs.conftest import SHELL, answer, attempts, expire, finish, now, output
from tests.runs.test_leases import in_threads
from tests.support import graphs


def beside(name: str, other: Any) -> Any:
    """Two nodes side by side: a plain one, and the one given."""
    builder = StateGraph(graphs.State)
    builder.add_node(name, graphs.plain(name))
    builder.add_node("other", other)
    builder.add_edge(START, name)
    builder.add_edge(START, "other")
    return builder.compile()


flaky = beside("flaky", graphs.asking("gate"))


def raise_once() -> None:
    graphs.HOOKS.clear()
    raise ConnectionError("away")


# --- an error that is over ------------------------------------------------------------------------


def test_f31_a_tasks_error_stays_after_the_task_has_recovered(thread) -> None:
    it = thread(flaky)
    graphs.HOOKS["flaky"] = raise_once
    with pytest.raises(ConnectionError):
        it.call({})
    it.call(None)
    recovered = {task.name: task for task in it.state().tasks}["flaky"]
    assert recovered.result == {"log": ["flaky"]}
    assert "away" in str(recovered.error)


def test_f31_our_driver_goes_on_after_an_error_that_is_over(start, drive) -> None:
    run = start("flaky", graph=flaky)
    graphs.HOOKS["flaky"] = raise_once
    assert drive(run) is Outcome.RAISED
    assert drive(run) is Outcome.WAITED
    answer(run, "gate", "yes")
    assert finish(run, drive).output == {"log": ["flaky", ["gate", "yes"]]}
    assert attempts(run) == [("raised", "ConnectionError"), ("waited", ""), ("finished", "")]


# --- an error of the saver ------------------------------------------------------------------------


class Refusing(alone.Saver):
    """A saver that refuses the writes of the node `flaky`."""

    kind: type[Exception] = RuntimeError

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        if ("log", ["flaky"]) in writes:
            raise self.kind("from the saver")
        super().put_writes(config, writes, task_id, task_path)


def raising(_: graphs.State) -> graphs.State:
    raise ValueError("from the node")


@pytest.mark.parametrize(
    ("other", "kind", "told"),
    [
        (graphs.plain("other"), RuntimeError, "from the saver"),
        (raising, RuntimeError, "from the node"),
        (graphs.plain("other"), GraphBubbleUp, ""),
    ],
    ids=["as it is", "hidden by a node's error", "dropped"],
)
def test_f31_an_error_of_the_saver_may_be_hidden_or_dropped(thread, other, kind, told) -> None:
    saver = Refusing(checkpoints.pool())
    saver.kind = kind
    it = thread(beside("flaky", other), saver)
    try:
        it.call({})
        raised = ""
    except (RuntimeError, ValueError) as exc:
        raised = str(exc)
    assert raised == told


def test_f31_our_driver_notices_the_lost_lease_behind_an_error_of_a_node(start, drive) -> None:
    run = start("flaky", graph=beside("flaky", raising_second()))

    def take_over() -> None:
        graphs.HOOKS.clear()
        in_threads(1, lambda _: expire(run))
        assert in_threads(1, lambda _: drive(run, "w2")) == [Outcome.FINISHED]

    graphs.HOOKS["other"] = take_over
    assert drive(run) is None
    assert (now(run).status, now(run).error) == (Status.SUCCEEDED, "")
    assert attempts(run) == [("lost", ""), ("finished", "")]


def raising_second() -> Any:
    """A node that raises in the worker that got there first, after what its hook does."""
    times = iter(range(100))

    def node(_: graphs.State) -> graphs.State:
        first = next(times) == 0
        graphs.reach("other")
        if first:
            raise ValueError("from the node")
        return {"log": ["other"]}

    return node


def test_f31_our_driver_learns_of_a_lost_lease_by_an_error_that_is_not_dropped() -> None:
    assert not issubclass(errors.LeaseLost, GraphBubbleUp)


# --- stopping from inside -------------------------------------------------------------------------


class Stop(GraphBubbleUp):
    pass


def test_f31_a_bubble_raised_in_a_node_is_not_retried_and_stores_no_error(thread) -> None:
    runs: list[int] = []

    def node(_: graphs.State) -> graphs.State:
        runs.append(1)
        raise Stop

    builder: Any = StateGraph(graphs.State)
    again = RetryPolicy(retry_on=Exception, initial_interval=0.01, max_attempts=3)
    builder.add_node("stops", node, retry_policy=again)
    builder.add_node("quiet", graphs.plain("quiet"))
    builder.add_edge(START, "stops")
    builder.add_edge(START, "quiet")
    it = thread(builder.compile())
    with suppress(Stop):
        it.call({})
    tasks = {task.name: task for task in it.state().tasks}
    assert (runs, tasks["stops"].error, tasks["stops"].result) == ([1], None, None)
    assert tasks["quiet"].result == {"log": ["quiet"]}


def test_f31_our_driver_is_stopped_by_the_ledger_through_a_retry_policy(start, drive) -> None:
    run = start("stubborn", graph=shop.stubborn)
    made: list[Any] = []

    def stop() -> None:
        made.extend(
            in_threads(1, lambda _: stops.set("agent", "stubborn", actor=SHELL, reason="fire"))
        )

    graphs.HOOKS["second.before"] = stop
    assert drive(run) is Outcome.PARKED
    assert now(run).park_reason == Park.EMERGENCY_STOP
    assert graphs.visits(run.pk).count("second.before") == 1
    assert Effect.objects.filter(run=run, status__in=ledger.DONE).count() == 0

    graphs.HOOKS.clear()
    stops.lift(made[0].pk, actor=SHELL, reason="out")
    assert drive(run) is Outcome.FINISHED
    assert sorted(output(run)["log"]) == ["quiet", "second"]
    visits = graphs.visits(run.pk)
    assert (visits.count("quiet"), visits.count("paid.7")) == (1, 1)
