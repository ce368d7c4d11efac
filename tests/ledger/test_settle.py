"""A person settles what nobody heard."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from accounts import clock
from accounts import errors as people
from accounts.actors import Actor
from accounts.models import User
from audit.models import Entry
from ledger import errors, facts, refusals
from ledger.models import Effect, Incident
from ledger.outcomes import Outcome
from ledger.port import Ledger
from ledger.settle import settle
from runs.models import Run
from tests.ledger.conftest import (
    calls_of,
    effect_of,
    fresh_actor,
    outcomes_of,
    take_over,
    wakes_of,
)
from tests.ledger.provider import http, unheard


@pytest.fixture
def doubtful(t, world, driver, run) -> Effect:
    world.says = [unheard()]
    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="7"))
    return effect_of(run)


@pytest.fixture
def ada() -> Actor:
    return fresh_actor("Ada")


def told(run) -> list[tuple[str, bool]]:
    entries = Entry.objects.filter(run_id=run.pk, verb__startswith="effect.settle")
    return list(entries.order_by("id").values_list("verb", "allowed"))


def test_it_happened_is_confirmed_with_the_reference_and_never_called_again(
    t, world, doubtful, ada, run, rung
):
    assert Ledger().hindrances(run.pk, run.agent).in_doubt
    effect = settle(
        doubtful.uid, "happened", actor=ada, reason=" Seen in the bank. ", reference=" re_1 "
    )
    assert (effect.status, effect.provider_ref, effect.settled_by, effect.settle_reason) == (
        "confirmed",
        "re_1",
        "Ada",
        "Seen in the bank.",
    )
    assert not Ledger().hindrances(run.pk, run.agent).in_doubt
    assert take_over(run)(lambda: t.ledger(order="7")) == {"reference": "re_1"}
    assert len(world.calls) == 1
    assert wakes_of(run) == 2
    assert rung == [run.pk] * 2
    assert told(run) == [("effect.settled", True)]
    entry = Entry.objects.get(verb="effect.settled")
    assert (entry.actor_label, entry.reason, entry.data["reference"]) == (
        "Ada",
        "Seen in the bank.",
        "re_1",
    )
    assert outcomes_of(effect_of(run)) == ["unknown"]  # nobody has heard how that call ended


def test_it_happened_may_come_with_the_result_that_the_node_wants(t, doubtful, ada, run):
    result = {"id": "re_1", "order": "7"}
    settle(doubtful.uid, "happened", actor=ada, reason="x", reference="re_1", result=result)
    assert take_over(run)(lambda: t.ledger(order="7")) == result


def test_it_did_not_happen_allows_exactly_one_attempt_with_a_new_key(t, world, doubtful, ada, run):
    effect = settle(doubtful.uid, "did_not_happen", actor=ada, reason="They searched.")
    assert (effect.status, effect.retry_allowed) == ("pending", True)
    assert outcomes_of(effect) == ["absent"]
    world.says = [unheard()]
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.ledger(order="7"))
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.ledger(order="7"))
    effect = effect_of(run)
    assert world.calls == [effect.idempotency_key, f"{effect.idempotency_key}#2"]
    assert (effect.status, effect.retry_allowed) == ("in_doubt", False)

    settle(effect.uid, "did_not_happen", actor=ada, reason="They searched again.")
    take_over(run)(lambda: t.ledger(order="7"))
    assert world.calls[2] == f"{effect.idempotency_key}#3"
    assert effect_of(run).status == "sent"


def test_a_person_may_allow_an_attempt_after_the_window_and_after_all_tries(
    t, world, driver, ada, run
):
    world.says = [http(500, Idempotent_Replayed="true")] * 2
    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: t.provider(order="7"))
    settle(effect_of(run).uid, "did_not_happen", actor=ada, reason="x")
    world.says = []
    take_over(run)(lambda: t.provider(order="7"))
    assert world.calls[-1].endswith("#2")
    assert calls_of(effect_of(run))[-1].outcome == "succeeded"


def test_what_did_not_happen_but_did_after_all_opens_an_incident(t, doubtful, ada, run):
    settle(doubtful.uid, "did_not_happen", actor=ada, reason="x")
    facts.record(doubtful.calls.get().token, Outcome.success("re_late"))
    effect = effect_of(run)
    assert (effect.status, effect.provider_ref, effect.retry_allowed) == ("sent", "re_late", False)
    assert [each.kind for each in Incident.objects.all()] == ["contradiction"]


@pytest.mark.parametrize(("reference", "incidents"), [("re_1", 0), ("re_2", 1)])
def test_a_late_success_after_it_happened_is_compared(doubtful, ada, run, reference, incidents):
    settle(doubtful.uid, "happened", actor=ada, reason="x", reference="re_1")
    facts.record(doubtful.calls.get().token, Outcome.success(reference))
    assert (effect_of(run).status, effect_of(run).provider_ref) == ("confirmed", "re_1")
    assert Incident.objects.count() == incidents


def test_an_ended_run_can_still_be_settled(doubtful, ada, run):
    Run.objects.filter(pk=run.pk).update(status="cancelled", ended_at=clock.now())
    effect = settle(doubtful.uid, "happened", actor=ada, reason="x", reference="re_1")
    assert effect.status == "confirmed"


@pytest.mark.parametrize("name", ["Ben", "Cy", "Dee"])
def test_others_may_not_settle_and_are_recorded(doubtful, run, name):
    with pytest.raises(people.NotPermitted):
        settle(doubtful.uid, "happened", actor=fresh_actor(name), reason="x", reference="r")
    assert (effect_of(run).status, told(run)) == ("in_doubt", [("effect.settle_refused", False)])


def test_no_rule_of_the_system_may_settle(doubtful, run):
    with pytest.raises(people.NotPermitted):
        settle(
            doubtful.uid, "did_not_happen", actor=Actor.system("sweeper"), reason="An hour is over."
        )
    assert effect_of(run).status == "in_doubt"


def test_a_permission_taken_away_counts_at_once(doubtful, ada, run):
    User.objects.get(pk=ada.user_id).groups.clear()
    with pytest.raises(people.NotPermitted):
        settle(doubtful.uid, "happened", actor=ada, reason="x", reference="r")


@pytest.mark.parametrize("ago", [None, timedelta(minutes=6)])
def test_an_old_sign_in_is_not_enough(doubtful, ada, run, ago):
    at = None if ago is None else clock.now() - ago
    stale = Actor.person(User.objects.get(pk=ada.user_id), entry="page", authenticated_at=at)
    with pytest.raises(people.ReauthenticationNeeded):
        settle(doubtful.uid, "happened", actor=stale, reason="x", reference="r")
    assert (effect_of(run).status, told(run)) == ("in_doubt", [("effect.settle_refused", False)])


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"verdict": "happened", "reason": "  ", "reference": "r"}, errors.ReasonMissing),
        ({"verdict": "happened", "reason": "x", "reference": " "}, errors.ReferenceMissing),
        ({"verdict": "happened", "reason": "x", "reference": "r" * 301}, errors.ReferenceMissing),
        ({"verdict": "perhaps", "reason": "x", "reference": "r"}, errors.UnknownVerdict),
        (
            {"verdict": "happened", "reason": "x", "reference": "r", "result": {"a": float("nan")}},
            errors.BadResult,
        ),
        (
            {"verdict": "happened", "reason": "x", "reference": "r", "result": "x" * 70_000},
            errors.BadResult,
        ),
    ],
)
def test_what_is_said_must_make_sense(doubtful, ada, run, said, error):
    with pytest.raises(error):
        settle(doubtful.uid, said.pop("verdict"), actor=ada, **said)
    assert (effect_of(run).status, told(run)) == ("in_doubt", [("effect.settle_refused", False)])
    assert wakes_of(run) == 1


def test_only_what_is_in_doubt_can_be_settled(t, driver, ada, run):
    driver(lambda: t.ledger(order="8"))
    with pytest.raises(errors.NotInDoubt, match="Done"):
        settle(effect_of(run).uid, "did_not_happen", actor=ada, reason="x")
    assert effect_of(run).status == "sent"
    with pytest.raises(errors.NoSuchEffect):
        settle(uuid4(), "happened", actor=ada, reason="x", reference="r")


def test_who_comes_second_is_told_who_was_first(doubtful, ada, run):
    settle(doubtful.uid, "happened", actor=ada, reason="I saw it.", reference="re_1")
    rut = fresh_actor("Rut")
    with pytest.raises(errors.NotInDoubt, match=r"Ada has settled .* \(I saw it\.\).*Done, conf"):
        settle(doubtful.uid, "did_not_happen", actor=rut, reason="I did not.")
    assert effect_of(run).status == "confirmed"


def test_odd_characters_in_a_reason_are_kept_readable(doubtful, ada):
    effect = settle(doubtful.uid, "happened", actor=ada, reason="nul \x00", reference="r \ud800")
    assert (effect.settle_reason, effect.provider_ref) == (r"nul \u{0}", r"r \u{D800}")
