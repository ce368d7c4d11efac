"""What providers tell by webhook: who is believed, what it means, that a repeat means nothing."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from accounts import clock
from audit.models import Entry
from ledger import refusals, retention
from ledger.confirmation import inbox, signature
from ledger.errors import EffectFailed
from ledger.models import Effect, HookEvent, HookRefusals, Incident
from ledger.outcomes import Outcome
from runs.models import Erasure
from signalbox.env import Env
from tests.ledger.conftest import (
    dying_at,
    effect_of,
    make_run,
    outcomes_of,
    pass_time,
    take_over,
    wakes_of,
)
from tests.ledger.provider import http, returns, unheard

SECRET = "whsec_the_new_secret"
OLD = "whsec_the_old_secret"


@pytest.fixture(autouse=True)
def bank(settings) -> None:
    """A provider that may speak of the tools of these tests."""
    settings.LEDGER_HOOKS = {
        "bank": {"read": "ledger.confirmation.stripe.read", "tools": ["*"]},
        "post": {"read": "ledger.confirmation.stripe.read", "tools": ["mail.*"]},
    }
    settings.LEDGER_HOOK_SECRETS = {"bank": [SECRET, OLD], "post": [SECRET]}


def event(
    key: str = "", status: str = "succeeded", *, name: str = "evt_1", ref: str = "re_0", **more: Any
) -> dict[str, Any]:
    thing: dict[str, Any] = {"id": ref, "object": "refund", "status": status}
    if key:
        thing["metadata"] = {"idempotency_key": key}
    return {
        "id": name,
        "type": "refund.updated",
        "data": {"object": thing | more.pop("thing", {})},
    } | more


def send(client, body: Any, *, secret: str = SECRET, to: str = "bank", age: float = 0, **headers):
    """Post an event as the provider does; `age` is how many seconds ago it was signed."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    moment = str(int(clock.now().timestamp() - age))
    signed = f"t={moment},v1={signature.sign(secret, moment, raw)}"
    sent = {"Stripe-Signature": signed} | headers
    return client.post(f"/hooks/{to}/", raw, content_type="application/json", headers=sent)


def heard(answer) -> str:
    assert answer.status_code == 200, answer.content
    return answer.json()["heard"]


def incidents(run) -> list[str]:
    return list(Incident.objects.filter(run=run).values_list("kind", flat=True))


@pytest.fixture
def sent(t, driver, run) -> Effect:
    driver(lambda: t.provider(order="7"))
    return effect_of(run)


# --- who is believed ------------------------------------------------------------------------------


def test_a_signed_event_confirms_and_nobody_is_signed_in(client, sent, run):
    wakes = wakes_of(run)
    assert heard(send(client, event(sent.provider_key))) == "confirmed"
    effect = effect_of(run)
    assert (effect.status, effect.provider_ref) == ("confirmed", "re_0")
    assert wakes_of(run) == wakes  # its node knows already
    entry = Entry.objects.get(verb="effect.confirmed")
    assert (entry.actor_label, entry.data["was"]) == ("webhook of bank", "sent")


def test_while_a_secret_is_changed_either_fits_and_any_of_several_signatures(client, sent):
    assert heard(send(client, event(sent.provider_key), secret=OLD)) == "confirmed"
    raw = json.dumps(event(sent.provider_key, name="evt_2")).encode()
    moment = str(int(clock.now().timestamp()))
    good = signature.sign(OLD, moment, raw)
    header = f"t={moment}, v1={'0' * 64}, v1={good}, v0=whatever"
    answer = client.post(
        "/hooks/bank/", raw, content_type="application/json", headers={"Stripe-Signature": header}
    )
    assert heard(answer) == "known"


def bad(name: str, raw: bytes) -> dict[str, Any]:
    moment = str(int(clock.now().timestamp()))
    fits = signature.sign(SECRET, moment, raw)
    return {
        "no header": {"Stripe-Signature": ""},
        "no time": {"Stripe-Signature": f"v1={fits}"},
        "no signature": {"Stripe-Signature": f"t={moment}"},
        "another scheme": {"Stripe-Signature": f"t={moment},v0={fits}"},
        "another time": {"Stripe-Signature": f"t={int(moment) - 1},v1={fits}"},
        "another secret": {"Stripe-Signature": f"t={moment},v1={signature.sign('x', moment, raw)}"},
        "not a number": {"Stripe-Signature": f"t=now,v1={fits}"},
        "too long": {"Stripe-Signature": f"t={moment},v1={fits}" + ",v1=0" * 1000},
        "not plain": {"Stripe-Signature": f"t={moment},v1=\u00e9"},
        "upper case": {"Stripe-Signature": f"t={moment},v1={fits.upper()}"},
    }[name]


