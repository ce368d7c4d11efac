"""Worker processes that are killed while they ask or take back, against fakepay's own books."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection, transaction

from accounts import clock
from accounts.actors import Actor
from ledger import facts, rows, sweep
from ledger.models import Effect, UndoPlan
from ledger.reconcile import asking
from ledger.settle import settle
from ledger.undo import ordering, plan, work
from runs import admission, checkpoints, driver
from runs.models import Lease, Run
from tests.agents import fakepay_process
from tests.agents.fakepay_process import Fakepay
from tests.ledger import paydesk
from tests.ledger.conftest import effect_of, pass_time
from tests.support import caches, child
from tests.support.processes import until, worker

pytestmark = [pytest.mark.chaos, pytest.mark.usefixtures("real_steps")]
SHELL = Actor.command("test")
HOUR = timedelta(hours=1)


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
        {"name": "paydesk", "graph": f"{paydesk.__name__}.graph", "version": "1"}
    ]
    settings.FAKEPAY_URL = bank.url
    settings.RUNS_BACKOFF = timedelta(0)
    settings.LEDGER_CONFIRM_AFTER = timedelta(0)
    caches.forget()
    yield
    caches.forget()


def cancelled(tool: str, order: str) -> Run:
    """A run that has refunded, and is cancelled then."""
    run = admission.start("paydesk", {"tool": tool, "order": order}, actor=SHELL)
    driver.drive(run.pk, holder="w1", cause="test")
    Run.objects.filter(pk=run.pk).update(status="cancelled", cancel_asked_at=clock.now())
    seen = plan.seen(plan.willing(plan.steps(run.pk)))
    ordering.order(run.pk, seen, actor=SHELL, reason="Not wanted.")
    return run


def cancellations(bank: Fakepay, run: Run) -> int:
    reference = Effect.objects.get(run=run, undoes=None).provider_ref
    found = bank.rows(f"SELECT count(*) FROM cancellations WHERE refund_id = '{reference}'")  # noqa: S608
    return int(str(found[0][0]))


def lose(run: Run) -> None:
    Lease.objects.filter(pk=run.pk).update(expires_at=clock.now() - HOUR)
    pass_time(run, timedelta(minutes=1))
    UndoPlan.objects.update(due_at=clock.now())


@pytest.mark.parametrize("place", ["effect.reserved", "effect.called", "effect.settled"])
@pytest.mark.parametrize("tool", ["kept", "alone"])
def test_a_worker_killed_around_an_undo_leaves_one_cancellation(desk, bank, tool, place):
    run = cancelled(tool, f"undo-{tool}-{place}")
    with worker(child.undo_until, place, FAKEPAY_URL=bank.url) as killed:
        assert killed.frozen() == place
        killed.send(signal.SIGKILL)
    lose(run)
    sweep.sweep()
    undo = Effect.objects.get(run=run, undoes__isnull=False)
    if tool == "alone" and place != "effect.settled":
        assert undo.status == "in_doubt"
        known = "happened" if cancellations(bank, run) else "did_not_happen"
        settle(undo.uid, known, actor=SHELL, reason="The books.", reference="ca")
    assert work.work() == 1
    assert UndoPlan.objects.get(run=run).status == "done"
    assert cancellations(bank, run) == 1


def test_a_worker_frozen_before_its_undo_wakes_too_late_and_does_not_call(desk, bank):
    run = cancelled("alone", "undo-frozen")
    short = {
        "RUNS_LEASE": timedelta(seconds=3),
        "RUNS_LEASE_MARGIN": timedelta(seconds=0.5),
        "RUNS_HEARTBEAT": timedelta(seconds=0.5),
    }
    with worker(child.undo_until, "effect.reserved", FAKEPAY_URL=bank.url, **short) as zombie:
        zombie.frozen()
        until(lambda: Lease.objects.get(pk=run.pk).expires_at < clock.now())
        lose(run)
        assert sweep.sweep() == 1
        undo = Effect.objects.get(run=run, undoes__isnull=False)
        settle(undo.uid, "did_not_happen", actor=SHELL, reason="It is frozen.")
        assert work.work() == 1
        zombie.send(signal.SIGCONT)
        zombie.result()
    assert cancellations(bank, run) == 1
    assert UndoPlan.objects.get(run=run).status == "done"


def test_a_worker_killed_while_it_asks_is_followed_and_the_doubt_ends(desk, bank):
    bank.arm("drop_after", match={"order_id": "look"})
    run = admission.start("paydesk", {"tool": "found", "order": "look"}, actor=SHELL)
    with worker(child.drive_until, run.pk, "effect.called", FAKEPAY_URL=bank.url) as lost:
        lost.frozen()
        lost.send(signal.SIGKILL)
    effect = effect_of(run)
    with transaction.atomic():
        rows.lock_run(run.pk)
        facts.doubt(rows.lock_effect(effect.pk), "Nobody heard.")
    Effect.objects.update(look_at=clock.now())
    with worker(child.look_until, "look.answered", FAKEPAY_URL=bank.url) as killed:
        assert killed.frozen() == "look.answered"
        killed.send(signal.SIGKILL)
    assert (effect_of(run).status, asking.work()) == ("in_doubt", 0)
    Effect.objects.update(look_at=clock.now())  # the claim is over
    assert asking.work() == 1
    assert effect_of(run).status == "confirmed"
    Lease.objects.filter(pk=run.pk).update(expires_at=clock.now() - HOUR)
    driver.drive(run.pk, holder="next", cause="test")
    assert Run.objects.get(pk=run.pk).status == "succeeded"
    assert bank.rows("SELECT count(*) FROM refunds WHERE order_id = 'look'") == [(1,)]
