"""When the ledger sends nothing: the latch, stops, read-only, permits, conflicts, lost leases."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction
from langgraph.errors import GraphBubbleUp

from accounts import clock
from audit.models import Entry
from ledger import effects, errors, keys, refusals, reserve, stops
from ledger.models import Effect, Idempotency, Incident
from ledger.outcomes import Outcome
from ledger.tools import effect
from runs import killpoints
from runs.models import Lease, Run
from runs.status import Park
from tests.ledger.conftest import (
    SomePermits,
    dying_at,
    effect_of,
    make_run,
    outcomes_of,
    pass_time,
    take_over,
)
from tests.ledger.provider import http, unheard
from tests.ledger.test_stops import SHELL


def refused(run) -> list[tuple[str, bool, str]]:
    entries = Entry.objects.filter(run_id=run.pk, verb="effect.refused").order_by("id")
    return [(entry.data["why"], entry.allowed, entry.target_kind) for entry in entries]


# --- the latch -----------------------------------------------------------------------------------


def test_while_any_effect_is_in_doubt_no_other_is_started(t, world, driver, run):
    world.says = [unheard()]

    def node() -> None:
        for order in ("7", "8", "9"):
            with suppress(Exception):  # user code that swallows everything
                t.ledger(order=order)

    driver(node)
    assert [each["order"] for each in world.seen] == ["7"]
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.provider(order="10"), step="other@task")
    assert len(world.calls) == 1
    assert {why for why, _, _ in refused(run)} == {"EffectInDoubt"}


def test_the_latch_also_holds_back_what_is_done(t, world, driver, run):
    driver(lambda: t.ledger(order="6"))
    world.says = [unheard()]
    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="7"))
    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="6"))


def test_the_latch_of_one_run_does_not_hold_others(t, world, driver, run):
    world.says = [unheard()]
    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="7"))
    take_over(make_run())(lambda: t.ledger(order="7"))
    assert len(world.happened) == 1


def test_swallowed_waits_do_not_let_later_effects_pass(t, world, driver, run):
    """The node swallowed LookAgainLater and went on: nothing new until the first one is clear."""
    world.says = [world.happens_unheard()]
    world.finds = [lambda: None]

    def node() -> None:
        with suppress(Exception):  # user code that swallows everything
            t.lookup(order="7")
        t.ledger(order="8")

    with pytest.raises(refusals.LookAgainLater):
        driver(node)
    assert [each["order"] for each in world.seen] == ["7"]

    # The graph has gone on to another step: the first effect is never asked for again.
    pass_time(run, timedelta(minutes=2))
    take_over(run)(lambda: t.ledger(order="8"), step="next@task")
    assert effect_of(run, "t.lookup").status == "confirmed"
    assert len(world.happened) == 2


def test_what_was_swallowed_is_resolved_but_not_performed_anew(t, world, driver, run):
    world.says = [unheard()]
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.lookup(order="7"))
    pass_time(run, timedelta(minutes=2))
    take_over(run)(lambda: t.ledger(order="8"), step="next@task")

    assert world.happened == [(world.calls[-1], "8")]
    assert outcomes_of(effect_of(run, "t.lookup")) == ["absent"]
    assert effect_of(run, "t.lookup").status == "pending"


def test_a_call_left_by_a_lost_driver_comes_before_anything_new(t, world, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.provider(order="8"), step="elsewhere@task")
    assert len(world.calls) == 1
    assert effect_of(run, "t.ledger").status == "in_doubt"


def test_a_tool_that_no_worker_knows_any_more_is_in_doubt(t, world, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.provider(order="7"))
    Effect.objects.update(tool="gone.tool")
    with pytest.raises(refusals.EffectInDoubt, match=r"gone\.tool"):
        take_over(run)(lambda: t.ledger(order="8"))
    assert len(world.calls) == 1


def test_done_effects_are_told_while_another_is_unresolved(t, world, driver, run):
    """Or the node could never come to the one that has to be resolved."""
    driver(lambda: t.ledger(order="6"))
    world.says = [unheard()]
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.lookup(order="7"))
    assert driver(lambda: t.ledger(order="6"))["order"] == "6"


# --- forbidden -----------------------------------------------------------------------------------


def test_a_read_only_run_starts_nothing_but_is_told_what_is_done(t, world, driver, run):
    done = driver(lambda: t.provider(order="7"))
    Run.objects.filter(pk=run.pk).update(read_only=True)
    with pytest.raises(refusals.ReadOnly) as stop:
        driver(lambda: t.provider(order="8"))
    assert (stop.value.park, isinstance(stop.value, GraphBubbleUp)) == (Park.READ_ONLY, True)
    assert driver(lambda: t.provider(order="7")) == done
    assert len(world.calls) == 1
    assert refused(run) == [("ReadOnly", False, "tool")]
    assert Effect.objects.count() == 1


def test_a_read_only_run_does_not_repeat_an_unheard_call(t, world, driver, run):
    with dying_at("effect.reserved"):
        driver(lambda: t.provider(order="7"))
    Run.objects.filter(pk=run.pk).update(read_only=True)
    with pytest.raises(refusals.ReadOnly):
        take_over(run)(lambda: t.provider(order="7"))
    assert world.calls == []


@pytest.mark.parametrize(
    ("scope", "name", "hit"),
    [
        ("everything", "", True),
        ("agent", "desk", True),
        ("tool", "t.provider", True),
        ("agent", "other", False),
        ("tool", "t.other", False),
    ],
)
def test_an_emergency_stop_starts_nothing_but_tells_what_is_done(
    t, world, driver, run, scope, name, hit
):
    done = driver(lambda: t.provider(order="7"))
    stop = stops.set(scope, name, actor=SHELL, reason="Money leaks.")
    assert driver(lambda: t.provider(order="7")) == done
    if not hit:
        driver(lambda: t.provider(order="8"))
        return
    with pytest.raises(refusals.EmergencyStopped, match="Money leaks") as stopped:
        driver(lambda: t.provider(order="8"))
    assert stopped.value.park == Park.EMERGENCY_STOP
    assert len(world.calls) == 1
    assert refused(run) == [("EmergencyStopped", False, "tool")]
    stops.lift(stop.pk, actor=SHELL, reason="Found it.")
    driver(lambda: t.provider(order="8"))


def test_a_stop_set_between_two_tries_stops_the_second(t, world, driver, run):
    def say() -> object:
        stops.set("everything", "", actor=SHELL, reason="Enough.")
        return Outcome.refused("busy", retryable=True)

    world.says = [say]
    with pytest.raises(refusals.EmergencyStopped):
        driver(lambda: t.provider(order="7"))
    assert len(world.calls) == 1


def test_after_somebody_asked_to_cancel_nothing_is_started(t, world, driver, run):
    done = driver(lambda: t.provider(order="7"))
    Run.objects.filter(pk=run.pk).update(cancel_asked_at=clock.now())
    with pytest.raises(refusals.CancelAsked) as stop:
        driver(lambda: t.provider(order="8"))
    assert (stop.value.park, stop.value.free) == (None, True)
    assert driver(lambda: t.provider(order="7")) == done


# --- permits -------------------------------------------------------------------------------------


@pytest.fixture
def permitted(world):
    def pay(order: str, amount: int = 10, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order, amount=amount)

    return effect("t.permitted", idempotency=Idempotency.LEDGER, permit=True)(pay)


def approve(tool, *args: object, **kwargs: object):
    described = tool.describe(*args, **kwargs)
    decision = uuid4()
    key = (described["tool"], keys.kept("", described["args"])[1])
    SomePermits.approved.setdefault(key, []).append(decision)
    return decision


def test_without_a_permit_nothing_is_sent(permitted, world, driver, run):
    with pytest.raises(refusals.PermitMissing) as stop:
        driver(lambda: permitted(order="7"))
    assert stop.value.park == Park.PERMIT_MISSING
    assert (world.calls, Effect.objects.count()) == ([], 0)
    assert refused(run) == [("PermitMissing", False, "tool")]


def test_a_permit_is_for_exactly_these_arguments(permitted, world, driver, run):
    decision = approve(permitted, "7", 10)
    with pytest.raises(refusals.PermitMissing):
        driver(lambda: permitted("7", 11))
    with pytest.raises(refusals.PermitMissing):
        driver(lambda: permitted("8", 10))
    driver(lambda: permitted(amount=10.0, order="7"))
    assert effect_of(run).permit == decision
    assert len(world.calls) == 1


def test_a_permit_serves_one_effect(permitted, world, driver, run):
    approve(permitted, "7")
    driver(lambda: permitted("7"))
    driver(lambda: permitted("7"))
    with pytest.raises(refusals.PermitMissing):
        driver(lambda: permitted("7", occurrence=2))
    with pytest.raises(refusals.PermitMissing):
        driver(lambda: permitted("7"), step="another@task")
    assert len(world.calls) == 1


def test_a_port_that_offers_a_used_permit_again_is_not_believed(permitted, world, driver, run):
    approve(permitted, "7")
    SomePermits.reuses = True
    driver(lambda: permitted("7"))
    with pytest.raises(refusals.PermitMissing):
        driver(lambda: permitted("7", occurrence=2))
    assert refused(run) == [("PermitMissing", False, "tool")]
    with pytest.raises(refusals.PermitMissing):  # of another run, where nobody is kept from looking
        take_over(make_run())(lambda: permitted("7"))
    assert len(world.calls) == 1


def test_further_attempts_of_an_effect_need_no_further_permit(permitted, world, driver, run):
    approve(permitted, "7")
    world.says = [http(429)]
    driver(lambda: permitted("7"))
    assert len(world.calls) == 2


def test_a_permit_may_depend_on_the_arguments(world, driver, run):
    def pay(order: str, amount: int, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order)

    tool = effect(
        "t.limited", idempotency=Idempotency.LEDGER, permit=lambda args: args["amount"] > 50
    )(pay)
    driver(lambda: tool("7", 50))
    with pytest.raises(refusals.PermitMissing):
        driver(lambda: tool("7", 51))


# --- conflicts -----------------------------------------------------------------------------------


def test_the_same_key_with_other_arguments_sends_nothing(t, world, driver, run):
    driver(lambda: t.provider(order="7", amount=10, key="refund:{run_id}:7"))
    for _ in range(2):
        with pytest.raises(errors.EffectConflict) as conflict:
            driver(lambda: t.provider(order="7", amount=11, key="refund:{run_id}:7"))
        assert conflict.value.transient is False
        assert not isinstance(conflict.value, GraphBubbleUp)
    with pytest.raises(errors.EffectConflict):
        driver(lambda: t.ledger(order="7", amount=10, key="refund:{run_id}:7"))
    assert len(world.calls) == 1
    assert Incident.objects.filter(kind="conflict").count() == 2
    told = Entry.objects.filter(verb="effect.conflict").order_by("id")
    assert [entry.allowed for entry in told] == [False, False]
    assert "args" not in told[0].data
    assert Incident.objects.order_by("id")[0].facts["args"] == {"order": "7", "amount": 11}


def test_the_key_of_another_run_is_a_conflict(t, world, driver, run):
    other = make_run()
    key = f"{run.pk}:{other.pk}"
    driver(lambda: t.provider(order="7", key=key))
    with pytest.raises(errors.EffectConflict):
        take_over(other)(lambda: t.provider(order="7", key=key))
    assert len(world.calls) == 1


# --- leases --------------------------------------------------------------------------------------


def test_a_former_driver_reserves_nothing(t, world, driver, run):
    take_over(run)
    with pytest.raises(refusals.LeaseGone) as gone:
        driver(lambda: t.provider(order="7"))
    assert (gone.value.park, gone.value.free) == (None, True)
    assert (world.calls, Effect.objects.count()) == ([], 0)


def test_an_expired_lease_reserves_nothing(t, world, driver, run):
    Lease.objects.filter(pk=run.pk).update(expires_at=clock.now() - timedelta(seconds=1))
    with pytest.raises(refusals.LeaseGone):
        driver(lambda: t.provider(order="7"))
    assert world.calls == []


def test_after_its_own_deadline_a_driver_does_not_even_ask_the_database(
    t, world, driver, run, monkeypatch
):
    driver.authority.deadline = time.monotonic() - 1
    monkeypatch.setattr(reserve, "take", lambda *a, **k: pytest.fail("asked the database"))
    with pytest.raises(refusals.LeaseGone):
        driver(lambda: t.provider(order="7"))
    assert world.calls == []


def test_a_driver_frozen_after_the_mark_does_not_call(t, world, driver, run):
    def freeze(name: str, run_id: str) -> None:
        if name == "effect.reserved":
            driver.authority.deadline = time.monotonic() - 0.001

    killpoints.install(freeze)
    with pytest.raises(refusals.LeaseGone):
        driver(lambda: t.provider(order="7"))
    assert world.calls == []
    assert outcomes_of(effect_of(run)) == ["absent"]


def test_a_call_is_not_started_after_its_time_even_if_the_lease_is_held(world, driver, run):
    def quick(order: str, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order)

    tool = effect("t.quick", idempotency=Idempotency.LEDGER, timeout=timedelta(seconds=0.05))(quick)
    killpoints.install(lambda name, run_id: time.sleep(0.1))
    with pytest.raises(refusals.LeaseGone):
        driver(lambda: tool(order="7"))
    assert world.calls == []
    assert outcomes_of(effect_of(run)) == ["absent"]


def test_a_former_driver_cannot_free_an_effect_by_a_no(t, world, driver, run, monkeypatch):
    world.says = [unheard()]
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.lookup(order="7"))
    pass_time(run, timedelta(minutes=2))
    zombie = take_over(run)
    world.finds = [lambda: take_over(run) and None]  # taken over while it asks
    with pytest.raises(refusals.LeaseGone):
        zombie(lambda: t.lookup(order="7"))
    assert outcomes_of(effect_of(run)) == ["unknown"]


def test_outside_of_a_run_nothing_is_sent(t, world):
    with pytest.raises(errors.NoAuthority):
        t.provider(order="7")
    assert world.calls == []


def test_inside_a_transaction_nothing_is_sent(t, world, driver):
    with transaction.atomic(), pytest.raises(errors.InsideTransaction):
        driver(lambda: t.provider(order="7"))
    assert world.calls == []


def test_an_effect_inside_an_effect_is_refused(t, world, driver, run):
    def outer(*, idempotency_key: str) -> object:
        return t.provider(order="7")

    tool = effect("t.outer", idempotency=Idempotency.LEDGER)(outer)
    with pytest.raises(refusals.EffectInDoubt, match="InsideEffect"):
        driver(tool)
    assert world.calls == []


def test_draining_gives_the_run_back_instead_of_waiting(t, world, driver, run, settings):
    settings.LEDGER_BACKOFF = timedelta(seconds=3)
    world.says = [lambda: driver.authority.draining.set() or Outcome.unknown("x")]
    before = time.monotonic()
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.provider(order="7"))
    assert time.monotonic() - before < 1.4
    assert effects.PATIENCE > 3
