"""The ledger under the real driver, with the real saver: how runs wait, park, end and go on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, connections

from accounts import clock
from accounts.actors import Actor
from ledger import facts, refusals, stops, sweep
from ledger.outcomes import Outcome
from ledger.settle import settle
from runs import admission, checkpoints, controls, driver, killpoints
from runs.models import Lease, Run
from runs.status import Outcome as Ended
from tests.ledger import desk
from tests.ledger.conftest import dying_at, effect_of, outcomes_of, pass_time
from tests.ledger.provider import Provider, http, unheard
from tests.support import caches

pytestmark = pytest.mark.usefixtures("real_steps")
SHELL = Actor.command("test")


@pytest.fixture(scope="module", autouse=True)
def pools_end(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    yield
    checkpoints.close()
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def world(settings, monkeypatch) -> Iterator[Provider]:
    settings.RUNS_AGENTS = [
        {"name": name, "graph": f"tests.ledger.desk.{name}", "version": "1"}
        for name in ("graph", "async_graph", "workflow")
    ]
    settings.RUNS_BACKOFF = timedelta(0)
    world = Provider()
    monkeypatch.setattr(desk, "WORLD", world)
    caches.forget()
    yield world
    caches.forget()


def start(tool: str = "kept", **given: object) -> Run:
    return admission.start("graph", {"tool": tool, **given}, actor=SHELL)


def drive(run: Run) -> Ended | None:
    return driver.drive(run.pk, holder="w1", cause="test")


def now(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def lose(run: Run) -> None:
    """The worker is gone, and its lease has run out."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_lease SET expires_at = clock_timestamp() - interval '1 second'"
            " WHERE run_id = %s",
            [run.pk],
        )


