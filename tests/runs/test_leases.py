"""A run has at most one driver, and a driver that froze does not keep others out."""

from __future__ import annotations

import itertools
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection, connections, transaction

from runs import errors, leases, statements, status
from runs.models import Attempt, Run
from tests.runs.conftest import checkpoints_of, expire, lease_of, now, wake
from tests.support import child
from tests.support.processes import until, worker

NEW = leases.Look(held=True, wakes=0, cancel_asked=False, ask_again=False, asked=False, saved=False)
"""What a driver sees of a run that nobody has touched."""


def try_to_take(run: Run, holder: str = "w1") -> leases.Taken | None:
    return leases.take(run.pk, holder=holder, cause="test")


def take(run: Run, holder: str = "w1") -> leases.Taken:
    taken = try_to_take(run, holder)
    assert taken is not None
    return taken


def ending(outcome: status.Outcome, **more: Any) -> leases.Ending:
    return leases.Ending(outcome=outcome, rests_as=status.Status.QUEUED, seen_wakes=0, **more)


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """Call `work(number)` in so many threads at the same moment; what each returned."""
    together = threading.Barrier(count)

    def one(number: int):
        try:
            connection.ensure_connection()
            together.wait(10)
            return work(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def blockers(*, waiting: bool = False) -> int:
    """Other connections that are inside a transaction, or that wait for somebody's lock."""
    condition = "wait_event_type = 'Lock'" if waiting else "xact_start IS NOT NULL"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"  # noqa: S608
            " AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            f" AND {condition}"
        )
        return int(cursor.fetchone()[0])


# --- taking ---------------------------------------------------------------------------------------


def test_taking_raises_the_fence_and_opens_an_attempt(start) -> None:
    run = start("line")
    taken = take(run)
    assert (taken.lease.fence, taken.lost_fence) == (1, None)
    assert (taken.agent, taken.version) == ("line", "1")
    assert taken.look == NEW
    attempt = Attempt.objects.get(run=run)
    assert (attempt.fence, attempt.outcome, attempt.cause) == (1, "open", "test")
    assert now(run).status == status.Status.RUNNING
    assert leases.live_holder(run.pk) == "w1"


def test_a_held_lease_is_not_taken(start) -> None:
    run = start("line")
    take(run)
    assert try_to_take(run, "w2") is None
    assert (lease_of(run).fence, lease_of(run).holder) == (1, "w1")


def test_an_expired_lease_is_taken_and_its_attempt_is_closed_as_lost(start) -> None:
    run = start("line")
    take(run)
    expire(run)
    second = take(run, "w2")
    assert (second.lease.fence, second.lost_fence) == (2, 1)
    lost, fresh = Attempt.objects.filter(run=run).order_by("fence")
    assert (lost.outcome, fresh.outcome, fresh.cause) == ("lost", "open", "taken over")
    assert lost.ended_at is not None


def test_a_given_back_lease_frees_the_run_and_closes_the_attempt(start) -> None:
    run = start("line")
    taken = take(run)
    with transaction.atomic():
        leases.lock(taken.lease)
        leases.give_back(taken.lease, ending(status.Outcome.WAITED, detail="d" * 999))
    assert (lease_of(run).expires_at, lease_of(run).holder, lease_of(run).fence) == (None, "", 1)
    attempt = Attempt.objects.get(run=run)
    assert (attempt.outcome, attempt.detail) == ("waited", "d" * 300)


def test_giving_back_with_an_old_fence_changes_nothing(start) -> None:
    run = start("line")
    old = take(run)
    expire(run)
    take(run, "w2")
    leases.give_back(old.lease, ending(status.Outcome.WAITED))
    assert leases.live_holder(run.pk) == "w2"
    assert Attempt.objects.get(run=run, fence=1).outcome == "lost"


@pytest.mark.parametrize("held", ["expired", "free"])
@pytest.mark.race
def test_of_many_takers_at_once_one_gets_the_lease(start, held: str) -> None:
    run = start("line")
    for fence in itertools.islice(itertools.count(1), 10):
        taken = in_threads(4, lambda number: try_to_take(run, f"w{number}"))
        (only,) = filter(None, taken)
        assert only.lease.fence == lease_of(run).fence == fence
        if held == "expired":
            expire(run)
        else:
            with transaction.atomic():
                leases.lock(only.lease)
                leases.give_back(only.lease, ending(status.Outcome.RELEASED))
    assert Attempt.objects.filter(run=run, outcome="open").count() == (held == "expired")


# --- a driver's own look and lock -----------------------------------------------------------------


def test_lock_and_look_tell_a_driver_whether_it_still_holds_the_lease(start) -> None:
    run = start("line")
    old = take(run)
    assert leases.look(old.lease) == old.look == NEW
    wake(run)
    assert leases.look(old.lease) == replace(NEW, wakes=1)
    with transaction.atomic():
        assert leases.lock(old.lease) == 1
    expire(run)
    assert not leases.look(old.lease).held
    with pytest.raises(errors.LeaseLost), transaction.atomic():
        leases.lock(old.lease)
    take(run, "w2")
    assert not leases.look(old.lease).held
    with pytest.raises(errors.LeaseLost), transaction.atomic():
        leases.lock(old.lease)


@pytest.mark.race
def test_a_driver_that_waited_for_its_lock_past_the_expiry_is_refused(start, settings) -> None:
    settings.RUNS_LEASE = timedelta(milliseconds=250)
    run = start("line")
    taken = take(run)
    held, refused = threading.Event(), []

    def late(number: int) -> None:
        if number == 0:
            with transaction.atomic():
                Run.objects.select_for_update(no_key=True).get(pk=run.pk)
                held.set()
                until(lambda: not leases.live_holder(run.pk))
            return
        held.wait(10)
        try:
            with transaction.atomic():
                leases.lock(taken.lease)
        except errors.LeaseLost:
            refused.append(True)

    in_threads(2, late)
    assert refused, "the clock was read before the lock was held"


