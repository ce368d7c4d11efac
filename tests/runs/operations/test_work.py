"""Carrying an operation out: each run once, by the rules of its own page, whatever happens."""

from __future__ import annotations

import signal
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from audit.models import Entry
from ledger.outbox import dispatcher
from runs import controls, killpoints
from runs.models import Intervention, Lease, Operation, OperationItem, Run
from runs.operations import ordering, work
from runs.status import Park, Status
from tests.runs.operations.hands import (
    acting,
    again,
    asked,
    claimed,
    order,
    outcomes,
    reasons,
    wanted,
)
from tests.support import child, processes
from tests.support import standing as make
from tests.support.people import person


@pytest.fixture
def ada(db):
    return person("Ada")


def cancelled(runs: list[Run]) -> list[int]:
    """How often each was asked to end."""
    kind = Intervention.Kind.CANCEL
    return [Intervention.objects.filter(run=run, kind=kind).count() for run in runs]


def expire(operation: Operation) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_operation SET claimed_until = clock_timestamp() - interval '1 ms'"
            " WHERE id = %s",
            [operation.pk],
        )


# --- what it does ---------------------------------------------------------------------------------


def test_each_run_is_cancelled_as_on_its_own_page(ada) -> None:
    runs = [make.run(), make.parked(Park.DRIFT), make.run(status=Status.WAITING)]
    made = order(ada, runs)
    assert work.work() == 3
    assert again(made).status == "done"
    assert outcomes(made) == ["done"] * 3
    for run in runs:
        now = Run.objects.get(pk=run.pk)
        assert (now.cancelled_by, now.cancel_reason, now.wakes) == ("Ada", "Twice.", run.wakes + 1)
        entry = Entry.objects.get(run_id=run.pk)
        assert (entry.verb, entry.entry) == ("run.cancel_asked", "bulk")
        assert entry.data == {"operation": str(made.pk)}
    assert cancelled(runs) == [1, 1, 1]
    assert Entry.objects.get(verb="operation.done").data["outcomes"] == {"done": 3}


def test_each_run_is_forced_to_resume(ada) -> None:
    runs = [make.stuck(), make.parked(Park.CRASH_LOOP)]
    made = order(ada, runs, "resume")
    work.work()
    assert outcomes(made) == ["done"] * 2
    assert [Run.objects.get(pk=run.pk).forgiven_fence for run in runs] == [1, 1]


def test_a_sign_in_has_to_have_been_recent_when_it_was_ordered(ada) -> None:
    proved = timezone.now() - controls.FRESH + timedelta(minutes=1)
    made = ordering.order(wanted([make.stuck()], "resume"), actor=acting(ada, at=proved))
    long_ago = {
        "created_at": made.created_at - timedelta(hours=2),
        "authenticated_at": proved - timedelta(hours=2),
    }
    Operation.objects.filter(pk=made.pk).update(**long_ago)
    work.work()
    assert outcomes(made) == ["done"]


# --- what it leaves alone -------------------------------------------------------------------------


def test_a_run_that_has_changed_is_left_alone_and_says_how(ada) -> None:
    ended, settled, same = make.run(), make.parked(Park.CRASH_LOOP), make.run()
    made = order(ada, [ended, settled, same])
    done = {"status": Status.SUCCEEDED, "ended_at": timezone.now()}
    Run.objects.filter(pk=ended.pk).update(**done)
    Run.objects.filter(pk=settled.pk).update(status=Status.RUNNING, park_reason="")
    Run.objects.filter(pk=same.pk).update(status=Status.RUNNING)  # which it does by itself
    work.work()
    assert outcomes(made) == ["skipped", "skipped", "done"]
    assert reasons(made)[0] == "It was “Under way” when it was chosen, and is “Succeeded” now."
    assert "is “Under way” now" in reasons(made)[1]
    assert not asked(settled)
    assert Entry.objects.filter(verb="run.cancel_refused", allowed=False).count() == 2


def test_a_run_that_a_worker_took_up_is_not_forced(ada) -> None:
    run = make.stuck()
    made = order(ada, [run], "resume")
    Lease.objects.filter(pk=run.pk).update(fence=2)
    work.work()
    assert outcomes(made) == ["skipped"]
    assert reasons(made) == ["A worker has taken it up since it was chosen."]


