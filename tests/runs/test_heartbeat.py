"""A heartbeat renews what is driven here, nothing else, and tells drivers when to stop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone
from langgraph.runtime import RunControl

from runs import controls, leases, status, workers
from runs.authority import Authority
from runs.heartbeat import Heart
from runs.models import Run, Worker
from tests.runs.conftest import SHELL, attempts, expire, lease_of, now
from tests.runs.test_leases import take, try_to_take
from tests.support import child, graphs
from tests.support.processes import until, worker

STALL = 60.0


class Still(Heart):
    """A heart that beats only when it is told to."""

    def _ensure_thread(self) -> None:
        pass


@pytest.fixture
def heart() -> Heart:
    return Still()


def authority(taken: leases.Taken, deadline: float = 0) -> Authority:
    return Authority(lease=taken.lease, agent=taken.agent, deadline=deadline, control=RunControl())


def is_drained(driving: Authority) -> bool:
    return driving.control.drain_requested


def left(run: Run) -> float:
    """Seconds until the lease ends, by the database's clock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT extract(epoch FROM expires_at - clock_timestamp())::float8"
            " FROM runs_lease WHERE run_id = %s",
            [run.pk],
        )
        return float(cursor.fetchone()[0])


def quiet_for(run: Run, seconds: float) -> None:
    """Nothing was saved and no attempt began for so long."""
    with connection.cursor() as cursor:
        for table, column in (("runs_lease", "progress_at"), ("runs_attempt", "started_at")):
            cursor.execute(
                f"UPDATE {table} SET {column} = clock_timestamp() - %s * interval '1 second'"  # noqa: S608
                " WHERE run_id = %s",
                [seconds, run.pk],
            )


# --- renewing -------------------------------------------------------------------------------------


def test_exactly_what_is_registered_is_renewed(start, heart, settings) -> None:
    settings.RUNS_LEASE = timedelta(seconds=10)
    mine, other = start("line"), start("line")
    driving = authority(take(mine))
    take(other, "w2")
    settings.RUNS_LEASE = timedelta(seconds=100)
    with heart.keep(driving, STALL):
        heart.beat()
        assert left(mine) > 90
        assert left(other) < 10
        assert driving.may_start()
        assert driving.deadline - time.monotonic() < 100 - 2
    settings.RUNS_LEASE = timedelta(seconds=1000)
    heart.beat()
    assert left(mine) < 101, "what is not driven any more must expire"


def test_a_drive_that_raises_is_not_renewed_any_more(start, heart) -> None:
    driving = authority(take(start("line")))
    with pytest.raises(ValueError, match="x"), heart.keep(driving, STALL):
        raise ValueError("x")
    assert heart.watched == {}


@pytest.mark.parametrize("taken_over", [True, False])
def test_a_lease_that_ran_out_is_not_stolen_back(start, heart, taken_over) -> None:
    run = start("line")
    driving = authority(take(run), deadline=time.monotonic() + 100)
    with heart.keep(driving, STALL):
        expire(run)
        if taken_over:
            take(run, "w2")
        before = lease_of(run).expires_at
        heart.beat()
    assert lease_of(run).expires_at == before
    assert driving.lost.is_set()
    assert not driving.may_start()
    assert driving.control.drain_requested


def test_without_a_database_a_driver_stops_by_its_own_deadline(start, heart, monkeypatch) -> None:
    driving = authority(take(start("line")), deadline=time.monotonic() + 0.2)
    with heart.keep(driving, STALL):
        monkeypatch.setattr(connection, "cursor", away)
        with pytest.raises(OperationalError):
            heart.beat()
        assert driving.may_start()
        until(lambda: not driving.may_start())
        monkeypatch.undo()
        heart.beat()
        assert driving.may_start(), "the lease was held all the time, so it goes on"


def away(*_: object, **__: object) -> Any:
    raise OperationalError("the database is away")


def test_the_thread_goes_on_beating_after_an_error(start, settings, monkeypatch, caplog) -> None:
    settings.RUNS_HEARTBEAT = timedelta(milliseconds=10)
    beats = []

    def beat(_: Heart) -> None:
        beats.append(1)
        if len(beats) == 2:
            away()

    monkeypatch.setattr(Heart, "beat", beat)
    mine = Heart()
    with mine.keep(authority(take(start("line"))), STALL):
        until(lambda: len(beats) >= 4)
    assert "heartbeat failed, will try again" in caplog.text


# --- flags ----------------------------------------------------------------------------------------


def test_a_cancel_reaches_the_driver_and_the_lease_is_still_renewed(start, heart) -> None:
    run = start("line")
    driving = authority(take(run))
    with heart.keep(driving, STALL):
        controls.cancel(run.pk, actor=SHELL, reason="x")
        heart.beat()
    assert driving.cancelled.is_set()
    assert driving.control.drain_requested
    assert not driving.lost.is_set()


