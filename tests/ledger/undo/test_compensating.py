"""Settling a doubt as done and not wanted: the run ends, and the effect is taken back."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from accounts import errors as people
from accounts.actors import Actor
from audit.models import Entry
from ledger import errors, facts, rows
from ledger.models import Effect, UndoPlan
from ledger.undo import compensating, work
from runs.models import Run
from tests.ledger.conftest import (
    dying_at,
    effect_of,
    fresh_actor,
    take_over,
)
from tests.ledger.provider import Provider, unheard
from tests.ledger.undo.conftest import do, end, stands


def doubt_of(run: Run, pay: Any, world: Provider) -> Effect:
    """The effect of a payment that happened and that nobody heard of; the run waits."""
    with dying_at("effect.called"):
        take_over(run)(lambda: pay(order="7"))
    with transaction.atomic():
        rows.lock_run(run.pk)
        facts.doubt(rows.lock_effect(effect_of(run).pk), "Nobody heard.")
    return effect_of(run)


def compensate(one: Effect, actor: Actor, **more: str) -> UndoPlan:
    said = {"reason": "Not wanted.", "reference": "re_0", "evidence": "case 7"} | more
    return compensating.compensate(one.uid, actor=actor, **said)


def test_what_happened_and_is_not_wanted_ends_the_run_and_is_taken_back(pay, world, bank, run):
    one = doubt_of(run, pay, world)
    made = compensate(one, fresh_actor("Ada"))
    one.refresh_from_db()
    assert (one.status, one.settle_evidence) == ("confirmed", "case 7")
    run.refresh_from_db()
    assert run.cancel_reason == "Not wanted."
    assert work.work() == 0  # the run has not ended yet
    end(run)
    assert work.work() == 1
    assert stands(made) == ("done", "")
    assert [payment for _, payment in bank.happened] == ["re_0"]


def test_a_doubt_of_an_ended_run_is_compensated_at_once(pay, world, bank, run):
    one = doubt_of(run, pay, world)
    end(run, "failed")
    compensate(one, fresh_actor("Ada"))
    work.work()
    assert len(bank.happened) == 1


def test_only_what_was_in_doubt_is_taken_back_by_that(pay, world, bank, run):
    do(run, lambda: pay(order="6"))
    Run.objects.filter(pk=run.pk).update(status="running", ended_at=None, cancel_asked_at=None)
    with dying_at("effect.called"):
        take_over(run)(lambda: pay(order="7"))
    one = Effect.objects.get(provider_ref="")
    with transaction.atomic():
        rows.lock_run(run.pk)
        facts.doubt(rows.lock_effect(one.pk), "Nobody heard.")
    compensate(one, fresh_actor("Ada"), reference="re_1")
    end(run)
    work.work()
    assert [payment for _, payment in bank.happened] == ["re_1"]


@pytest.mark.parametrize(
    ("who", "error"), [("Cy", people.NotPermitted), ("Dee", people.NotPermitted)]
)
def test_who_may_not_compensate_changes_nothing(pay, world, run, who, error):
    one = doubt_of(run, pay, world)
    with pytest.raises(error):
        compensate(one, fresh_actor(who))
    run.refresh_from_db()
    assert (run.cancel_asked_at, effect_of(run).status) == (None, "in_doubt")
    assert Entry.objects.get(verb="effect.settle_refused").allowed is False


def test_what_has_no_undo_cannot_be_compensated(t, world, run):
    world.says = [unheard()]
    with pytest.raises(Exception, match="nobody heard"):
        take_over(run)(lambda: t.ledger(order="8"))
    with pytest.raises(errors.NoUndo):
        compensate(effect_of(run), fresh_actor("Ada"))
    assert effect_of(run).status == "in_doubt"
