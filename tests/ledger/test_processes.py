"""Processes that are killed and frozen around a call, against fakepay's own books."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection

from accounts.actors import Actor
from ledger.settle import settle
from runs import admission, checkpoints, driver
from runs.models import Run
from runs.status import Outcome as Ended
from tests.agents import fakepay_process
from tests.agents.fakepay_process import Fakepay
from tests.ledger.conftest import effect_of, outcomes_of, pass_time
from tests.support import caches, child
from tests.support.processes import until, worker

pytestmark = [pytest.mark.chaos, pytest.mark.usefixtures("real_steps")]
SHELL = Actor.command("test")
PLACES = ("effect.reserved", "effect.called", "effect.settled")


@pytest.fixture(scope="module", autouse=True)
def pools_end(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    yield
    checkpoints.close()
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture(scope="module")
def bank(tmp_path_factory) -> Iterator[Fakepay]:
    with fakepay_process.running(tmp_path_factory.mktemp("fakepay") / "books.sqlite3") as bank:
        yield bank


@pytest.fixture
def desk(settings, bank: Fakepay) -> Iterator[None]:
    settings.RUNS_AGENTS = [
        {"name": "paydesk", "graph": "tests.ledger.paydesk.graph", "version": "1"}
    ]
    settings.FAKEPAY_URL = bank.url
    settings.RUNS_BACKOFF = timedelta(0)
    caches.forget()
    yield
    caches.forget()


def start(tool: str, order: str) -> Run:
    return admission.start("paydesk", {"tool": tool, "order": order}, actor=SHELL)


def refunds(bank: Fakepay, order: str) -> int:
    return int(
        str(bank.rows(f"SELECT count(*) FROM refunds WHERE order_id = '{order}'")[0][0])  # noqa: S608
    )


def lose(run: Run) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_lease SET expires_at = clock_timestamp() - interval '1 second'"
            " WHERE run_id = %s",
            [run.pk],
        )


def go_on(run: Run) -> Ended | None:
    """Drive, over a wait if there is one."""
    outcome = driver.drive(run.pk, holder="next", cause="test")
    if outcome is Ended.RAISED and Run.objects.get(pk=run.pk).status == "queued":
        pass_time(run, timedelta(minutes=2))
        Run.objects.filter(pk=run.pk).update(due_at="2020-01-01T00:00:00Z")
        outcome = driver.drive(run.pk, holder="next", cause="test")
    return outcome


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("tool", ["kept", "found", "alone"])
def test_a_worker_killed_around_the_call_leaves_one_refund(desk, bank, settings, tool, place):
    order = f"{tool}-{place}"
    run = start(tool, order)
    with worker(child.drive_until, run.pk, place, FAKEPAY_URL=bank.url) as killed:
        assert killed.frozen() == place
        killed.send(signal.SIGKILL)
    lose(run)
    outcome = go_on(run)
    if outcome is Ended.PARKED:
        assert (tool, effect_of(run).status) == ("alone", "in_doubt")
        known = refunds(bank, order) == 1
        assert known == (place == "effect.called")
        verdict = "happened" if known else "did_not_happen"
        settle(effect_of(run).uid, verdict, actor=SHELL, reason="The books.", reference="re")
        outcome = go_on(run)
    assert outcome is Ended.FINISHED
    assert refunds(bank, order) == 1
    assert effect_of(run).status in ("sent", "confirmed")


@pytest.mark.parametrize("tool", ["kept", "found", "alone"])
@pytest.mark.parametrize("fault", ["drop_after", "500_after", "drop_before", "500_before", "429:0"])
def test_a_provider_that_misbehaves_refunds_once(desk, bank, tool, fault):
    order = f"{tool}-{fault.replace(':', '-')}"
    bank.arm(fault, match={"order_id": order})
    run = start(tool, order)
    outcome = go_on(run)
    if outcome is Ended.PARKED:
        assert effect_of(run).status == "in_doubt"
        known = refunds(bank, order) == 1
        assert known == fault.endswith("after")
        verdict = "happened" if known else "did_not_happen"
        settle(effect_of(run).uid, verdict, actor=SHELL, reason="The books.", reference="re")
        outcome = go_on(run)
    assert outcome is Ended.FINISHED
    assert refunds(bank, order) == 1


@pytest.mark.parametrize("tool", ["found", "alone"])
def test_a_worker_frozen_before_its_call_wakes_too_late_and_does_not_call(
    desk, bank, settings, tool
):
    order = f"{tool}-frozen"
    run = start(tool, order)
    short = {
        "FAKEPAY_URL": bank.url,
        "RUNS_LEASE": timedelta(seconds=3),
        "RUNS_LEASE_MARGIN": timedelta(seconds=0.5),
        "RUNS_HEARTBEAT": timedelta(seconds=0.5),
    }
    with worker(child.drive_until, run.pk, "effect.reserved", **short) as zombie:
        zombie.frozen()
        until(lambda: _expired(run))
        outcome = driver.drive(run.pk, holder="next", cause="test")
        assert outcome in (Ended.PARKED, Ended.RAISED)
        zombie.send(signal.SIGCONT)
        zombie.result()
        assert refunds(bank, order) == 0
        until(lambda: outcomes_of(effect_of(run)) == ["absent"])
    assert effect_of(run).status == "pending"  # it is certain now that nothing was sent
    Run.objects.filter(pk=run.pk).update(due_at="2020-01-01T00:00:00Z")
    assert go_on(run) is Ended.FINISHED
    assert refunds(bank, order) == 1


def test_a_worker_frozen_after_its_call_wakes_late_and_its_answer_still_counts(desk, bank):
    run = start("alone", "late")
    with worker(child.drive_until, run.pk, "effect.called", FAKEPAY_URL=bank.url) as zombie:
        zombie.frozen()
        lose(run)
        assert driver.drive(run.pk, holder="next", cause="test") is Ended.PARKED
        assert effect_of(run).status == "in_doubt"
        zombie.send(signal.SIGCONT)
        zombie.result()
    assert effect_of(run).status == "sent"
    assert go_on(run) is Ended.FINISHED
    assert refunds(bank, "late") == 1


def _expired(run: Run) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT expires_at < clock_timestamp() FROM runs_lease WHERE run_id = %s", [run.pk]
        )
        return bool(cursor.fetchone()[0])
