"""The drive around the graph: versions, cancelling, draining, and no wake-up is ever lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypedDict

import pytest
from django.db import connection
from django.db.models.functions import Now
from langgraph.func import entrypoint
from langgraph.graph import START, StateGraph
from pydantic import BaseModel

from accounts.actors import Actor
from approvals.models import Request
from audit.models import Entry
from ledger import stops
from runs import (
    authority,
    controls,
    driver,
    errors,
    heads,
    heartbeat,
    leases,
    ports,
    registry,
    workers,
)
from runs import graphs as loaded
from runs.models import Run, Worker
from runs.status import Outcome, Park, Status
from tests.runs.conftest import (
    SHELL,
    answer,
    attempts,
    checkpoints_of,
    entries,
    expire,
    finish,
    now,
    output,
    wake,
)
from tests.runs.test_leases import in_threads
from tests.support import graphs


def offer(name: str, agents: dict[str, str], **more: Any) -> None:
    """A worker that is alive and offers these agents."""
    Worker.objects.create(name=name, hostname="h", pid=1, agents=agents, **more)


def forget_state(run: Run) -> None:
    with connection.cursor() as cursor:
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            cursor.execute(f"DELETE FROM {table} WHERE thread_id = %s", [str(run.pk)])  # noqa: S608


# --- the saved state and the graph ----------------------------------------------------------------


def test_a_run_whose_saved_state_is_gone_does_not_start_again(start, drive) -> None:
    run = start("ask")
    drive(run)
    forget_state(run)
    wake(run)
    assert drive(run) is Outcome.PARKED
    assert now(run).park_reason == Park.STATE_LOST
    assert graphs.visits(run.pk).count("before") == 1
    assert checkpoints_of(run) == []


def test_a_renamed_node_parks_the_run_instead_of_ending_it(start, drive, declare) -> None:
    run = start("ask")
    drive(run)
    answer(run, "gate", "yes")
    new = graphs.chain(before=graphs.plain("before"), renamed=graphs.asking("gate"))
    declare("ask", new)
    assert drive(run) is Outcome.PARKED
    assert (now(run).park_reason, now(run).park_detail) == (Park.GRAPH_CHANGED, "missing: gate")
    assert "gate.after" not in graphs.visits(run.pk)
    assert run.requests.get().decision.delivery == "recorded"

    declare("ask", graphs.chain(before=graphs.plain("before"), gate=graphs.asking("gate")))
    controls.force_resume(run.pk, actor=SHELL, reason="deployed the old graph")
    assert drive(run) is Outcome.FINISHED
    assert now(run).output == {"log": ["before", ["gate", "yes"]]}


def test_a_removed_node_that_was_to_run_next_parks_the_run(start, drive, declare) -> None:
    run = start("line")
    graphs.HOOKS["second"] = lambda: (_ for _ in ()).throw(ConnectionError("away"))
    drive(run)
    declare("line", graphs.chain(first=graphs.plain("first"), third=graphs.plain("third")))
    assert drive(run) is Outcome.PARKED
    assert (now(run).park_reason, now(run).park_detail) == (Park.GRAPH_CHANGED, "missing: second")


def test_a_renamed_node_of_a_subgraph_parks_the_run_instead_of_skipping_it(
    start, drive, declare
) -> None:
    run = start("nested")
    drive(run)
    answer(run, "q1", "yes")
    child = graphs.chain(inner=graphs.plain("inner"), renamed=graphs.asking("gate", "q1", "q2"))
    declare("nested", graphs.chain(before=graphs.plain("before"), child=child))
    assert drive(run) is Outcome.PARKED
    assert now(run).park_detail == "missing: child/gate"
    assert run.requests.get().decision.delivery == "recorded"


def test_a_renamed_entrypoint_parks_the_run_instead_of_starting_it_again(
    start, drive, declare
) -> None:
    @entrypoint()
    def renamed(given: dict[str, Any]) -> dict[str, Any]:
        graphs.reach("renamed")
        return given

    run = start("functional", {"number": 3})
    drive(run)
    answer(run, "6", "yes")
    declare("functional", renamed)
    assert drive(run) is Outcome.PARKED
    assert now(run).park_detail == "missing: functional"
    assert "renamed" not in graphs.visits(run.pk)


def test_a_state_that_this_graph_cannot_read_parks_the_run(start, drive, declare, caplog) -> None:
    class Old(TypedDict, total=False):
        name: str

    class New(BaseModel):
        name: int

    def of(schema: Any) -> Any:
        def node(_: Any) -> dict[str, Any]:
            graphs.reach("node")
            graphs.person("gate")
            return {}

        builder: Any = StateGraph(schema)
        builder.add_node("node", node)
        builder.add_edge(START, "node")
        return builder.compile()

    run = start("typed", {"name": "seven"}, graph=of(Old))
    drive(run)
    answer(run, "gate", "yes")
    declare("typed", of(New))
    assert drive(run) is Outcome.PARKED
    assert now(run).park_reason == Park.GRAPH_CHANGED
    assert "cannot be read: ValidationError" in now(run).park_detail
    assert graphs.visits(run.pk) == ["node"]


# --- versions -------------------------------------------------------------------------------------


def test_a_run_of_another_version_is_handed_to_a_worker_that_has_it(
    start, drive, declare, rung
) -> None:
    run = start("line")
    declare("line", version="2")
    offer("other", {"line": "1"})
    offer("draining", {"line": "1"}, draining=True)
    offer("gone", {"line": "1"}, seen_at=Now() - workers.alive_for())
    offer("newer", {"line": "2"})
    rung.clear()
    assert drive(run) is Outcome.RELEASED
    assert rung == [(run.pk, "handed on", "other")]
    assert now(run).status == Status.QUEUED
    assert graphs.visits(run.pk) == []


def test_a_run_that_everybody_hands_on_is_parked(start, drive, declare) -> None:
    """Such as one whose graph no worker can load any more, though each offers its version."""
    run = start("line")
    declare("line", version="2")
    offer("other", {"line": "1"})
    for _ in range(driver.HAND_ONS):
        assert drive(run) is Outcome.RELEASED
    assert drive(run) is Outcome.PARKED
    assert now(run).park_reason == Park.GRAPH_CHANGED
    assert now(run).park_detail == "10 workers in a row could not drive this run"


def test_a_run_of_another_version_that_nobody_has_is_parked(start, drive, declare) -> None:
    run = start("line")
    declare("line", version="2")
    assert drive(run) is Outcome.PARKED
    assert now(run).park_reason == Park.GRAPH_CHANGED


def test_a_version_that_is_declared_compatible_goes_on(start, drive, declare) -> None:
    run = start("ask")
    drive(run)
    answer(run, "gate", "yes")
    declare("ask", version="2", compatible_with=["1"])
    assert drive(run) is Outcome.FINISHED
    assert now(run).agent_version == "1"


def test_a_worker_that_does_not_know_the_agent_hands_the_run_on_or_parks_it(
    start, drive, settings
) -> None:
    run = start("line")
    settings.RUNS_AGENTS = []
    registry.declarations.cache_clear()
    loaded.load.cache_clear()
    offer("other", {"line": "1"})
    assert drive(run) is Outcome.RELEASED
    Worker.objects.all().delete()
    assert drive(run) is Outcome.PARKED
    assert "No agent is named 'line'" in now(run).park_detail


def test_a_cancelled_run_ends_even_where_nobody_knows_its_graph(start, drive, settings) -> None:
    run = start("line")
    settings.RUNS_AGENTS = []
    registry.declarations.cache_clear()
    loaded.load.cache_clear()
    controls.cancel(run.pk, actor=SHELL, reason="not needed")
    assert drive(run) is Outcome.CANCELLED


# --- cancelling -----------------------------------------------------------------------------------


def test_a_run_is_cancelled_at_its_next_step(start, drive) -> None:
    run = start("line")

    def cancel() -> None:
        controls.cancel(run.pk, actor=SHELL, reason="not needed")
        heartbeat.heart.beat()

    graphs.HOOKS["first"] = cancel
    assert drive(run) is Outcome.CANCELLED
    assert now(run).status == Status.CANCELLED
    assert graphs.visits(run.pk) == ["first"]
    assert entries(run) == ["run.started", "run.cancel_asked", "run.cancelled"]


def test_cancelling_during_the_last_step_wins_over_the_end(start, drive) -> None:
    run = start("line")
    graphs.HOOKS["third"] = lambda: controls.cancel(run.pk, actor=SHELL, reason="late")
    assert drive(run) is Outcome.CANCELLED


@pytest.mark.parametrize("resting", ["queued", "waiting", "parked"])
def test_a_run_that_rests_is_cancelled_when_somebody_looks(start, drive, resting) -> None:
    run = start("ask")
    if resting != "queued":
        drive(run)
    if resting == "parked":
        forget_state(run)
        wake(run)
        drive(run)
    assert now(run).status == resting
    controls.cancel(run.pk, actor=SHELL, reason="not needed")
    assert drive(run) is Outcome.CANCELLED
    assert not Request.objects.filter(run=run, status="pending").exists()


def test_a_decision_that_came_before_the_cancel_is_not_delivered(start, drive) -> None:
    run = start("ask")
    drive(run)
    answer(run, "gate", "yes")
    controls.cancel(run.pk, actor=SHELL, reason="not needed")
    assert drive(run) is Outcome.CANCELLED
    assert "gate.after" not in graphs.visits(run.pk)
    assert run.requests.get().decision.delivery == "not_delivered"


# --- draining -------------------------------------------------------------------------------------


def test_a_worker_that_is_to_stop_gives_its_run_back_at_the_next_step(
    start, drive, rung, monkeypatch
) -> None:
    run = start("line")
    mine = heartbeat.Heart()
    monkeypatch.setattr(driver, "heart", mine)
    graphs.HOOKS["first"] = mine.drain
    rung.clear()
    assert drive(run) is Outcome.DRAINED
    assert (now(run).status, graphs.visits(run.pk)) == (Status.QUEUED, ["first"])
    assert rung == [(run.pk, "handed on", "")]

    monkeypatch.setattr(driver, "heart", heartbeat.Heart())
    graphs.HOOKS.clear()
    assert drive(run) is Outcome.FINISHED
    assert graphs.visits(run.pk) == ["first", "second", "third"]
    assert attempts(run) == [("drained", ""), ("finished", "")]


def test_a_worker_that_is_to_stop_starts_nothing_new(start, drive, monkeypatch) -> None:
    run = start("line")
    mine = heartbeat.Heart()
    mine.drain()
    monkeypatch.setattr(driver, "heart", mine)
    assert drive(run) is Outcome.DRAINED
    assert graphs.visits(run.pk) == []


def test_being_drained_often_is_no_error_and_no_crash(start, drive, monkeypatch, settings) -> None:
    settings.RUNS_CRASH_LIMIT = settings.RUNS_TRIES = 2
    run = start("line")
    mine = heartbeat.Heart()
    mine.drain()
    monkeypatch.setattr(driver, "heart", mine)
    for _ in range(4):
        drive(run)
    monkeypatch.setattr(driver, "heart", heartbeat.Heart())
    assert drive(run) is Outcome.FINISHED


# --- emergency stop -------------------------------------------------------------------------------


def test_a_stop_parks_runs_and_lifting_it_sends_them_on(start, drive) -> None:
    run = start("ask")
    drive(run)
    answer(run, "gate", "yes")
    stop = stops.set("agent", "ask", actor=SHELL, reason="fire")
    assert drive(run) is Outcome.PARKED
    assert now(run).park_reason == Park.EMERGENCY_STOP
    assert "gate.after" not in graphs.visits(run.pk)
    stops.lift(stop.pk, actor=SHELL, reason="out")
    assert drive(run) is Outcome.FINISHED


# --- wake-ups -------------------------------------------------------------------------------------


def between(monkeypatch, act: Callable[[], object]) -> list[int]:
    """Do something once, after a driver has read the head and before it ends its drive."""
    looks: list[int] = []
    real_lock, real_look = leases.lock, leases.look

    def lock(lease: Any) -> int:
        if not looks:
            looks.append(1)
            with monkeypatch.context() as patch:
                patch.setattr(leases, "lock", real_lock)
                _elsewhere(act)
        return real_lock(lease)

    def look(lease: Any) -> leases.Look:
        if looks:
            looks.append(1)
        return real_look(lease)

    monkeypatch.setattr(leases, "lock", lock)
    monkeypatch.setattr(leases, "look", look)
    return looks


def _elsewhere(act: Callable[[], object]) -> None:
    """Run on a connection of its own, as another process would."""
    in_threads(1, lambda _: act())


ENDS: dict[str, tuple[str, Callable[[], None], Outcome]] = {
    "finish": ("line", lambda: None, Outcome.FINISHED),
    "wait": ("ask", lambda: None, Outcome.WAITED),
    "fail": ("line", lambda: graphs.HOOKS.update(first=_raise(ValueError)), Outcome.RAISED),
    "retry": ("line", lambda: graphs.HOOKS.update(first=_raise(ConnectionError)), Outcome.RAISED),
}


def _raise(kind: type[Exception]) -> Callable[[], None]:
    def hook() -> None:
        raise kind("x")

    return hook


@pytest.mark.race
@pytest.mark.parametrize("end", ENDS)
def test_a_wake_between_reading_the_head_and_the_end_makes_the_driver_look_again(
    start, drive, monkeypatch, end
) -> None:
    name, prepare, outcome = ENDS[end]
    prepare()
    run = start(name)
    looks = between(monkeypatch, lambda: wake(run))
    assert drive(run) is outcome
    assert looks == [1, 1]
    assert now(run).seen_wakes == now(run).wakes == 1


@pytest.mark.race
@pytest.mark.parametrize("name", ["line", "ask"])
def test_a_cancel_between_reading_the_head_and_the_end_counts(
    start, drive, monkeypatch, name
) -> None:
    run = start(name)
    between(monkeypatch, lambda: controls.cancel(run.pk, actor=SHELL, reason="now"))
    assert drive(run) is Outcome.CANCELLED


@pytest.mark.race
def test_a_decision_made_while_another_branch_runs_is_not_lost(start, drive) -> None:
    run = start("parallel")
    drive(run)
    answer(run, "left", "L")
    graphs.HOOKS["left.after"] = lambda: _elsewhere(lambda: answer(run, "right", "R"))
    assert drive(run) is Outcome.FINISHED
    assert {("left", "L"), ("right", "R")} <= {
        tuple(each) for each in output(run)["log"] if isinstance(each, list)
    }


# --- questions that change ------------------------------------------------------------------------


def changing(question: Callable[[], str]) -> Any:
    def node(_: Any) -> dict[str, Any]:
        asked = question()
        return {"log": [asked, graphs.person(asked)]}

    return graphs.chain(gate=node)


def test_an_answer_to_a_question_that_reads_differently_now_is_not_used(
    start, drive, monkeypatch
) -> None:
    """Its node runs again, so LangGraph is handed the answer, and the node notices."""
    words = iter(["10", "10000", "10000", "10000", "10000"])
    run = start("changing", graph=changing(lambda: next(words)))
    drive(run)
    answer(run, "10", "yes")
    drive(run)
    assert now(run).status in (Status.PARKED, Status.FAILED)
    assert "10000" not in str(now(run).output)


# --- a bad answer ---------------------------------------------------------------------------------


def test_a_bad_answer_is_parked_and_asked_again_without_running_siblings_again(
    start, drive
) -> None:
    run = start("picky")
    drive(run)
    answer(run, "a number", "many")
    assert drive(run) is Outcome.PARKED
    assert now(run).park_reason == Park.BAD_ANSWER
    assert "'many' is not a number" in now(run).park_detail

    controls.retry(run.pk, actor=SHELL, reason="perhaps")
    assert drive(run) is Outcome.PARKED
    controls.ask_again(run.pk, actor=SHELL, reason="a typing error")
    assert drive(run) is Outcome.WAITED
    assert not now(run).ask_again
    answer(run, "a number", 7)
    assert drive(run) is Outcome.FINISHED
    assert now(run).output == {"log": ["before", ["picky", 7], "after"]}
    assert graphs.visits(run.pk).count("before") == 1
    first, second = run.requests.order_by("round")
    assert (first.decision.delivery, second.decision.delivery) == ("not_delivered", "took_effect")
    assert (first.interrupt_id, first.askers) == (second.interrupt_id, second.askers)


def test_asking_again_is_refused_unless_the_run_is_parked_for_it(start, drive) -> None:
    run = start("picky")
    drive(run)
    with pytest.raises(errors.NothingToDo):
        controls.ask_again(run.pk, actor=SHELL, reason="why not")
    assert entries(run)[-1] == "run.ask_again_refused"


@pytest.mark.parametrize("killed_at", ["forget", "after"])
def test_asking_again_survives_a_death_between_its_two_halves(
    start, drive, monkeypatch, killed_at
) -> None:
    run = start("picky")
    drive(run)
    answer(run, "a number", "many")
    drive(run)
    controls.ask_again(run.pk, actor=SHELL, reason="a typing error")

    class Killed(BaseException):
        pass

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        if killed_at == "forget":
            patch.setattr(heads, "forget", die)
        else:
            patch.setattr(type(ports.approvals()), "forget", die)
        with pytest.raises(Killed):
            drive(run)
    expire(run)
    assert drive(run) is Outcome.WAITED
    answer(run, "a number", 7)
    assert finish(run, drive).output == {"log": ["before", ["picky", 7], "after"]}


# --- who drove ------------------------------------------------------------------------------------


def test_whoever_ends_a_run_is_named_in_the_log(start, drive) -> None:
    run = start("line")
    drive(run, holder="worker-7:42")
    entry = Entry.objects.get(run_id=run.pk, verb="run.finished")
    assert (entry.actor_kind, entry.actor_label) == ("system", "worker-7:42")
    assert Actor.system("worker-7:42").label == entry.actor_label


def test_a_lease_is_given_back_with_the_heart_forgetting_it(start, drive, monkeypatch) -> None:
    mine = heartbeat.Heart()
    monkeypatch.setattr(driver, "heart", mine)
    seen: list[tuple[object, int]] = []
    graphs.HOOKS["second"] = lambda: seen.extend(mine.watched)
    run = start("line")
    drive(run)
    assert seen == [(run.pk, 1)]
    assert mine.watched == {}
    assert leases.live_holder(run.pk) == ""


def test_the_deadline_of_an_authority_lies_before_the_end_of_its_lease(
    start, drive, settings
) -> None:
    settings.RUNS_LEASE, settings.RUNS_LEASE_MARGIN = timedelta(seconds=30), timedelta(seconds=3)
    left = []

    def look() -> None:
        mine = authority.current()
        assert mine is not None
        left.append(mine.deadline - time.monotonic())

    graphs.HOOKS["first"] = look
    drive(start("line"))
    assert 20 < left[0] <= 27