@pytest.mark.parametrize(
    "name",
    [
        "no header",
        "no time",
        "no signature",
        "another scheme",
        "another time",
        "another secret",
        "not a number",
        "too long",
        "not plain",
        "upper case",
    ],
)
def test_what_is_not_proved_changes_nothing_and_is_recorded(client, sent, run, name):
    raw = json.dumps(event(sent.provider_key)).encode()
    answer = send(client, raw, **bad(name, raw))
    assert answer.status_code == 400
    assert effect_of(run).status == "sent"
    assert not HookEvent.objects.exists()
    entry = Entry.objects.get(verb="hook.refused")
    assert (entry.allowed, entry.target_id, entry.actor_label) == (
        False,
        "bank",
        "somebody as bank",
    )


def test_a_body_changed_by_one_byte_is_refused(client, sent):
    raw = json.dumps(event(sent.provider_key)).encode()
    moment = str(int(clock.now().timestamp()))
    header = f"t={moment},v1={signature.sign(SECRET, moment, raw)}"
    assert send(client, raw + b" ", **{"Stripe-Signature": header}).status_code == 400


@pytest.mark.parametrize(("age", "code"), [(290, 200), (310, 400), (-290, 200), (-310, 400)])
def test_a_signature_counts_for_five_minutes_by_the_databases_clock(
    client, sent, age, code, monkeypatch
):
    monkeypatch.setattr("time.time", lambda: 0.0)  # whatever this machine's clock says
    assert send(client, event(sent.provider_key), age=age).status_code == code


def test_a_flood_of_forged_ones_is_counted_and_told_once_a_minute(client):
    for _ in range(5):
        assert send(client, event(), secret="whsec_guessed_secret").status_code == 400
    assert HookRefusals.objects.get().count == 5
    assert Entry.objects.filter(verb="hook.refused").count() == 1
    HookRefusals.objects.update(told_at=clock.now() - timedelta(minutes=2))
    send(client, event(), secret="whsec_guessed_secret")
    told = Entry.objects.filter(verb="hook.refused").order_by("id").last()
    assert told is not None
    assert told.data == {"refused_so_far": 6}


@pytest.mark.parametrize(
    "body", [b"[]", b"{", b"\xff", b'{"id": 1}', b'{"id": "evt"}', b"[" * 9000]
)
def test_what_is_signed_but_no_event_is_refused(client, body):
    assert send(client, body).status_code == 400
    assert not HookEvent.objects.exists()


def test_a_body_that_is_too_long_is_refused_unread(client, settings):
    settings.LEDGER_HOOK_LIMIT = 1000
    assert send(client, event(thing={"note": "x" * 1000})).status_code == 413
    assert HookRefusals.objects.get().why == "it is too long"


def test_only_providers_that_are_set_up_have_an_address(client, settings):
    assert send(client, event(), to="other").status_code == 404
    settings.LEDGER_HOOK_SECRETS = {}
    assert send(client, event(), to="bank").status_code == 404
    assert not Entry.objects.exists()


def test_nothing_but_post_is_answered(client):
    assert client.get("/hooks/bank/").status_code == 405


def test_a_provider_vouches_only_for_its_own_tools(client, sent, run):
    assert heard(send(client, event(sent.provider_key), to="post")) == "unmatched"
    assert effect_of(run).status == "sent"


# --- repeats and what is not ours -----------------------------------------------------------------


def test_the_same_event_delivered_again_changes_nothing(client, sent, run):
    assert heard(send(client, event(sent.provider_key))) == "confirmed"
    before = Effect.objects.values().get()
    assert heard(send(client, event(sent.provider_key, status="failed"))) == "confirmed"
    assert Effect.objects.values().get() == before
    assert (HookEvent.objects.get().times, incidents(run)) == (2, [])


def test_events_of_nothing_here_are_answered_and_counted(client, sent, run):
    assert heard(send(client, event("somebody-elses", ref="re_x"))) == "unmatched"
    assert heard(send(client, event("somebody-elses", ref="re_x"))) == "unmatched"
    assert heard(send(client, event(sent.provider_key, "pending", name="evt_2"))) == "unused"
    assert effect_of(run).status == "sent"
    kept = HookEvent.objects.order_by("event").values_list("heard", "times")
    assert list(kept) == [("unmatched", 2), ("unused", 1)]


