"""Runs as rows, with a constant number of queries, and how many need somebody."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.models import Effect
from ledger.status import Status as EffectStatus
from runs import errors, queries, registry
from runs.models import Run
from runs.status import Outcome, Park, Status
from tests.support import standing as make
from tests.support.fleet import worker
from tests.support.people import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db):
    return person("Ada")


def effect(run: Run, status: str = EffectStatus.IN_DOUBT, tool: str = "payments.refund") -> Effect:
    key = uuid4().hex
    return Effect.objects.create(
        idempotency_key=key,
        run=run,
        step=f"node@{key}",
        tool=tool,
        idempotency="provider",
        args={},
        args_hash=key,
        status=status,
        provider_key=key,
        fence=1,
    )


def test_one_run_is_read_by_its_id_or_refused(ada) -> None:
    run = make.run("this")
    assert queries.one(run.pk, ada).run == run
    with pytest.raises(errors.NoSuchRun):
        queries.one(uuid4(), ada)


# --- rows -----------------------------------------------------------------------------------------


def test_the_number_of_queries_does_not_depend_on_the_number_of_runs(ada) -> None:
    def fill(count: int) -> None:
        for _ in range(count):
            effect(make.running())
            make.stuck()
            make.run(due_at=make.soon(minutes=1))

    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            queries.rows(list(Run.objects.select_related("lease", "started_by")), ada)
        return len(captured)

    fill(1)
    cost()  # the reader's permissions are asked for once
    few = cost()
    fill(12)
    assert cost() == few <= 15


def test_worked_is_the_sum_of_the_attempts(ada) -> None:
    run = make.run(status=Status.FAILED)
    for fence in (1, 2):
        make.attempt(
            run,
            fence,
            started_at=make.ago(hours=fence, minutes=2),
            ended_at=make.ago(hours=fence),
            outcome=Outcome.RAISED,
        )
    assert queries.one(run.pk, ada).worked == pytest.approx(
        timedelta(minutes=4), abs=timedelta(seconds=1)
    )


def test_nobody_worked_between_the_last_heartbeat_and_the_takeover(ada) -> None:
    run = make.run(status=Status.SUCCEEDED)
    start, seen, taken, end = (make.ago(minutes=m) for m in (10, 8, 5, 4))
    make.attempt(run, 1, started_at=start, ended_at=taken, outcome=Outcome.LOST, seen_at=seen)
    make.attempt(run, 2, started_at=taken, ended_at=end, outcome=Outcome.FINISHED)
    assert [each.took for each in run.attempts.order_by("fence")] == [seen - start, end - taken]
    assert queries.one(run.pk, ada).worked == (seen - start) + (end - taken)


def test_a_worker_that_is_gone_worked_until_its_lease_ended(ada) -> None:
    run = make.stuck()
    run.attempts.update(started_at=make.ago(minutes=16))
    worked = queries.one(run.pk, ada).worked
    assert worked == pytest.approx(timedelta(minutes=10), abs=timedelta(seconds=2))


def test_an_attempt_that_began_after_its_lease_ended_adds_nothing(ada) -> None:
    """So it looks where the clocks of a worker and of the database differ."""
    run = make.run(status=Status.RUNNING)
    make.attempt(run, 1, started_at=make.ago(minutes=10), outcome=Outcome.LOST)
    make.attempt(run, 2, started_at=make.ago(minutes=3))
    make.lease(run, expires_at=make.ago(minutes=6))
    worked = queries.one(run.pk, ada).worked
    assert worked == pytest.approx(timedelta(minutes=10), abs=timedelta(seconds=10))


def test_a_run_that_never_started_has_not_worked(ada) -> None:
    assert queries.one(make.run().pk, ada).worked is None


def test_a_queued_run_is_told_when_no_live_worker_knows_its_agent(ada, settings) -> None:
    run = make.run()
    assert (
        queries.one(run.pk, ada).standing.reason[0].text == "no live worker knows refund_desk 1.0"
    )
    worker(agents={"refund_desk": "0.9"})
    assert queries.one(run.pk, ada).standing.reason[0].text == "queued ", "0.9 may continue 1.0"
    settings.RUNS_AGENTS = [{"name": "refund_desk", "graph": "x.y", "version": "0.9"}]
    registry.declarations.cache_clear()
    assert (
        queries.one(run.pk, ada).standing.reason[0].text == "no live worker knows refund_desk 1.0"
    )
    worker("w2")
    assert queries.one(run.pk, ada).standing.reason[0].text == "queued "


def test_a_queued_run_is_told_when_the_workers_that_know_it_are_busy(ada) -> None:
    run = make.run()
    worker(slots=1)
    worker("other@beta", agents={"triage": "1"}, slots=1)
    assert len(queries.one(run.pk, ada).standing.reason) == 2
    make.running()
    assert queries.one(run.pk, ada).standing.reason[2].text == (
        " · 1 of 1 slots busy for refund_desk"
    )
    worker("silent@beta", slots=0)
    assert len(queries.one(run.pk, ada).standing.reason) == 2


def test_those_that_need_an_operator_are_counted_and_the_first_of_them_are_there(ada) -> None:
    make.running()
    make.stuck("stuck")
    make.run()
    make.parked(Park.DEADLINE, "later")
    make.parked(Park.DEADLINE, "parked", created_at=make.ago(days=1))
    make.run(status=Status.WAITING)
    make.run(status=Status.FAILED)
    found = queries.troubled(ada, 2)
    assert found.count == 3
    assert [run.title for run in found.runs] == ["stuck", "parked"]
    assert queries.driven(ada) == 1


def test_nothing_at_all_counts_as_nothing(ada) -> None:
    assert queries.troubled(ada, 2) == queries.Troubled(runs=[], count=0)
    assert queries.driven(ada) == 0
