"""Calls whose end nobody will report are put in doubt; everything else is left alone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from accounts import clock
from audit.models import Entry
from ledger import facts, refusals, sweep
from ledger.models import EffectAttempt
from ledger.outcomes import Outcome
from runs.models import Lease, Run
from tests.ledger.conftest import dying_at, effect_of, outcomes_of, pass_time, take_over, wakes_of
from tests.ledger.provider import unheard

EVERY = ("provider", "lookup", "ledger")
MINUTE = timedelta(minutes=1)


def lost(tool, driver) -> None:
    with dying_at("effect.called"):
        driver(lambda: tool(order="7"))


def end(run, status: str = "cancelled") -> None:
    Run.objects.filter(pk=run.pk).update(status=status, ended_at=clock.now())
    Lease.objects.filter(pk=run.pk).update(expires_at=None)


def gone(run) -> None:
    Lease.objects.filter(pk=run.pk).update(expires_at=clock.now() - MINUTE)


@pytest.mark.parametrize("how", ["expired", "free", "taken over"])
def test_a_lost_call_that_only_the_ledger_guards_is_put_in_doubt(t, driver, run, rung, how):
    lost(t.ledger, driver)
    pass_time(run, MINUTE)
    if how == "expired":
        gone(run)
    elif how == "free":
        Lease.objects.filter(pk=run.pk).update(expires_at=None)
    else:
        take_over(run)
    assert (sweep.sweep(), sweep.sweep()) == (1, 0)
    assert (effect_of(run).status, outcomes_of(effect_of(run))) == ("in_doubt", ["unknown"])
    assert wakes_of(run) == 1
    assert rung == [run.pk]
    entry = Entry.objects.get(verb="effect.in_doubt")
    assert entry.actor_label == "sweeper"


@pytest.mark.parametrize("name", EVERY)
def test_a_call_whose_driver_lives_is_left_alone(t, driver, run, name):
    lost(getattr(t, name), driver)
    pass_time(run, MINUTE)
    assert sweep.sweep() == 0
    assert outcomes_of(effect_of(run)) == ["open"]


@pytest.mark.parametrize("name", EVERY)
def test_a_call_whose_time_is_not_up_is_left_alone(t, driver, run, name):
    lost(getattr(t, name), driver)
    gone(run)
    assert sweep.sweep() == 0


@pytest.mark.parametrize("name", ["provider", "lookup"])
def test_what_the_run_itself_will_resolve_is_left_to_it(t, driver, run, name):
    lost(getattr(t, name), driver)
    pass_time(run, MINUTE)
    gone(run)
    assert sweep.sweep() == 0
    assert outcomes_of(effect_of(run)) == ["open"]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("status", ["cancelled", "failed", "succeeded"])
def test_a_lost_call_of_a_run_that_has_ended_is_put_in_doubt(t, driver, run, name, status):
    lost(getattr(t, name), driver)
    pass_time(run, MINUTE)
    end(run, status)
    assert (sweep.sweep(), sweep.sweep()) == (1, 0)
    assert (effect_of(run).status, outcomes_of(effect_of(run))) == ("in_doubt", ["unknown"])


def test_an_unheard_call_of_a_run_that_has_ended_is_put_in_doubt(t, world, driver, run):
    world.says = [unheard()]
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.lookup(order="7"))
    assert sweep.sweep() == 0
    end(run)
    assert (sweep.sweep(), sweep.sweep()) == (1, 0)
    assert effect_of(run).status == "in_doubt"


def test_what_was_refused_for_now_and_what_a_person_allowed_is_no_doubt(t, world, driver, run):
    world.says = [lambda: Outcome.refused("busy", retryable=True, retry_after=600)]
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.provider(order="7"))
    pass_time(run, timedelta(hours=2))
    end(run)
    assert sweep.sweep() == 0


def test_an_open_call_of_an_effect_that_is_done_is_closed_without_a_doubt(t, driver, run):
    lost(t.provider, driver)
    effect = effect_of(run)
    facts.record(effect.calls.get().token, Outcome.success("re_0"))
    EffectAttempt.objects.create(
        effect=effect,
        number=2,
        provider_key=effect.provider_key,
        fence=1,
        holder="w1",
        timeout_at=clock.now() - MINUTE,
    )
    gone(run)
    assert (sweep.sweep(), sweep.sweep()) == (1, 0)
    assert (effect_of(run).status, outcomes_of(effect_of(run))) == (
        "sent",
        ["succeeded", "unknown"],
    )


def test_what_was_found_is_looked_at_again_under_its_locks(t, driver, run):
    lost(t.ledger, driver)  # a call that is alive, as if it was started after the search
    effect = effect_of(run)
    assert sweep._put_in_doubt(effect.idempotency_key, run.pk) is False
    assert (effect_of(run).status, outcomes_of(effect_of(run))) == ("pending", ["open"])


def test_a_fact_after_the_sweep_still_counts(t, driver, run):
    lost(t.ledger, driver)
    token = effect_of(run).calls.get().token
    pass_time(run, MINUTE)
    gone(run)
    sweep.sweep()
    facts.record(token, Outcome.success("re_0"))
    assert effect_of(run).status == "sent"


def test_no_time_whatsoever_frees_a_doubt(t, world, driver, run):
    lost(t.ledger, driver)
    pass_time(run, MINUTE)
    gone(run)
    sweep.sweep()
    pass_time(run, timedelta(days=3650))
    assert sweep.sweep() == 0
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.ledger(order="7"))
    assert len(world.calls) == 1
