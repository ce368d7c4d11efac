"""Ordering that effects are taken back: who may, when, and exactly what was shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts import clock
from accounts import errors as people
from accounts.actors import Actor
from audit.models import Entry
from ledger import errors
from ledger.models import UndoPlan
from ledger.outcomes import Outcome
from ledger.undo import ordering, plan, work
from runs.models import Run
from tests.ledger.conftest import (
    dying_at,
    effect_of,
    fresh_actor,
    make_run,
    take_over,
)
from tests.ledger.provider import returns, unheard
from tests.ledger.undo.conftest import do, end, order


def test_an_order_names_who_why_and_what_and_is_recorded(pay, run):
    do(run, lambda: pay(order="7"))
    made = order(run, fresh_actor("Ada"), " The wrong customer. ")
    assert (made.asked_by, made.reason) == ("Ada", "The wrong customer.")
    entry = Entry.objects.get(verb="undo.ordered")
    assert (entry.actor_label, entry.reason) == ("Ada", "The wrong customer.")
    assert entry.data["effects"] == [str(effect_of(run).uid)]
    assert work.sweep() == 1


def refusal(run: Run, error: type[Exception], **given: Any) -> None:
    with pytest.raises(error):
        order(run, **given)
    assert Entry.objects.get(verb="undo.refused").allowed is False


@pytest.mark.parametrize("who", ["Ben", "Cy", "Dee"])
def test_who_may_not_is_refused(pay, run, who):
    do(run, lambda: pay(order="7"))
    refusal(run, people.NotPermitted, actor=fresh_actor(who))


def test_who_has_not_signed_in_lately_is_asked_to(pay, run):
    do(run, lambda: pay(order="7"))
    stale = replace(fresh_actor("Ada"), authenticated_at=clock.now() - timedelta(minutes=6))
    refusal(run, people.ReauthenticationNeeded, actor=stale)


def test_a_reason_is_required(pay, run):
    do(run, lambda: pay(order="7"))
    refusal(run, errors.ReasonMissing, reason="  ")


def test_a_run_that_goes_on_is_not_undone(pay, run):
    take_over(run)(lambda: pay(order="7"))
    refusal(run, errors.RunGoesOn)


def test_a_doubt_is_settled_first(pay, t, world, run):
    take_over(run)(lambda: pay(order="7"))
    world.says = [unheard()]
    with pytest.raises(Exception, match="nobody heard"):
        take_over(run)(lambda: t.ledger(order="8"))
    end(run)
    refusal(run, errors.SettleFirst)


def test_a_call_that_nobody_has_put_in_doubt_yet_counts_as_one(pay, run):
    with dying_at("effect.called"):
        take_over(run)(lambda: pay(order="7"))
    end(run)
    refusal(run, errors.SettleFirst)


def test_what_was_shown_is_what_is_undone(pay, run):
    do(run, lambda: pay(order="7"))
    seen = plan.seen(plan.willing(plan.steps(run.pk)))
    do(run, lambda: pay(order="8"))
    with pytest.raises(errors.PlanChanged):
        ordering.order(run.pk, seen, actor=Actor.command("test"), reason="x")


def test_one_order_at_a_time_and_nothing_twice(pay, bank, run):
    do(run, lambda: pay(order="7"))
    order(run)
    with pytest.raises(errors.UndoUnderWay):
        order(run)
    work.work()
    with pytest.raises(errors.NothingToUndo):
        order(run)
    assert len(bank.happened) == 1


def test_an_undo_is_not_undone_itself(pay, run):
    do(run, lambda: pay(order="7"))
    order(run)
    work.work()
    assert [step.effect.tool for step in plan.steps(run.pk)] == ["u.pay"]


def test_plans_of_other_runs_do_not_wait_for_one_that_cannot_go_on(pay, bank, run):
    do(run, lambda: pay(order="7"))
    bank.says = [returns(Outcome.refused("too late"))]
    order(run)
    other = make_run()
    do(other, lambda: pay(order="8"))
    order(other)
    assert work.work() == 2
    assert [made.status for made in UndoPlan.objects.order_by("pk")] == ["stopped", "done"]


def test_reading_a_plan_asks_as_much_for_many_effects_as_for_one(pay, run):
    do(run, lambda: pay(order="7"))
    with CaptureQueriesContext(connection) as one:
        plan.steps(run.pk)
    do(run, lambda: pay(order="8"), lambda: pay(order="9"))
    with CaptureQueriesContext(connection) as many:
        assert len(plan.steps(run.pk)) == 3
    assert len(one) == len(many)
