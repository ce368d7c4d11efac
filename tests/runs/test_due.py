"""What is due is defined twice, for one run and for all: both say the same, for every state."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction

from runs import dispatch, statements, status, sweeper, workers
from runs.models import Lease, Run

NOW = datetime.now(UTC)
TIMES = {"none": None, "past": NOW - timedelta(hours=1), "future": NOW + timedelta(hours=1)}


@dataclass(frozen=True)
class Case:
    status: status.Status
    woken: bool
    due: str
    wait: str
    lease: str

    @property
    def is_due(self) -> bool:
        """The rule in words: nobody drives it, and something is to be done."""
        if self.status in status.ENDED or self.lease == "future":
            return False
        return (
            self.status == "running"
            or self.woken
            or self.due == "past"
            or (self.status == "queued" and self.due == "none")
            or (self.status == "waiting" and self.wait != "future")
        )

    def run(self) -> Run:
        return Run(
            agent="line",
            agent_version="1",
            title=str(self),
            input={},
            starter="test",
            status=self.status,
            park_reason="crash_loop" if self.status == "parked" else "",
            ended_at=NOW if self.status in status.ENDED else None,
            wakes=1,
            seen_wakes=0 if self.woken else 1,
            due_at=TIMES[self.due],
            wait_until=TIMES[self.wait],
        )


CASES = [Case(*row) for row in itertools.product(status.Status, (True, False), TIMES, TIMES, TIMES)]


def lock(run: Run) -> bool:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statements.read("runs", "lock_due"), {"run_id": run.pk})
        return cursor.fetchone() is not None


@pytest.mark.usefixtures("database")
def test_the_sweeper_finds_exactly_the_runs_that_can_be_taken(monkeypatch) -> None:
    runs = Run.objects.bulk_create(case.run() for case in CASES)
    Lease.objects.bulk_create(
        Lease(run=run, fence=1, expires_at=TIMES[case.lease])
        for case, run in zip(CASES, runs, strict=True)
    )
    monkeypatch.setattr(sweeper, "MOST", len(CASES))
    found = set(sweeper.find_due())
    for case, run in zip(CASES, runs, strict=True):
        assert (run.pk in found) == lock(run) == case.is_due, case
    assert len(found) > 100


@pytest.mark.usefixtures("database")
def test_each_branch_of_the_sweep_has_its_index() -> None:
    """Among many runs that rest, it reads only those that are due."""
    resting = (Case(status.Status.SUCCEEDED, False, "none", "none", "none") for _ in range(800))
    waiting = (Case(status.Status.WAITING, False, "none", "future", "none") for _ in range(400))
    later = (Case(status.Status.QUEUED, False, "future", "none", "none") for _ in range(400))
    runs = Run.objects.bulk_create(case.run() for case in (*resting, *waiting, *later))
    Lease.objects.bulk_create(Lease(run=run) for run in runs)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE runs_run, runs_lease")
        cursor.execute("EXPLAIN " + statements.read("runs", "find_due"), {"most": sweeper.MOST})
        plan = "\n".join(row[0] for row in cursor.fetchall())
    for index in ("runs_run_active", "runs_run_woken", "runs_run_due", "runs_run_waiting"):
        assert index in plan, plan
    for searched in ("due_at <= statement", "wait_until <= statement", "wait_until IS NULL"):
        assert f"Index Cond: ({searched}" in plan, plan
    assert "Seq Scan on runs_run" not in plan, plan


def test_the_oldest_come_first_and_one_pass_is_bounded(start, monkeypatch) -> None:
    runs = [start("line") for _ in range(4)][::-1]
    for age, run in enumerate(runs):
        Run.objects.filter(pk=run.pk).update(created_at=NOW + timedelta(seconds=age))
    monkeypatch.setattr(sweeper, "MOST", 3)
    assert sweeper.find_due() == [run.pk for run in runs[:3]]


def test_a_pass_rings_for_what_is_due_and_says_so(start, rung) -> None:
    run = start("line")
    rung.clear()
    sweeper.sweep()
    assert rung == [(run.pk, "found by the sweeper", "")]
    assert pulse() == {"rang": 1, "did": 0, "failed": []}


def test_a_pass_rings_a_worker_that_has_the_version_where_others_have_not(
    start, rung, declare
) -> None:
    runs = {version: start("line", version=version) for version in ("1", "2", "3")}
    for worker, version in (("old", "1"), ("new", "2")):
        declare("line", version=version)
        workers.announce(worker, drives=True)
    workers.announce("sweeper", drives=False)
    rung.clear()
    sweeper.sweep()
    assert {run_id: to for run_id, _, to in rung} == {
        runs["1"].pk: "old",
        runs["2"].pk: "new",
        runs["3"].pk: "",  # whoever takes it parks it with the reason
    }
    workers.drain("old")
    rung.clear()
    sweeper.sweep()
    assert {to for _, _, to in rung} == {""}


def test_a_rule_that_raises_does_not_keep_the_others_from_their_turn(
    start, rung, settings, caplog
) -> None:
    start("line")
    settings.RUNS_SWEEP_RULES = ["tests.runs.test_due.broken"]
    rung.clear()
    sweeper.sweep()
    assert len(rung) == 1
    assert pulse() == {"rang": 1, "did": 0, "failed": ["tests.runs.test_due.broken"]}
    assert "broken" in caplog.text


def test_a_pass_without_a_broker_stops_ringing(start, monkeypatch) -> None:
    tried = []
    for _ in range(3):
        start("line")

    def away(run_id, **_) -> bool:
        tried.append(run_id)
        return False

    monkeypatch.setattr(dispatch, "ring_now", away)
    assert sweeper.ring_due() == 0
    assert len(tried) == 1


def broken() -> int:
    raise RuntimeError("broken")


def pulse() -> object:
    with connection.cursor() as cursor:
        cursor.execute("SELECT note FROM runs_pulse WHERE name = 'sweeper'")
        (note,) = cursor.fetchone()
    return json.loads(note)