def test_an_event_may_name_the_reference_or_the_key_of_the_request(client, sent, run):
    by_request = event(ref="", request={"idempotency_key": sent.provider_key})
    assert heard(send(client, by_request)) == "confirmed"
    Effect.objects.update(status="sent")
    assert heard(send(client, event(ref="re_0", name="evt_2"))) == "confirmed"


def test_a_reference_that_two_effects_have_names_neither(client, sent, t):
    other = take_over(make_run())
    other(lambda: t.provider(order="8"))
    Effect.objects.update(provider_ref="re_same")
    assert heard(send(client, event(ref="re_same"))) == "unmatched"


@pytest.mark.parametrize(("spoken_of", "meaning"), [(1, "confirmed"), (2, "unmatched")])
def test_effects_of_other_providers_with_the_same_reference_do_not_count(
    client, t, spoken_of, meaning
):
    for _ in range(4):
        take_over(make_run())(lambda: t.provider(order="7"))
    Effect.objects.update(provider_ref="re_same")
    last = Effect.objects.order_by("-idempotency_key").values("pk")[:spoken_of]
    Effect.objects.filter(pk__in=last).update(tool="mail.send")
    assert heard(send(client, event(ref="re_same"), to="post")) == meaning


def test_a_reference_told_before_our_call_returned_is_matched_later(client, t, world, driver, run):
    assert heard(send(client, event(ref="re_0"))) == "unmatched"
    assert inbox.sweep() == 0
    driver(lambda: t.provider(order="7"))
    assert inbox.sweep() == 1
    assert effect_of(run).status == "confirmed"
    assert effect_of(run).result == {"id": "re_0", "order": "7"}
    assert HookEvent.objects.get().heard == "confirmed"
    assert inbox.sweep() == 0


# --- before, after and against what the ledger knew -----------------------------------------------


@pytest.mark.parametrize("name", ["provider", "lookup", "ledger"])
def test_a_success_told_while_our_call_is_under_way_is_a_fact(client, t, world, driver, run, name):
    def told_meanwhile() -> None:
        assert heard(send(client, event(world.calls[-1]))) == "confirmed"

    world.says = [told_meanwhile]
    result = driver(lambda: getattr(t, name)(order="7"))
    effect = effect_of(run)
    assert (effect.status, outcomes_of(effect), incidents(run)) == ("confirmed", ["succeeded"], [])
    assert result == effect.result  # what the node got is what is stored


@pytest.mark.parametrize("name", ["provider", "lookup", "ledger"])
def test_a_success_of_a_lost_call_is_told_to_the_run_that_goes_on(
    client, t, world, driver, run, name
):
    with dying_at("effect.called"):
        driver(lambda: getattr(t, name)(order="7"))
    assert heard(send(client, event(world.calls[0]))) == "confirmed"
    assert wakes_of(run) == 1
    assert take_over(run)(lambda: getattr(t, name)(order="7"))["status"] == "succeeded"
    assert len(world.calls) == 1


def test_a_doubt_is_ended_by_a_success_and_the_run_goes_on(client, t, world, driver, run):
    world.says = [unheard()]
    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="7"))
    wakes = wakes_of(run)
    assert heard(send(client, event(effect_of(run).provider_key, ref="re_9"))) == "confirmed"
    assert (effect_of(run).provider_ref, wakes_of(run)) == ("re_9", wakes + 1)
    take_over(run)(lambda: t.ledger(order="7"))
    assert len(world.calls) == 1


def test_a_doubt_is_ended_by_a_refusal(client, t, world, driver, run):
    world.says = [unheard()]
    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="7"))
    key = effect_of(run).provider_key
    assert (
        heard(send(client, event(key, "failed", thing={"failure_reason": "no_card"}))) == "refused"
    )
    effect = effect_of(run)
    assert (effect.status, effect.error, outcomes_of(effect)) == ("failed", "no_card", ["refused"])


def test_a_refusal_is_too_early_while_our_call_is_under_way(client, t, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.provider(order="7"))
    told = event(effect_of(run).provider_key, "failed")
    answer = send(client, told)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert not HookEvent.objects.exists()
    pass_time(run, timedelta(minutes=1))
    assert heard(send(client, told)) == "refused"
    assert effect_of(run).status == "failed"