def due(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(due_at=clock.now() - timedelta(seconds=1))


@pytest.mark.parametrize("tool", ["kept", "found", "alone"])
def test_a_run_pays_once_and_ends(world, tool):
    run = start(tool)
    assert drive(run) is Ended.FINISHED
    assert [order for _, order in world.happened] == ["7", "told"]
    assert now(run).output["log"][0]["order"] == "7"


def test_a_run_of_coroutines_pays_once_and_ends(world):
    run = admission.start("async_graph", {}, actor=SHELL)
    assert drive(run) is Ended.FINISHED
    assert len(world.happened) == 1


def test_tasks_of_a_workflow_pay_once_each(world):
    run = admission.start("workflow", ["1", "2", "3"], actor=SHELL)
    assert drive(run) is Ended.FINISHED
    assert sorted(order for _, order in world.happened) == ["1", "2", "3"]


@pytest.mark.parametrize("place", ["effect.reserved", "effect.called", "effect.settled"])
@pytest.mark.parametrize("tool", ["kept", "found"])
def test_a_worker_that_dies_anywhere_around_the_call_leaves_one_payment(world, tool, place):
    run = start(tool)
    with dying_at(place):
        drive(run)
    lose(run)
    outcome = drive(run)
    if outcome is Ended.RAISED:  # in quarantine
        assert now(run).status == "queued"
        assert now(run).due_at is not None
        pass_time(run, timedelta(minutes=2))
        due(run)
        outcome = drive(run)
    assert outcome is Ended.FINISHED
    assert [order for _, order in world.happened] == ["7", "told"]


def test_a_doubt_parks_the_run_and_settling_lets_it_go_on(world):
    world.says = [unheard()]
    run = start("alone")
    assert drive(run) is Ended.PARKED
    assert (now(run).status, now(run).park_reason) == ("parked", "effect_in_doubt")
    assert drive(run) is None  # nothing new
    settle(effect_of(run).uid, "happened", actor=SHELL, reason="x", reference="re_1")
    assert drive(run) is Ended.FINISHED
    assert now(run).output["log"][0] == {"reference": "re_1"}
    assert [order for _, order in world.happened] == ["told"]


def test_a_swallowed_doubt_parks_the_run_all_the_same(world):
    world.says = [unheard()]
    run = start("alone", swallow=True)
    assert drive(run) is Ended.PARKED
    assert now(run).park_reason == "effect_in_doubt"
    assert len(world.calls) == 1
    settle(effect_of(run).uid, "did_not_happen", actor=SHELL, reason="x")
    assert drive(run) is Ended.FINISHED


def test_a_late_fact_frees_a_parked_run(world):
    run = start("alone")
    with dying_at("effect.called"):
        drive(run)
    lose(run)
    assert drive(run) is Ended.PARKED
    token = effect_of(run).calls.get().token
    facts.record(token, Outcome.success("re_0", {"id": "re_0", "order": "7"}))
    assert drive(run) is Ended.FINISHED
    assert [order for _, order in world.happened] == ["7", "told"]


def test_a_provider_that_is_down_costs_no_tries_and_parks_nothing(world):
    world.says = [unheard()] * 12
    run = start("kept")
    for _ in range(10):
        assert drive(run) is Ended.RAISED
        assert now(run).status == "queued"
        pass_time(run, timedelta(minutes=30))
        due(run)
    assert drive(run) is Ended.FINISHED
    assert [order for _, order in world.happened] == ["7", "told"]
    assert set(world.calls[:13]) == {world.calls[0]}


def test_a_refusal_that_nobody_handles_fails_the_run_at_once(world):
    world.says = [http(402, {"error": "declined"})]
    run = start("kept")
    assert drive(run) is Ended.RAISED
    assert (now(run).status, now(run).error_class) == ("failed", "EffectFailed")
    assert len(world.calls) == 1


def test_a_refusal_that_the_node_handles_is_handled_the_same_way_again(world):
    world.says = [http(402, {"error": "declined"})]
    run = start("kept", swallow=True)
    assert drive(run) is Ended.FINISHED
    assert now(run).output["log"][0] == "swallowed"


def test_an_emergency_stop_parks_and_lifting_it_lets_the_run_go_on(world):
    run = start("kept")
    stop = stops.set("tool", "desk.kept", actor=SHELL, reason="Wrong amounts.")
    assert drive(run) is Ended.PARKED
    assert now(run).park_reason == "emergency_stop"
    assert world.calls == []
    stops.lift(stop.pk, actor=SHELL, reason="Repaired.")
    assert drive(run) is Ended.FINISHED
    assert len(world.happened) == 2


def test_a_read_only_run_is_parked_at_its_first_effect(world):
    run = start("kept")
    Run.objects.filter(pk=run.pk).update(read_only=True)
    assert drive(run) is Ended.PARKED
    assert (now(run).park_reason, world.calls) == ("read_only", [])


def test_a_run_asked_to_cancel_during_a_call_records_it_and_ends(world):
    run = start("alone")
    world.says = [
        lambda: controls.cancel(run.pk, actor=SHELL, reason="Wrong order.") and None,
    ]
    assert drive(run) is Ended.CANCELLED
    assert (now(run).status, effect_of(run).status) == ("cancelled", "sent")
    assert [order for _, order in world.happened] == ["7"]


def test_a_run_cancelled_while_a_call_was_unheard_leaves_a_doubt_that_is_seen(world):
    world.says = [unheard()]
    run = start("found")
    assert drive(run) is Ended.RAISED
    controls.cancel(run.pk, actor=SHELL, reason="Too long.")
    assert drive(run) is Ended.CANCELLED
    assert effect_of(run).status == "pending"
    sweep.sweep()
    assert effect_of(run).status == "in_doubt"
    settle(effect_of(run).uid, "happened", actor=SHELL, reason="x", reference="re_1")
    assert (effect_of(run).status, now(run).status) == ("confirmed", "cancelled")


def test_a_driver_that_lost_its_lease_before_the_call_leaves_the_run_to_the_next(world):
    run = start("alone")

    def say(*_: Any) -> None:
        lose(run)
        Lease.objects.filter(pk=run.pk).update(fence=99)

    killpoints.install(lambda name, _: say() if name == "driver.before_call" else None)
    assert drive(run) is None
    killpoints.install(None)
    assert world.calls == []


def test_a_short_loss_of_contact_does_not_fail_the_run(world):
    """Past its own deadline, but the lease is still held: look again, do not give up."""
    run = start("alone")
    seen = []

    def hurry(name: str, _: str) -> None:
        if name == "effect.reserved" and not seen:
            seen.append(name)
            raise refusals.LeaseGone

    killpoints.install(hurry)
    assert drive(run) is Ended.RAISED
    killpoints.install(None)
    assert now(run).status == "queued"
    assert outcomes_of(effect_of(run)) == ["open"]


def test_a_run_parked_just_after_its_stop_was_lifted_goes_on(world, monkeypatch) -> None:
    run = start()
    stop = stops.set("agent", "graph", actor=SHELL, reason="fire")
    lifting = [stop.pk]

    def lift(place: str, run_id: object) -> None:
        if place == "lease.locking" and lifting:  # the driver has seen the stop and will park
            with ThreadPoolExecutor(1) as other:
                other.submit(lift_elsewhere, lifting.pop()).result(20)

    killpoints.install(lift)
    try:
        assert drive(run) is Ended.PARKED
    finally:
        killpoints.install(None)
    assert stops.wake_late() == 1
    assert drive(run) is Ended.FINISHED
    assert stops.wake_late() == 0


def test_a_run_parked_for_a_stop_that_is_on_is_left_alone(world) -> None:
    old = stops.set("agent", "other", actor=SHELL, reason="fire")
    stops.lift(old.pk, actor=SHELL, reason="out")
    run = start()
    stops.set("agent", "graph", actor=SHELL, reason="fire")
    assert drive(run) is Ended.PARKED
    assert stops.wake_late() == 0


def lift_elsewhere(stop_id: int) -> None:
    try:
        stops.lift(stop_id, actor=SHELL, reason="out")
    finally:
        connections.close_all()
