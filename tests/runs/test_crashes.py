"""Workers die anywhere, and the run goes on where it was; one that kills them is parked."""

from __future__ import annotations

import signal
from datetime import timedelta

import pytest
from django.db import connection

from runs import controls, errors, killpoints, status
from runs.models import Attempt, Run
from tests.runs.conftest import SHELL, answer, attempts, checkpoints_of, expire, finish, now, wake
from tests.support import approver, child, graphs
from tests.support.processes import until, worker

LOST = ("lost", "")


def killed(run: Run, place: str, nth: int = 1) -> None:
    """Drive in another process, which is killed the n-th time it reaches the place."""
    with worker(child.drive_until, run.pk, place, nth) as doomed:
        doomed.frozen()
        doomed.send(signal.SIGKILL)
        doomed.process.join(10)
    expire(run)


BEFORE_THE_FIRST_CHECKPOINT = ["driver.taken", "driver.before_call", "saver.put", "saver.pipeline"]


@pytest.mark.parametrize("place", BEFORE_THE_FIRST_CHECKPOINT)
def test_killed_before_the_first_checkpoint_a_run_starts_from_its_input(
    start, drive, place
) -> None:
    run = start("fan", {"items": ["a"]})
    killed(run, place)
    assert checkpoints_of(run) == []
    run = finish(run, drive, a="A")
    assert run.output == {"items": ["a"], "log": ["spread", ["a", "A"], "join"]}
    assert graphs.visits(run.pk).count("spread") == 1
    assert attempts(run)[0] == LOST
    assert Attempt.objects.get(run=run, fence=1).head == "start"


PLACES = [
    *(("saver.put", nth) for nth in (2, 3, 4)),
    *(("saver.put_writes", nth) for nth in (1, 2, 3)),
    *(("saver.wrote", nth) for nth in (1, 2, 3)),
    ("first", 1),
    ("third", 1),
    ("driver.before_read", 1),
]


@pytest.mark.parametrize(("place", "nth"), PLACES)
def test_killed_anywhere_a_run_goes_on_and_skips_nothing(start, drive, place, nth) -> None:
    run = start("line")
    killed(run, place, nth)
    assert drive(run) is status.Outcome.FINISHED
    assert now(run).output == {"log": ["first", "second", "third"]}
    visits = graphs.visits(run.pk)
    assert list(dict.fromkeys(visits)) == ["first", "second", "third"]
    assert len(visits) <= 4, "one kill repeats at most one node"
    assert attempts(run) == [LOST, ("finished", "")]


@pytest.mark.parametrize("place", ["driver.handed_over", "gate.after", "saver.put_writes"])
def test_killed_while_an_answer_is_delivered_it_is_delivered_again(start, drive, place) -> None:
    run = start("ask")
    drive(run)
    answer(run, "gate", "yes")
    killed(run, place)
    assert drive(run) is status.Outcome.FINISHED
    assert now(run).output == {"log": ["before", ["gate", "yes"], "after"]}
    assert run.requests.count() == 1
    decision = run.requests.get().decision
    assert (decision.delivery, decision.deliveries) == ("took_effect", 2)


@pytest.mark.parametrize("nth", [1, 2])
def test_an_answer_that_only_a_graph_built_by_a_node_has_taken_is_not_given_to_its_next_question(
    start, drive, nth
) -> None:
    """Killed when the inner graph has asked its next question and the outer has not noted it."""
    run = start("hidden")
    drive(run)
    approver.answer(run.pk, "q1", verdict="approved")
    killed(run, "saver.wrote", nth)
    assert drive(run) is status.Outcome.WAITED
    approver.answer(run.pk, "q2", verdict="rejected")
    assert drive(run) is status.Outcome.FINISHED
    assert now(run).output == {"log": [[True, False], "after"]}


# --- a run that kills its workers -----------------------------------------------------------------


@pytest.fixture
def limit(settings) -> int:
    settings.RUNS_CRASH_LIMIT = 3
    return 3


@pytest.mark.parametrize("place", ["second", "driver.taken"])
def test_a_run_that_kills_every_worker_is_parked(start, drive, limit, place) -> None:
    run = start("line")
    for _ in range(limit):
        killed(run, place)
    assert drive(run) is status.Outcome.PARKED
    assert now(run).park_reason == status.Park.CRASH_LOOP
    assert drive(run) is None


def test_a_run_whose_saved_state_kills_whoever_reads_it_is_parked(start, drive, limit) -> None:
    run = start("line")
    killed(run, "second")
    for _ in range(limit - 1):
        killed(run, "driver.before_read")
    read = []
    killpoints.install(lambda place, _: read.append(place) if "read" in place else None)
    assert drive(run) is status.Outcome.PARKED
    assert read == [], "whoever parks it must not be killed as well"
    assert now(run).park_reason == status.Park.CRASH_LOOP
    controls.retry(run.pk, actor=SHELL, reason="more memory")
    assert drive(run) is status.Outcome.FINISHED