def test_a_success_of_what_had_failed_is_recorded_and_an_incident(client, t, world, driver, run):
    world.says = [returns(Outcome.refused("no such card"))]
    with pytest.raises(Exception, match="no such card"):
        driver(lambda: t.provider(order="7"))
    assert heard(send(client, event(world.calls[0]))) == "incident"
    assert (effect_of(run).status, incidents(run)) == ("confirmed", ["contradiction"])


def test_what_was_erased_is_not_brought_back_by_what_is_told_later(client, t, world, driver, run):
    world.says = [http(400, {"no": 1})]
    with pytest.raises(EffectFailed):
        driver(lambda: t.provider(order="7"))
    Erasure.objects.create(run=run, kind=retention.Payloads.kind, rows=1, bytes=1)
    told = event(effect_of(run).provider_key, thing={"customer": "Zoe"})
    assert heard(send(client, told)) == "incident"
    effect = effect_of(run)
    assert (effect.status, effect.provider_ref) == ("confirmed", "re_0")
    assert (effect.result, effect.result_cut) == (None, True)


@pytest.mark.parametrize("status", ["failed", "canceled"])
def test_what_came_to_nothing_after_it_had_happened_is_an_incident_once(client, sent, run, status):
    assert heard(send(client, event(sent.provider_key, status))) == "incident"
    assert heard(send(client, event(sent.provider_key, status, name="evt_2"))) == "known"
    assert (effect_of(run).status, incidents(run)) == ("sent", ["reversed"])
    assert Entry.objects.get(verb="effect.reversed").actor_label == "webhook of bank"


def test_another_reference_for_the_same_key_is_a_second_performance(client, sent, run):
    assert heard(send(client, event(sent.provider_key, ref="re_other"))) == "incident"
    assert (effect_of(run).status, incidents(run)) == ("sent", ["duplicate"])


def test_an_older_event_that_comes_later_changes_nothing(client, sent, run):
    assert heard(send(client, event(sent.provider_key, created=2000))) == "confirmed"
    late = event(sent.provider_key, "failed", name="evt_0", created=1000)
    assert heard(send(client, late)) == "known"
    assert incidents(run) == []


def test_a_key_after_a_refusal_is_told_from_the_one_before(client, t, world, driver, run):
    world.says = [returns(Outcome.refused("busy", retryable=True))]
    driver(lambda: t.provider(order="7"))
    first, second = world.calls
    assert second == f"{first}#2"
    assert heard(send(client, event(first, "failed"))) == "known"
    assert heard(send(client, event(second, name="evt_2"))) == "confirmed"


def test_characters_that_cannot_be_stored_are_kept_readable(client, sent, run):
    told = event(sent.provider_key, ref="re\x00_0", name="evt\x00")
    assert heard(send(client, told)) == "incident"  # of another reference
    assert HookEvent.objects.get().event == r"evt\u{0}"


@pytest.mark.parametrize("name", ["key", "ref"])
@pytest.mark.parametrize("odd", ["re\x00_0", "re\ud800_0"])
def test_names_that_cannot_be_stored_name_nothing_here(client, sent, name, odd):
    assert heard(send(client, event(**{"ref": "re_x"} | {name: odd}))) == "unmatched"


@pytest.mark.race
@pytest.mark.parametrize("mine", [True, False])
def test_two_deliveries_at_once_are_one(client, sent, run, mine):
    """They meet at the run's row, or at the event's own if it is about nothing here."""
    start = threading.Barrier(4)

    def deliver(_: int) -> str:
        start.wait(10)
        try:
            return heard(send(Client(), event(sent.provider_key if mine else "other", ref="re_0")))
        finally:
            connections.close_all()

    if not mine:
        Effect.objects.update(provider_ref="re_1")
    with ThreadPoolExecutor(4) as threads:
        answers = set(threads.map(deliver, range(4)))
    assert answers == {"confirmed" if mine else "unmatched"}
    assert HookEvent.objects.get().times == 4
    assert Entry.objects.filter(verb="effect.confirmed").count() == mine


@pytest.mark.parametrize(
    "text", ["[]", "s3cr3t-s3cr3t-s3cr3t", '{"bank": ""}', '{"bank": "s3cr3t"}', '{"bank": []}']
)
def test_secrets_that_cannot_be_read_stop_the_start_and_are_not_repeated(monkeypatch, text):
    monkeypatch.setenv("LEDGER_HOOK_SECRETS", text)
    with pytest.raises(Exception, match="LEDGER_HOOK_SECRETS must be") as refused:
        Env().secrets("LEDGER_HOOK_SECRETS")
    assert "s3cr3t" not in str(refused.value)