def test_a_run_whose_worker_is_alive_after_all_is_not_forced(ada) -> None:
    run = make.stuck()
    made = order(ada, [run], "resume")
    make.lease(run, expires_at=make.soon(minutes=1))
    work.work()
    assert outcomes(made) == ["skipped"]
    assert make.HOLDER in reasons(made)[0]


def test_a_permission_that_is_taken_away_midway_counts_at_once(ada) -> None:
    runs = [make.run() for _ in range(3)]
    made = order(ada, runs)

    def taken_away(place: str, run_id: str) -> None:
        if place == "operation.reached" and run_id == str(runs[0].pk):
            ada.groups.clear()

    killpoints.install(taken_away)
    work.work()
    killpoints.install(None)
    assert outcomes(made) == ["done", "refused", "refused"]
    assert "may not cancel a run" in reasons(made)[1]
    assert again(made).status == "done"
    assert [asked(run) for run in runs] == [True, False, False]


def test_somebody_who_may_not_sign_in_any_more_does_nothing(ada) -> None:
    made = order(ada, [make.run()])
    ada.is_active = False
    ada.save()
    work.work()
    assert outcomes(made) == ["refused"]


def test_stopped_midway_the_rest_is_left_alone(ada) -> None:
    runs = [make.run() for _ in range(3)]
    made = order(ada, runs)

    def stop(place: str, run_id: str) -> None:
        if place == "operation.reached":
            ordering.stop(made.pk, actor=acting(ada))

    killpoints.install(stop)
    assert work.work() == 1
    killpoints.install(None)
    assert outcomes(made) == ["done", "stopped", "stopped"]
    assert again(made).status == "stopped"


@pytest.mark.parametrize("refuses", ["permission", "state"])
def test_what_is_refused_is_told_once_however_often_it_is_tried(ada, refuses) -> None:
    run = make.run()
    made = order(ada, [run])
    if refuses == "permission":
        ada.groups.clear()
    else:
        Run.objects.filter(pk=run.pk).update(status=Status.SUCCEEDED, ended_at=timezone.now())
    operation, item = claimed(), OperationItem.objects.get()
    assert work._reach(operation, item)
    assert not work._reach(operation, item)
    assert Entry.objects.filter(verb="run.cancel_refused").count() == 1
    assert outcomes(made) == ["refused" if refuses == "permission" else "skipped"]


def test_others_are_told_once_of_an_order_and_not_of_each_run(ada, mailoutbox) -> None:
    others = [person("Otto", "operator"), person("Rut")]
    person("Cy")
    made = order(ada, [make.stuck() for _ in range(3)], "resume", reason="The rack is gone.")
    again = order(ada, [make.stuck()], "resume")
    work.work(timedelta(minutes=1))
    assert outcomes(made) + outcomes(again) == ["done"] * 4
    dispatcher.dispatch()
    told = sorted((mail.to[0], f"/runs/operations/{made.pk}/" in mail.body) for mail in mailoutbox)
    assert told == sorted((user.email, which) for user in others for which in (True, False))
    assert {mail.subject for mail in mailoutbox} == {
        "[Signalbox] Ada forced 3 runs to resume",
        "[Signalbox] Ada forced 1 run to resume",
    }
    three = next(mail.body for mail in mailoutbox if "3 runs" in mail.subject)
    assert three.startswith("Ada forced 3 runs to resume.\n\nReason: The rack is gone.\n")


# --- claims ---------------------------------------------------------------------------------------


def test_one_worker_at_a_time_has_an_operation(ada) -> None:
    made = order(ada, [make.run()])
    claimed = work.claim()
    assert claimed == made
    assert work.claim() is None
    assert work.sweep() == 0
    expire(made)
    assert work.sweep() == 1
    assert work.claim() == made


def test_after_its_turn_a_worker_hands_on(ada, called) -> None:
    made = order(ada, [make.run()])
    assert work._go_on(claimed(), end=0) == 0
    assert work.sweep() == 1
    assert outcomes(made) == ["pending"]
    assert work.work() == 1