def test_a_worker_lost_before_it_could_look_counts_along_with_the_others(
    start, drive, limit
) -> None:
    run = start("line")
    for place in ("second", "driver.taken", "second"):
        killed(run, place)
    assert Attempt.objects.get(run=run, fence=1).head == ""
    assert drive(run) is status.Outcome.PARKED


def test_a_run_that_kills_workers_before_it_has_begun_is_parked(start, drive, limit) -> None:
    run = start("line")
    for _ in range(limit):
        killed(run, "driver.before_call")
    assert drive(run) is status.Outcome.PARKED
    assert now(run).park_reason == status.Park.CRASH_LOOP


def test_what_wakes_a_parked_run_does_not_forgive_it_but_an_operator_does(
    start, drive, limit
) -> None:
    run = start("line")
    for _ in range(limit):
        killed(run, "first")
    drive(run)
    wake(run)
    assert drive(run) is status.Outcome.PARKED
    controls.retry(run.pk, actor=SHELL, reason="more memory")
    assert drive(run) is status.Outcome.FINISHED


def test_workers_lost_at_different_places_are_no_crash_loop(start, drive, limit) -> None:
    run = start("line")
    for place in ("first", "second", "third"):
        killed(run, place)
    assert drive(run) is status.Outcome.FINISHED


def test_a_worker_lost_before_the_start_does_not_count_against_a_later_place(
    start, drive, limit
) -> None:
    run = start("line")
    killed(run, "driver.before_call")
    killed(run, "second")
    assert [attempt.head for attempt in run.attempts.order_by("fence")] == ["start", ""]
    assert drive(run) is status.Outcome.FINISHED


# --- zombies --------------------------------------------------------------------------------------


@pytest.mark.race
@pytest.mark.parametrize(
    "place", ["gate.before", "saver.put", "saver.put_writes", "driver.before_call"]
)
def test_a_worker_that_wakes_up_late_changes_nothing(start, drive, place) -> None:
    run = start("ask")
    short = timedelta(seconds=1)
    with worker(child.drive_until, run.pk, place, RUNS_LEASE=short) as late:
        late.frozen()
        expire(run)
        finish(run, drive, gate="yes")
        saved, ended = checkpoints_of(run), now(run)
        late.send(signal.SIGCONT)
        assert late.result() == ""
    assert checkpoints_of(run) == saved
    assert now(run) == ended
    assert now(run).updated_at == ended.updated_at
    assert attempts(run) == [LOST, ("waited", ""), ("finished", "")]


def test_a_driver_whose_run_was_taken_over_while_a_node_ran_says_nothing(start, drive) -> None:
    run = start("line")
    taken = []

    def take_over() -> None:
        expire(run)
        graphs.HOOKS.clear()
        taken.append(drive(run, "w2"))

    graphs.HOOKS["second"] = take_over
    assert drive(run) is None
    assert taken == [status.Outcome.FINISHED]
    assert now(run).status == status.Status.SUCCEEDED
    assert attempts(run) == [LOST, ("finished", "")]


def test_an_error_of_a_node_does_not_hide_that_the_lease_was_lost(start, drive) -> None:
    run = start("line")

    def take_over_and_raise() -> None:
        expire(run)
        graphs.HOOKS.clear()
        drive(run, "w2")
        raise ValueError("mine")

    graphs.HOOKS["second"] = take_over_and_raise
    assert drive(run) is None
    assert (now(run).status, now(run).error) == (status.Status.SUCCEEDED, "")


def test_a_lease_that_ran_out_is_lost_although_nobody_has_taken_it(start, drive) -> None:
    run = start("line")
    graphs.HOOKS["third"] = lambda: expire(run)
    assert drive(run) is None
    assert now(run).status == status.Status.RUNNING
    assert drive(run) is status.Outcome.FINISHED
    assert errors.LeaseLost.__name__ not in now(run).error


def test_writes_saved_before_their_checkpoint_are_no_state_that_was_lost(start, drive) -> None:
    """LangGraph saves the input's writes at the same time as its checkpoint."""
    run = start("line")
    with worker(child.drive_with_slow_put, run.pk) as doomed:
        until(lambda: writes_of(run))
        doomed.send(signal.SIGKILL)
        doomed.process.join(10)
    expire(run)
    assert checkpoints_of(run) == []
    assert drive(run) is status.Outcome.FINISHED


def writes_of(run: Run) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM checkpoint_writes WHERE thread_id = %s", [str(run.pk)])
        return int(cursor.fetchone()[0])