def test_a_worker_that_was_asked_to_stop_drains_what_it_drives_and_will_drive(
    start, heart, monkeypatch
) -> None:
    monkeypatch.setattr(workers, "_name", "me")
    Worker.objects.create(name="me", hostname="h", pid=1)
    driving, later = authority(take(start("line"))), authority(take(start("line")))
    with heart.keep(driving, STALL):
        heart.beat()
        assert not driving.draining.is_set()
        workers.drain("me")
        heart.beat()
        assert driving.draining.is_set()
        assert driving.may_start(), "the step under way is finished in order"
    with heart.keep(later, STALL):
        assert later.draining.is_set()


# --- stalled --------------------------------------------------------------------------------------


def test_a_run_without_progress_is_drained_then_given_up(
    start, heart, settings, monkeypatch
) -> None:
    killed: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda *args: killed.append(args))
    settings.RUNS_LEASE = timedelta(seconds=5)
    run = start("line")
    driving = authority(take(run))
    with heart.keep(driving, STALL):
        quiet_for(run, STALL * 0.9)
        heart.beat()
        assert not is_drained(driving)
        quiet_for(run, STALL * 1.1)
        heart.beat()
        assert is_drained(driving)
        assert not driving.lost.is_set()
        quiet_for(run, STALL * 2.1)
        heart.beat()
        assert driving.lost.is_set()
        settings.RUNS_LEASE = timedelta(seconds=500)
        heart.beat()
        assert left(run) <= 5, "given up, and so not renewed"
        assert killed == []
        settings.RUNS_LEASE = timedelta(0)
        heart.beat()
        assert len(killed) == 1


def test_progress_keeps_a_long_run_from_being_drained(start, heart) -> None:
    run = start("line")
    driving = authority(take(run))
    with heart.keep(driving, STALL):
        quiet_for(run, STALL * 3)
        with connection.cursor() as cursor:
            cursor.execute("UPDATE runs_lease SET progress_at = clock_timestamp()")
        heart.beat()
    assert not driving.control.drain_requested


def test_a_new_attempt_is_not_blamed_for_the_silence_of_the_last(start, heart) -> None:
    run = start("line")
    take(run)
    quiet_for(run, STALL * 3)
    expire(run)
    driving = authority(take(run, "w2"))
    with heart.keep(driving, STALL):
        heart.beat()
    assert not driving.control.drain_requested


@pytest.mark.race
def test_a_hung_node_costs_its_process_and_another_one_goes_on(start, drive, settings) -> None:
    run = start("line", stall_after=timedelta(milliseconds=200))
    quick: dict[str, Any] = {
        "RUNS_LEASE": timedelta(milliseconds=600),
        "RUNS_LEASE_MARGIN": timedelta(milliseconds=100),
        "RUNS_HEARTBEAT": timedelta(milliseconds=50),
    }
    with worker(child.hang, run.pk, "second", RUNS_AGENTS=settings.RUNS_AGENTS, **quick) as hung:
        hung.process.join(20)
        assert hung.process.exitcode == -9
    until(lambda: not leases.live_holder(run.pk))
    assert drive(run) is status.Outcome.FINISHED
    assert attempts(run) == [("lost", ""), ("finished", "")]
    assert graphs.visits(run.pk) == ["first", "second", "second", "third"]


# --- clocks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("minutes", [10, -10])
def test_the_clock_of_the_process_decides_nothing(
    start, heart, settings, monkeypatch, minutes
) -> None:
    settings.RUNS_LEASE = timedelta(seconds=30)
    wrong_clock(monkeypatch, timedelta(minutes=minutes))
    run = start("line")
    driving = authority(take(run))
    assert 25 < left(run) <= 30
    assert try_to_take(run, "w2") is None, "no early steal"
    with heart.keep(driving, STALL):
        heart.beat()
    assert 25 < left(run) <= 30
    assert not driving.control.drain_requested
    assert leases.live_holder(run.pk) == "w1"
    expire(run)
    assert leases.live_holder(run.pk) == ""
    assert try_to_take(run, "w2") is not None, "no late takeover"


@pytest.mark.parametrize("minutes", [10, -10])
def test_a_retry_is_due_by_the_databases_clock(
    start, drive, settings, monkeypatch, minutes
) -> None:
    settings.RUNS_BACKOFF = settings.RUNS_BACKOFF_CAP = timedelta(minutes=1)
    wrong_clock(monkeypatch, timedelta(minutes=minutes))
    graphs.HOOKS["first"] = raise_once()
    run = start("line")
    drive(run)
    with connection.cursor() as cursor:
        cursor.execute("SELECT due_at - clock_timestamp() FROM runs_run WHERE id = %s", [run.pk])
        (wait,) = cursor.fetchone()
    assert timedelta(seconds=20) < wait <= timedelta(minutes=1)
    assert drive(run) is None


def wrong_clock(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + by.total_seconds())
    monkeypatch.setattr(timezone, "now", lambda: datetime.fromtimestamp(real(), UTC) + by)


def raise_once() -> Callable[[], None]:
    errors = [ConnectionError("x")]

    def hook() -> None:
        if errors:
            raise errors.pop()

    return hook


def test_a_run_that_is_driven_to_its_end_is_left_alone_afterwards(start, drive, heart) -> None:
    run = start("line")
    drive(run)
    heart.beat()
    assert lease_of(run).expires_at is None
    assert now(run).status == "succeeded"
