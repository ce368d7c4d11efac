"""Taking effects back: what was ordered, at most once, the last first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from accounts import clock
from accounts.actors import Actor
from audit.models import Entry
from ledger import errors, rows, stops, sweep
from ledger.confirmation import recording
from ledger.models import Effect, Idempotency, Incident, UndoPlan
from ledger.outcomes import Outcome
from ledger.registry import Done
from ledger.settle import settle
from ledger.tools import effect
from ledger.undo import plan, work
from runs import afterwards, leases
from runs.errors import LeaseLost
from runs.models import Attempt, Lease, Run
from tests.ledger.conftest import (
    dying_at,
    fresh_actor,
    pass_time,
    take_over,
)
from tests.ledger.provider import returns, unheard
from tests.ledger.undo.conftest import MINUTE, TIMEOUT, again, do, end, lose, order, stands, undo_of

# --- carrying it out ------------------------------------------------------------------------------


def test_what_was_done_is_taken_back_the_last_first(pay, world, bank, run):
    do(run, lambda: pay(order="7"), lambda: pay(order="8"))
    made = order(run)
    assert work.work() == 1
    assert stands(made) == ("done", "")
    assert [payment for _, payment in bank.happened] == ["re_1", "re_0"]
    originals = Effect.objects.filter(undoes=None).order_by("created_at")
    assert bank.calls == [f"{each.idempotency_key}:undo" for each in reversed(originals)]
    assert all(each.undone_by.status == "sent" for each in originals)
    assert [step.state.value for step in plan.steps(run.pk)] == ["undone", "undone"]
    assert (work.work(), len(bank.calls)) == (0, 2)


def test_the_run_stays_as_it_ended_and_its_lease_is_free_again(pay, run):
    do(run, lambda: pay(order="7"))
    before = Run.objects.values().get(pk=run.pk)
    fence = Lease.objects.get(pk=run.pk).fence
    order(run)
    work.work()
    assert Run.objects.values().get(pk=run.pk) == before
    lease = Lease.objects.get(pk=run.pk)
    assert (lease.fence, lease.expires_at, lease.holder) == (fence + 1, None, "")
    attempt = Attempt.objects.get(run=run, fence=fence + 1)
    assert (attempt.cause, attempt.outcome) == ("undo", "finished")


@pytest.mark.parametrize("status", ["cancelled", "failed", "succeeded"])
def test_any_run_that_has_ended_can_be_undone(pay, bank, run, status):
    take_over(run)(lambda: pay(order="7"))
    end(run, status)
    order(run)
    work.work()
    assert len(bank.happened) == 1


def test_a_read_only_run_can_be_undone(pay, bank, run):
    do(run, lambda: pay(order="7"))
    Run.objects.update(read_only=True)
    order(run)
    work.work()
    assert len(bank.happened) == 1


def test_effects_without_an_undo_and_failed_ones_are_left_alone(pay, t, world, bank, run):
    world.says = [None, returns(Outcome.refused("no"))]  # type: ignore[list-item]  # no say: it performs

    def refused() -> None:
        with pytest.raises(errors.EffectFailed):
            pay(order="8")

    do(run, lambda: t.ledger(order="6"), refused, lambda: pay(order="7"))
    assert [step.state.value for step in plan.steps(run.pk)] == ["will", "stays"]
    order(run)
    work.work()
    assert len(bank.happened) == 1


def test_arguments_of_the_same_name_and_the_reference_are_handed_over(world, bank, run):
    got: list[dict[str, object]] = []

    @effect("u.take_back", idempotency=Idempotency.LEDGER)
    def take_back(order: str, reference: str, why: str = "unwanted") -> object:
        got.append({"order": order, "reference": reference, "why": why})
        return Outcome.success("x")

    @effect("u.give", idempotency=Idempotency.LEDGER, undo="u.take_back")
    def give(order: str, size: int) -> object:
        return Outcome.success("g_1")

    do(run, lambda: give(order="7", size=3))
    order(run)
    work.work()
    assert got == [{"order": "7", "reference": "g_1", "why": "unwanted"}]


def test_the_function_of_the_arguments_sees_what_is_stored(world, bank, run):
    seen: list[Done] = []

    @effect("u.take_back", idempotency=Idempotency.LEDGER)
    def take_back(what: str) -> object:
        return Outcome.success("x")

    def of(done: Done) -> dict[str, object]:
        seen.append(done)
        return {"what": "it"}

    @effect("u.give", idempotency=Idempotency.LEDGER, undo=take_back, undo_args=of)
    def give(order: str) -> object:
        return Outcome.success("g_1", {"n": 1})

    do(run, lambda: give(order="7"))
    order(run)
    work.work()
    assert seen == [Done(args={"order": "7"}, result={"n": 1}, reference="g_1")]


def test_what_an_undo_answers_is_kept_without_its_secrets(run):
    @effect("u.take_back", idempotency=Idempotency.LEDGER, redact={"iban"})
    def take_back(order: str) -> object:
        return Outcome.success("x", {"iban": "DE02", "order": order})

    @effect("u.give", idempotency=Idempotency.LEDGER, undo=take_back)
    def give(order: str) -> object:
        return Outcome.success("g_1")

    do(run, lambda: give(order="7"))
    order(run)
    work.work()
    assert undo_of(run).result == {"iban": "redacted", "order": "7"}


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_refusal_for_certain_stops_the_plan_and_is_told(pay, bank, run):
    do(run, lambda: pay(order="7"), lambda: pay(order="8"))
    bank.says = [returns(Outcome.refused("too late"))]
    made = order(run)
    work.work()
    status, why = stands(made)
    assert (status, "too late" in why, bank.happened) == ("stopped", True, [])
    assert Entry.objects.get(verb="undo.stopped").data["plan"] == str(made.uid)
    assert (work.sweep(), work.work()) == (0, 0)


def test_what_was_refused_is_tried_again_when_somebody_orders_it_anew(pay, bank, run):
    do(run, lambda: pay(order="7"))
    bank.says = [returns(Outcome.refused("too late"))]
    order(run)
    work.work()
    made = order(run)
    work.work()
    assert stands(made) == ("done", "")
    key = undo_of(run).idempotency_key
    assert bank.calls == [key, f"{key}#2"]


def test_an_unheard_undo_that_only_the_ledger_guards_is_in_doubt_and_waits(bank, run, request):
    pay = _pay_guarded(request, "ledger")
    do(run, lambda: pay(order="7"), lambda: pay(order="8"))
    bank.says = [unheard()]
    made = order(run)
    work.work()
    assert (undo_of(run).status, stands(made)[0]) == ("in_doubt", "working")
    again()
    assert (work.sweep(), work.work(), len(bank.calls)) == (0, 0, 1)
    settle(undo_of(run).uid, "happened", actor=fresh_actor("Ada"), reason="x", reference="c_1")
    again()
    assert (work.sweep(), work.work()) == (1, 1)
    assert stands(made) == ("done", "")
    assert len(bank.calls) == 2


def _pay_guarded(request, guard: str) -> Any:
    world, bank = request.getfixturevalue("world"), request.getfixturevalue("bank")

    @effect("u.cancel", idempotency=Idempotency(guard), timeout=TIMEOUT)
    def cancel(payment: str, *, idempotency_key: str) -> object:
        return bank.call(idempotency_key, payment)

    @effect(
        "u.pay",
        idempotency=Idempotency.LEDGER,
        undo=cancel,
        undo_args=lambda done: {"payment": done.reference},
    )
    def pay(order: str, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order)

    return pay


@pytest.mark.parametrize("place", ["effect.reserved", "effect.called", "effect.settled"])
@pytest.mark.parametrize("pay", ["provider", "lookup", "ledger"], indirect=True)
def test_whoever_dies_around_an_undo_is_followed_and_it_happens_once(
    pay, bank, run, place, request
):
    guard = request.node.callspec.params["pay"]
    do(run, lambda: pay(order="7"))
    made = order(run)
    with dying_at(place):
        work.work()
    assert work.work() == 0  # the dead one still holds the lease
    lose(run)
    sweep.sweep()
    if guard == "ledger" and place != "effect.settled":
        assert undo_of(run).status == "in_doubt"
        known = "happened" if bank.happened else "did_not_happen"
        settle(undo_of(run).uid, known, actor=fresh_actor("Ada"), reason="x", reference="re_0")
    again()
    assert work.work() == 1
    if guard == "lookup" and place == "effect.reserved":
        pass_time(run, MINUTE)  # the quarantine of the provider's "no"
        again()
        work.work()
    assert stands(made)[0] == "done"
    assert len(bank.happened) == 1


def test_the_sweeper_leaves_calls_of_a_plan_at_work_to_its_workers(pay, bank, run):
    do(run, lambda: pay(order="7"))
    order(run)
    with dying_at("effect.called"):
        work.work()
    lose(run)
    assert sweep.sweep() == 0
    UndoPlan.objects.update(status="stopped", ended_at=clock.now())
    assert sweep.sweep() == 1
    assert undo_of(run).status == "in_doubt"


def test_a_former_worker_that_wakes_up_is_refused(pay, bank, run):
    do(run, lambda: pay(order="7"))
    with afterwards.holding(run.pk, holder="zombie", cause="undo") as zombie:
        assert zombie is not None
        with afterwards.holding(run.pk, holder="other", cause="undo") as nobody:
            assert nobody is None
        Lease.objects.update(expires_at=clock.now() - MINUTE)
        with afterwards.holding(run.pk, holder="next", cause="undo") as mine:
            assert mine is not None
            assert mine.lease.fence == zombie.lease.fence + 1
            with pytest.raises(LeaseLost), transaction.atomic():
                leases.lock(zombie.lease)
            with transaction.atomic():
                leases.lock(mine.lease)
    outcomes = Attempt.objects.filter(run=run).order_by("fence").values_list("outcome", flat=True)
    assert list(outcomes) == ["lost", "finished"]


def test_a_run_that_goes_on_is_not_held(run):
    with afterwards.holding(run.pk, holder="w", cause="undo") as mine:
        assert mine is None


def test_an_emergency_stop_holds_the_plan_up_without_a_call_or_a_lease(pay, bank, run):
    do(run, lambda: pay(order="7"))
    ada = fresh_actor("Ada")
    stop = stops.set("tool", "u.cancel", actor=ada, reason="Look first.")
    made = order(run)
    fence = Lease.objects.get(pk=run.pk).fence
    assert work.work() == 0
    assert stands(made) == ("working", "An emergency stop is on, set by Ada: Look first.")
    assert (bank.calls, Lease.objects.get(pk=run.pk).fence) == ([], fence)
    stops.lift(stop.pk, actor=ada, reason="Looked.")
    again()
    assert (work.work(), len(bank.happened)) == (1, 1)


def test_arguments_that_cannot_be_made_stop_the_plan_before_any_call(world, bank, run):
    @effect("u.take_back", idempotency=Idempotency.LEDGER)
    def take_back(what: str) -> object:
        return Outcome.success("x")

    @effect("u.give", idempotency=Idempotency.LEDGER, undo=take_back)
    def give(order: str) -> object:
        return Outcome.success("g_1")

    do(run, lambda: give(order="7"))
    made = order(run)
    work.work()
    status, why = stands(made)
    assert (status, "missing a required argument: 'what'" in why) == ("stopped", True)


def test_a_process_without_the_tools_leaves_the_plan_to_others(pay, run, monkeypatch):
    do(run, lambda: pay(order="7"))
    order(run)
    monkeypatch.setattr("ledger.registry._tools", {})
    assert (work.sweep(), work.work()) == (1, 0)


def test_a_busy_provider_is_left_alone_for_as_long_as_it_asks(pay, bank, run):
    do(run, lambda: pay(order="7"))
    bank.says = [returns(Outcome.refused("busy", retryable=True, retry_after=600))]
    made = order(run)
    work.work()
    made.refresh_from_db()
    assert made.due_at - clock.now() > timedelta(minutes=9)
    assert (made.status, sweep.sweep()) == ("working", 0)
    pass_time(run, timedelta(minutes=11))
    again()
    work.work()
    assert stands(made)[0] == "done"


# --- what the provider took back by itself -------------------------------------------------------


def tell_of_reversal(run: Run) -> None:
    with transaction.atomic():
        rows.lock_run(run.pk)
        original = Effect.objects.filter(run=run, undoes=None).earliest("created_at")
        effect = rows.lock_effect(original.pk)
        recording.reversed_(effect, why="By the customer.", actor=Actor.command("t"))


def test_what_its_provider_took_back_is_not_taken_back_once_more(pay, bank, run):
    do(run, lambda: pay(order="7"), lambda: pay(order="8"))
    tell_of_reversal(run)
    assert [step.state.value for step in plan.steps(run.pk)] == ["will", "gone"]
    made = order(run)
    work.work()
    assert stands(made) == ("done", "")
    assert [payment for _, payment in bank.happened] == ["re_1"]
    with pytest.raises(errors.NothingToUndo):
        order(run)


@pytest.mark.parametrize("moment", ["ordered", "looked at"])
def test_a_reversal_that_is_told_under_way_is_not_made_twice(pay, bank, run, monkeypatch, moment):
    do(run, lambda: pay(order="7"))
    made = order(run)
    if moment == "ordered":
        tell_of_reversal(run)
    else:  # after the worker has read what is next, before the undo has a row
        kept = work.keys.kept

        def told_meanwhile(*args: Any, **more: Any) -> Any:
            tell_of_reversal(run)
            return kept(*args, **more)

        monkeypatch.setattr(work.keys, "kept", told_meanwhile)
    work.work()
    assert stands(made) == ("done", "")
    assert (bank.happened, Effect.objects.count()) == ([], 1)


def test_a_provider_that_tells_of_what_we_took_back_is_no_incident(pay, run):
    do(run, lambda: pay(order="7"))
    order(run)
    work.work()
    original = Effect.objects.get(undoes=None)
    with transaction.atomic():
        rows.lock_run(run.pk)
        told = recording.reversed_(rows.lock_effect(original.pk), why="", actor=Actor.command("t"))
    assert told == "expected"
    assert not Incident.objects.exists()
