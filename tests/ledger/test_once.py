"""The table of the ledger: what a tool promises, how its effect is found, what the call says."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from ledger import errors, refusals
from ledger.models import Effect, Look
from ledger.outcomes import Outcome
from ledger.tools import Effectful
from tests.ledger.conftest import (
    calls_of,
    dying_at,
    effect_of,
    outcomes_of,
    pass_time,
    take_over,
    wakes_of,
)
from tests.ledger.provider import Tools, http, raises, returns, unheard

EVERY = ("provider", "provider_with_lookup", "lookup", "ledger")
HOUR = timedelta(hours=1)
QUARANTINE = timedelta(seconds=5 + 30 + 3 + 1)
"""Call time limit + lease + visibility, and a second."""


@pytest.fixture(params=EVERY)
def tool(request: pytest.FixtureRequest, t: Tools) -> Effectful:
    return getattr(t, request.param)


def test_a_success_is_stored_and_told_again_without_a_call(tool, world, driver, run):
    first = driver(lambda: tool(order="7"))
    second = driver(lambda: tool(order="7"))
    later = take_over(run)(lambda: tool(order="7"))

    assert first == second == later == {"id": "re_0", "order": "7"}
    assert len(world.calls) == len(world.happened) == 1
    effect = effect_of(run)
    assert (effect.status, effect.provider_ref, effect.attempts) == ("sent", "re_0", 1)
    assert outcomes_of(effect) == ["succeeded"]


def test_a_definite_refusal_fails_the_effect_and_is_told_again_without_a_call(
    tool, world, driver, run
):
    world.says = [returns(Outcome.refused("declined"))]
    for _ in range(2):
        with pytest.raises(errors.EffectFailed, match="declined") as refusal:
            driver(lambda: tool(order="7"))
        assert refusal.value.tool.startswith("t.")
    assert len(world.calls) == 1
    assert (effect_of(run).status, outcomes_of(effect_of(run))) == ("failed", ["refused"])


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 410, 422])
def test_a_4xx_answer_is_a_definite_refusal(tool, world, driver, run, status):
    world.says = [http(status, {"error": "no"})]
    with pytest.raises(errors.EffectFailed) as refusal:
        driver(lambda: tool(order="7"))
    assert refusal.value.provider_status == status
    assert effect_of(run).status == "failed"


@pytest.mark.parametrize(
    "say",
    [
        http(429, Retry_After="0"),
        raises(httpx.ConnectError("refused")),
        raises(httpx.ConnectTimeout("slow")),
        raises(ConnectionRefusedError()),
        returns(Outcome.refused("busy", retryable=True)),
    ],
)
def test_what_was_refused_for_now_is_tried_again_with_a_new_provider_key(
    tool, world, driver, run, say
):
    world.says = [say]
    driver(lambda: tool(order="7"))

    effect = effect_of(run)
    assert world.calls == [effect.idempotency_key, f"{effect.idempotency_key}#2"]
    assert (effect.status, outcomes_of(effect)) == ("sent", ["retryable", "succeeded"])


def test_refusals_for_now_come_to_an_end(tool, world, driver, run):
    world.says = [raises(httpx.ConnectError("refused"))] * 10
    with pytest.raises(errors.EffectFailed, match="no connection"):
        driver(lambda: tool(order="7"))
    assert outcomes_of(effect_of(run)) == ["retryable"] * 3
    assert effect_of(run).status == "failed"


def test_a_long_retry_after_gives_the_run_back_and_is_respected(tool, world, driver, run):
    world.says = [http(429, Retry_After="120")]
    with pytest.raises(refusals.LookAgainLater) as later:
        driver(lambda: tool(order="7"))
    assert 115 < later.value.retry_after <= 120

    with pytest.raises(refusals.LookAgainLater):  # too early
        take_over(run)(lambda: tool(order="7"))
    assert len(world.calls) == 1

    pass_time(run, timedelta(seconds=121))
    take_over(run)(lambda: tool(order="7"))
    assert effect_of(run).status == "sent"


UNKNOWN = [
    unheard(),
    raises(httpx.ReadTimeout("nothing")),
    raises(httpx.RemoteProtocolError("closed")),
    http(500, {"error": "oops"}),
    http(503),
    http(408),
    http(302, Location="elsewhere"),
    raises(ValueError("a defect of the tool")),
    raises(KeyboardInterrupt()),
    returns({"not": "an outcome"}),
    returns(Outcome.unknown("no idea")),
]


@pytest.mark.parametrize("say", UNKNOWN)
def test_the_ledger_alone_never_calls_again_after_an_unknown_end(t, world, driver, run, say):
    world.says = [say]
    for _ in range(2):
        with pytest.raises(refusals.EffectInDoubt):
            driver(lambda: t.ledger(order="7"))
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.ledger(order="7"))

    assert len(world.calls) == 1
    assert (effect_of(run).status, outcomes_of(effect_of(run))) == ("in_doubt", ["unknown"])
    assert wakes_of(run) == 1


@pytest.mark.parametrize("say", UNKNOWN)
def test_a_deduplicating_provider_is_called_again_with_the_same_key(t, world, driver, run, say):
    world.says = [say]
    result = driver(lambda: t.provider(order="7"))

    effect = effect_of(run)
    assert result == {"id": "re_0", "order": "7"}
    assert world.calls == [effect.idempotency_key] * 2
    assert outcomes_of(effect) == ["unknown", "succeeded"]


def test_a_deduplicating_provider_that_had_performed_replays(t, world, driver, run):
    world.says = [world.happens_unheard()]
    assert driver(lambda: t.provider(order="7")) == {"id": "re_0", "order": "7"}
    assert world.happened == [(world.calls[0], "7")]
    assert len(world.calls) == 2


def test_after_several_unheard_calls_the_run_is_given_back_for_longer_and_longer(
    t, world, driver, run, settings
):
    world.says = [unheard()] * 50
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.provider(order="7"))
    assert len(world.calls) == settings.LEDGER_TRIES

    waits = []
    for _ in range(5):
        pass_time(run, HOUR)
        with pytest.raises(refusals.LookAgainLater) as later:
            take_over(run)(lambda: t.provider(order="7"))
        waits.append(later.value.retry_after)
    assert len(world.calls) == settings.LEDGER_TRIES + 5
    assert waits[-1] > waits[0]
    assert set(world.calls) == {effect_of(run).idempotency_key}


def test_outside_the_window_an_unheard_call_is_in_doubt_and_not_repeated(t, world, driver, run):
    world.says = [unheard()] * 50
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.provider(order="7"))
    calls = len(world.calls)

    pass_time(run, 25 * HOUR)
    with pytest.raises(refusals.EffectInDoubt, match="forgotten its key"):
        take_over(run)(lambda: t.provider(order="7"))
    assert len(world.calls) == calls
    assert effect_of(run).status == "in_doubt"


def test_the_window_counts_from_the_first_call_with_the_key(t, world, driver, run):
    world.says = [unheard()] * 50
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.provider(order="7"))
    for _ in range(3):
        pass_time(run, 7 * HOUR)
        with pytest.raises(refusals.LookAgainLater):
            take_over(run)(lambda: t.provider(order="7"))
    pass_time(run, 4 * HOUR)  # 25 hours after the first call, 4 after the last
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.provider(order="7"))


def test_outside_the_window_the_provider_is_asked_if_it_can_be(t, world, driver, run):
    world.says = [world.happens_unheard(), *[unheard()] * 50]
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.provider_with_lookup(order="7"))
    assert world.asked == []

    pass_time(run, 25 * HOUR)
    result = take_over(run)(lambda: t.provider_with_lookup(order="7"))
    assert result == {"id": "re_0"}
    assert (effect_of(run).status, effect_of(run).provider_ref) == ("confirmed", "re_0")
    assert len(world.happened) == 1


def test_outside_the_window_a_no_of_the_provider_allows_a_call_with_a_new_key(
    t, world, driver, run
):
    world.says = [unheard()] * 3
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.provider_with_lookup(order="7"))
    pass_time(run, 25 * HOUR)
    take_over(run)(lambda: t.provider_with_lookup(order="7"))

    key = effect_of(run).idempotency_key
    assert world.calls == [key, key, key, f"{key}#2"]
    assert world.happened == [(f"{key}#2", "7")]
    assert outcomes_of(effect_of(run)) == ["absent", "absent", "absent", "succeeded"]


def test_an_unheard_call_that_can_be_looked_up_is_looked_up_not_repeated(t, world, driver, run):
    world.says = [world.happens_unheard()]
    assert driver(lambda: t.lookup(order="7")) == {"id": "re_0"}
    assert len(world.calls) == len(world.happened) == 1
    assert effect_of(run).status == "confirmed"


def test_a_no_counts_only_after_the_quarantine(t, world, driver, run):
    world.says = [unheard()]
    with pytest.raises(refusals.LookAgainLater) as later:
        driver(lambda: t.lookup(order="7"))
    assert 30 + 3 < later.value.retry_after <= 5 + 30 + 3
    assert (len(world.calls), len(world.asked)) == (1, 1)

    pass_time(run, QUARANTINE - timedelta(seconds=10))
    with pytest.raises(refusals.LookAgainLater):
        take_over(run)(lambda: t.lookup(order="7"))
    assert len(world.calls) == 1

    pass_time(run, timedelta(seconds=11))
    take_over(run)(lambda: t.lookup(order="7"))
    effect = effect_of(run)
    assert world.calls == [effect.idempotency_key, f"{effect.idempotency_key}#2"]
    assert outcomes_of(effect) == ["absent", "succeeded"]
    counted = Look.objects.filter(effect=effect).order_by("id").values_list("answer", "counts")
    assert next(iter(counted)) == ("absent", False)
    assert list(counted)[-1] == ("absent", True)


def test_what_becomes_visible_during_the_quarantine_is_found(t, world, driver, run):
    world.says = [world.happens_unheard()]
    world.finds = [returns(None)]  # its search index is slow
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.lookup(order="7"))
    pass_time(run, QUARANTINE)
    assert take_over(run)(lambda: t.lookup(order="7")) == {"id": "re_0"}
    assert len(world.happened) == 1


def test_a_look_up_that_fails_is_no_no(t, world, driver, run, settings):
    settings.LEDGER_TRIES = 2
    world.says = [world.happens_unheard()]
    world.finds = [raises(httpx.ConnectError("down"))] * 50
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.lookup(order="7"))

    silent = Look.objects.filter(counts=True)
    for _ in range(settings.LEDGER_TRIES):
        assert effect_of(run).status == "pending"
        pass_time(run, QUARANTINE)
        with pytest.raises((refusals.LookAgainLater, refusals.EffectInDoubt)) as end:
            take_over(run)(lambda: t.lookup(order="7"))
        if end.type is refusals.EffectInDoubt:
            break
    else:
        pass_time(run, QUARANTINE)
        with pytest.raises(refusals.EffectInDoubt, match="asked 2 times without answer"):
            take_over(run)(lambda: t.lookup(order="7"))
    assert (silent.count(), len(world.calls)) == (2, 1)
    assert set(Look.objects.values_list("answer", flat=True)) == {"silent"}


@pytest.mark.parametrize("nonsense", [{}, [], False, "no", Outcome.refused("no")])
def test_a_look_up_that_returns_nonsense_is_no_no(t, world, driver, run, nonsense):
    world.says = [unheard()]
    world.finds = [returns(nonsense)] * 50
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.lookup(order="7"))
    pass_time(run, QUARANTINE)
    with pytest.raises((refusals.EffectInDoubt, refusals.LookAgainLater)):
        take_over(run)(lambda: t.lookup(order="7"))
    assert len(world.calls) == 1


def test_noes_come_to_an_end_and_fail(t, world, driver, run, settings):
    settings.LEDGER_REFUSALS = 2
    world.says = [unheard()] * 50
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.lookup(order="7"))
    pass_time(run, QUARANTINE)
    with pytest.raises(refusals.LookAgainLater):
        take_over(run)(lambda: t.lookup(order="7"))
    pass_time(run, QUARANTINE)
    with pytest.raises(errors.EffectFailed, match="knows of nothing"):
        take_over(run)(lambda: t.lookup(order="7"))
    assert outcomes_of(effect_of(run)) == ["absent", "absent"]


# --- found: a call of a driver that is gone ------------------------------------------------------


def test_a_call_of_a_lost_driver_is_repeated_with_the_same_key_and_stored_bytes(
    t, world, driver, run
):
    with dying_at("effect.called"):
        driver(lambda: t.provider(order="7", amount=10))
    assert world.happened == [(world.calls[0], "7")]

    result = take_over(run)(lambda: t.provider("7", 10.0))
    assert result == {"id": "re_0", "order": "7"}
    assert world.calls[0] == world.calls[1]
    assert repr(world.seen[0]) == repr(world.seen[1])
    assert len(world.happened) == 1
    assert [call.fence for call in calls_of(effect_of(run))] == [1, 2]


def test_a_call_of_a_lost_driver_outside_the_window_is_not_repeated(t, world, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.provider(order="7"))
    pass_time(run, 24 * HOUR)
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.provider(order="7"))
    assert len(world.calls) == 1


def test_a_call_of_a_lost_driver_is_looked_up(t, world, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.lookup(order="7"))
    assert take_over(run)(lambda: t.lookup(order="7")) == {"id": "re_0"}
    assert len(world.calls) == 1


def test_a_call_that_a_lost_driver_had_not_made_is_made_after_the_quarantine(t, world, driver, run):
    with dying_at("effect.reserved"):
        driver(lambda: t.lookup(order="7"))
    assert world.calls == []
    with pytest.raises(refusals.LookAgainLater):
        take_over(run)(lambda: t.lookup(order="7"))
    assert world.calls == []
    pass_time(run, QUARANTINE)
    take_over(run)(lambda: t.lookup(order="7"))
    assert len(world.happened) == 1


@pytest.mark.parametrize("place", ["effect.reserved", "effect.called"])
def test_a_call_of_a_lost_driver_is_in_doubt_if_only_the_ledger_guards(
    t, world, driver, run, place
):
    with dying_at(place):
        driver(lambda: t.ledger(order="7"))
    happened = list(world.happened)
    with pytest.raises(refusals.EffectInDoubt, match="worker was lost"):
        take_over(run)(lambda: t.ledger(order="7"))
    assert world.happened == happened
    assert (effect_of(run).status, outcomes_of(effect_of(run))) == ("in_doubt", ["unknown"])


def test_a_result_settled_by_a_driver_that_then_died_is_told(tool, world, driver, run):
    with dying_at("effect.settled"):
        driver(lambda: tool(order="7"))
    assert take_over(run)(lambda: tool(order="7")) == {"id": "re_0", "order": "7"}
    assert len(world.calls) == 1


def test_a_call_in_this_driver_whose_time_is_up_counts_as_gone(t, world, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))
    pass_time(run, timedelta(seconds=6))
    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="7"))
    assert len(world.calls) == 1


# --- later answers under the same key say nothing about earlier ones -----------------------------


def test_a_refusal_after_an_unheard_call_does_not_say_that_nothing_happened(t, world, driver, run):
    world.says = [world.happens_unheard(), http(401, {"error": "key rotated"})]
    with pytest.raises(refusals.EffectInDoubt, match="does not say whether"):
        driver(lambda: t.provider(order="7"))
    assert outcomes_of(effect_of(run)) == ["unknown", "refused"]
    assert effect_of(run).status == "in_doubt"


def test_a_refusal_after_an_unheard_call_is_looked_into_if_that_is_possible(t, world, driver, run):
    world.says = [world.happens_unheard(), http(401)]
    assert driver(lambda: t.provider_with_lookup(order="7")) == {"id": "re_0"}
    assert effect_of(run).status == "confirmed"


@pytest.mark.parametrize(
    "say",
    [
        http(402, {"error": "declined"}),
        http(400, {"error": "declined"}, Idempotent_Replayed="true"),
        http(409, {"error": "already refunded"}, Idempotent_Replayed="true"),
        returns(Outcome.refused("declined", decisive=True)),
    ],
)
def test_a_refusal_that_stands_for_the_first_call_is_decisive(t, world, driver, run, say):
    world.says = [unheard(), say]
    with pytest.raises(errors.EffectFailed):
        driver(lambda: t.provider(order="7"))
    assert effect_of(run).status == "failed"
    assert outcomes_of(effect_of(run)) == ["absent", "refused"]


def test_a_refusal_for_now_after_an_unheard_call_keeps_the_key(t, world, driver, run):
    world.says = [world.happens_unheard(), http(429, Retry_After="0")]
    driver(lambda: t.provider(order="7"))
    assert set(world.calls) == {effect_of(run).idempotency_key}
    assert len(world.happened) == 1


def test_a_connection_refused_after_an_unheard_call_keeps_the_key(t, world, driver, run):
    world.says = [world.happens_unheard(), raises(httpx.ConnectError("down"))]
    driver(lambda: t.provider(order="7"))
    assert len(world.happened) == 1
    assert set(world.calls) == {effect_of(run).idempotency_key}


def test_a_replayed_500_is_the_same_answer_again(t, world, driver, run):
    replayed = http(500, Idempotent_Replayed="true")
    world.says = [http(500), *[replayed] * 20]
    with pytest.raises(refusals.EffectInDoubt, match="same answer again"):
        driver(lambda: t.provider(order="7"))
    assert len(world.calls) == 2


def test_the_same_500_time_and_again_is_in_doubt_or_looked_up(t, world, driver, run):
    world.says = [http(500)] * 20
    with pytest.raises(refusals.EffectInDoubt, match="same answer again"):
        driver(lambda: t.provider(order="7"))
    assert len(world.calls) == 3


def test_a_stored_500_that_can_be_looked_up_leads_to_a_new_key(t, world, driver, run):
    world.says = [http(500, Idempotent_Replayed="true")]
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.provider_with_lookup(order="7"))
    pass_time(run, QUARANTINE)
    take_over(run)(lambda: t.provider_with_lookup(order="7"))
    assert world.calls[-1].endswith("#2")
    assert effect_of(run).status == "sent"


def test_a_provider_that_is_down_is_not_taken_for_repeating_itself(t, world, driver, run):
    world.says = [http(503)] * 20
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.provider(order="7"))
    assert effect_of(run).status == "pending"


# --- in progress ---------------------------------------------------------------------------------


def test_in_progress_is_waited_for_and_asked_again_with_the_same_key(
    t, world, driver, run, monkeypatch
):
    monkeypatch.setattr("ledger.effects.IN_PROGRESS", 0.01)
    world.says = [http(409), http(409)]
    driver(lambda: t.provider(order="7"))
    assert world.calls == [effect_of(run).idempotency_key] * 3
    assert outcomes_of(effect_of(run)) == ["succeeded"]


def test_in_progress_for_too_long_is_unknown_not_failed(t, world, driver, run):
    world.says = [http(409, Retry_After="60")] * 50
    with pytest.raises(refusals.LookAgainLater):
        driver(lambda: t.provider(order="7"))
    assert effect_of(run).status == "pending"
    assert outcomes_of(effect_of(run)) == ["unknown"]


def test_in_progress_at_a_provider_without_deduplication_is_not_called_again(t, world, driver, run):
    world.says = [http(409)]
    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="7"))
    assert len(world.calls) == 1


# --- declarations change -------------------------------------------------------------------------


def test_calls_made_under_another_declaration_are_not_repeated(t, world, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.provider(order="7"))
    Effect.objects.update(idempotency="ledger")  # as it was declared when the call was made
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.provider(order="7"))
    assert len(world.calls) == 1