def test_a_worker_whose_claim_is_lost_stops(ada) -> None:
    made = order(ada, [make.run() for _ in range(2)])
    lost = claimed()
    expire(made)
    assert work.claim() == made
    assert work._go_on(lost, end=float("inf")) == 0
    assert outcomes(made) == ["pending"] * 2


def test_an_item_that_is_done_is_not_done_again(ada) -> None:
    run = make.run()
    made = order(ada, [run])
    item = OperationItem.objects.get()
    operation = claimed()
    assert work._reach(operation, item)
    assert not work._reach(operation, item)
    assert cancelled([run]) == [1]
    assert Entry.objects.filter(run_id=run.pk).count() == 1
    assert outcomes(made) == ["done"]


# --- processes that die ---------------------------------------------------------------------------


@pytest.mark.race
@pytest.mark.parametrize("place", ["operation.acted", "operation.reached"])
def test_a_worker_that_is_killed_midway_leaves_no_run_twice_or_forgotten(database, place) -> None:
    ada = person("Ada")
    runs = [make.run(f"run {number}") for number in range(4)]
    made = order(ada, runs)
    with processes.worker(child.operate_until, place, 2) as killed:
        assert killed.frozen() == place
        killed.send(signal.SIGKILL)
        killed.process.join(10)
    assert again(made).status == "working"
    assert outcomes(made).count("done") == (2 if place == "operation.reached" else 1)
    assert work.work() == 0, "its claim is still alive"
    expire(made)
    work.work()
    assert again(made).status == "done"
    assert outcomes(made) == ["done"] * 4
    assert cancelled(runs) == [1, 1, 1, 1]
    assert Entry.objects.filter(verb="run.cancel_asked").count() == 4
    assert Entry.objects.filter(verb="operation.done").count() == 1


@pytest.mark.race
def test_a_worker_that_wakes_up_late_does_nothing(database) -> None:
    ada = person("Ada")
    runs = [make.run(f"run {number}") for number in range(4)]
    made = order(ada, runs)
    with processes.worker(child.operate_until, "operation.reached", 1) as late:
        assert late.frozen() == "operation.reached"
        expire(made)
        work.work()
        assert again(made).status == "done"
        late.send(signal.SIGCONT)
        assert late.result() == 1
    assert cancelled(runs) == [1, 1, 1, 1]


@pytest.mark.race
def test_a_run_whose_row_is_locked_is_left_for_a_later_pass(database, monkeypatch) -> None:
    ada = person("Ada")
    held, free = make.run("held"), make.run("free")
    made = order(ada, [held, free])
    with processes.worker(child.hold_run, held.pk) as holder:
        assert holder.hears() == ("reached", "locked")
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
        try:
            assert work._go_on(claimed(), end=float("inf")) == 1
        finally:
            connection.close()
        assert outcomes(made) == ["pending", "done"]
        assert again(made).status == "working"
        holder.pipe.send("let go")
        holder.result()
    expire(made)
    work.work()
    assert outcomes(made) == ["done", "done"]


@pytest.mark.race
@pytest.mark.parametrize("claims", [True, False], ids=["with their claims", "without"])
def test_two_workers_at_once_act_on_each_run_once(database, claims) -> None:
    """Without: both have lost the claim to each other, and neither knows it yet."""
    ada = person("Ada")
    runs = [make.run(f"run {number}") for number in range(20)]
    made = order(ada, runs)
    ended, live = runs[::2], runs[1::2]
    over = {"status": Status.SUCCEEDED, "ended_at": timezone.now()}
    Run.objects.filter(pk__in=[run.pk for run in ended]).update(**over)
    task = child.operate_on_word if claims else child.reach_on_word
    with processes.worker(task, made.pk) as one, processes.worker(task, made.pk) as two:
        for each in (one, two):
            assert each.hears() == ("reached", "ready")
        for each in (one, two):
            each.pipe.send("go")
        assert one.result() + two.result() == 20
    assert cancelled(live) == [1] * 10
    assert cancelled(ended) == [0] * 10
    assert Entry.objects.filter(verb="run.cancel_asked").count() == 10
    assert Entry.objects.filter(verb="run.cancel_refused").count() == 10
    assert sorted(outcomes(made)) == ["done"] * 10 + ["skipped"] * 10