# --- frozen processes -----------------------------------------------------------------------------


def frozen_then_taken(run: Run, frozen) -> leases.Taken:
    until(lambda: not leases.live_holder(run.pk))
    before = time.monotonic()
    taken = try_to_take(run, "second")
    assert time.monotonic() - before < 10
    assert taken is not None, "a frozen process keeps the run for ever"
    assert taken.lost_fence == 1
    return taken


@pytest.mark.race
def test_a_driver_frozen_outside_a_transaction_loses_its_run(start) -> None:
    run = start("line")
    with worker(child.take_and_freeze, run.pk, False, RUNS_LEASE=child.SHORT) as frozen:
        assert frozen.frozen() == "outside"
        frozen_then_taken(run, frozen)
        frozen.send(signal.SIGCONT)
        assert frozen.hears() == ("raised", f"LeaseLost: {errors.LeaseLost()}")


@pytest.mark.race
def test_a_driver_frozen_inside_a_transaction_loses_its_run(start) -> None:
    run = start("line")
    with worker(child.take_and_freeze, run.pk, True, RUNS_LEASE=child.SHORT) as frozen:
        assert frozen.frozen() == "inside"
        until(lambda: blockers() == 1)
        frozen_then_taken(run, frozen)
        frozen.send(signal.SIGCONT)
        kind, text = frozen.hears()
    assert kind == "raised"
    assert "OperationalError" in text or "InterfaceError" in text


@pytest.mark.race
def test_a_driver_frozen_in_the_middle_of_a_checkpoint_loses_its_run(start) -> None:
    run = start("line")
    with worker(child.drive_until, run.pk, "saver.pipeline", 3, RUNS_LEASE=child.SHORT) as frozen:
        assert frozen.frozen() == "saver.pipeline"
        until(lambda: blockers() == 1)  # else the check was not sent: not the case in question
        frozen_then_taken(run, frozen)
        saved = checkpoints_of(run)
        frozen.send(signal.SIGCONT)
        assert frozen.result() == ""
        assert checkpoints_of(run) == saved


@pytest.mark.race
def test_only_who_holds_the_lock_is_ended_not_who_waits_for_it(start) -> None:
    """A person's click that waits behind the frozen driver is not thrown out with it."""
    run = start("line")
    waited: list[str] = []

    def click(_: int) -> None:
        with transaction.atomic():
            Run.objects.select_for_update(no_key=True).get(pk=run.pk)
            waited.append(now(run).status)

    with worker(child.take_and_freeze, run.pk, True, RUNS_LEASE=child.SHORT) as frozen:
        frozen.frozen()
        until(lambda: not leases.live_holder(run.pk))
        with ThreadPoolExecutor() as pool:
            clicking = pool.submit(in_threads, 1, click)
            until(lambda: blockers(waiting=True))
            while try_to_take(run, "second") is None:
                pass
            clicking.result(10)
    assert waited


@pytest.mark.race
@pytest.mark.parametrize(
    ("holding", "busy"),
    [
        ("LOCK TABLE runs_run IN ACCESS EXCLUSIVE MODE", True),
        ("LOCK TABLE runs_run IN ACCESS EXCLUSIVE MODE", False),
        ("LOCK TABLE runs_attempt IN SHARE MODE", False),
        ("LOCK TABLE runs_lease IN ACCESS EXCLUSIVE MODE", False),
        ("UPDATE runs_run SET title = title", True),
    ],
)
def test_a_migration_is_not_ended_by_who_wants_an_expired_lease(start, holding, busy) -> None:
    """Neither at work in a statement nor, if it holds a table, between two of them."""
    run = start("line")
    take(run)
    expire(run)
    held, tried = threading.Event(), threading.Event()

    def migrate(_: int) -> str:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(holding)
            held.set()
            while busy and not tried.is_set():
                cursor.execute("SELECT pg_sleep(0.9)")
            return "done" if tried.wait(20) else "nobody tried"

    with ThreadPoolExecutor() as pool:
        migrating = pool.submit(in_threads, 1, migrate)
        assert held.wait(10)
        try:
            assert try_to_take(run, "second") is None
        finally:
            tried.set()
        assert migrating.result(10) == ["done"]
    assert try_to_take(run, "second") is not None


@pytest.mark.race
def test_a_live_lease_is_never_broken(start) -> None:
    """Who holds the locks of a run with a live lease is left alone, however long others wait."""
    run = start("line")
    with worker(child.take_and_freeze, run.pk, True) as frozen:
        frozen.frozen()
        assert try_to_take(run, "second") is None
        with connection.cursor() as cursor:
            cursor.execute(
                statements.read("runs", "end_blockers"),
                {"run_id": run.pk, "waiting": waiting_for(run)},
            )
            assert cursor.fetchall() == []
        frozen.send(signal.SIGCONT)
        assert frozen.result() == "committed"


def waiting_for(run: Run) -> int:
    """The pid of a backend that waits for the run's row; it gives up after a second."""
    found: list[int] = []

    def wait(_: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid(), set_config('lock_timeout', '1s', false)")
            found.append(cursor.fetchone()[0])
        with suppress(OperationalError), transaction.atomic():
            Run.objects.select_for_update().get(pk=run.pk)

    threading.Thread(target=in_threads, args=(1, wait), daemon=True).start()
    until(lambda: found and blockers(waiting=True))
    return found[0]
