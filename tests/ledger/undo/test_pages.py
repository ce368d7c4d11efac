"""The pages on which effects are taken back, as a browser without scripts sends and gets them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse

from accounts import clock
from ledger.models import Effect, HookEvent, UndoPlan
from runs.models import Run
from tests.ledger.conftest import make_run
from tests.ledger.rows import call, effect, in_doubt, page_of, prove
from tests.support.people import person
from tests.support.web import field, html_of, text_of


@pytest.fixture
def ended() -> Run:
    run = make_run()
    now = clock.now()
    Run.objects.filter(pk=run.pk).update(status="cancelled", ended_at=now)
    for number, (tool, undo) in enumerate([("payments.refund", "payments.cancel"), ("mail", "")]):
        began = now - timedelta(minutes=5 - number)
        call(effect(run, tool=tool, undo=undo, provider_ref=f"r_{tool}", first_started_at=began))
    return run


@pytest.fixture
def as_ada(client):
    client.force_login(person("Ada"))
    return client


def page(run: Run) -> str:
    return reverse("ledger:undo", args=[run.pk])


def order(client, run: Run, **more: str):
    response = client.get(page(run))
    sent = {
        "seen": field(response, "seen"),
        "reason": "The wrong customer.",
        "typed": str(run.pk)[-4:],
    }
    return client.post(page(run), sent | more)


def test_the_plan_shows_the_last_effect_first_and_what_becomes_of_each(as_ada, ended):
    text = text_of(as_ada.get(page(ended)))
    assert text.index("r_mail Stays nothing") < text.index("r_payments.refund Will be taken back")
    assert "payments.cancel" in text
    assert "Undo 1 effect" in text


def test_ordering_needs_proof_and_keeps_what_was_typed(as_ada, ended):
    response = order(as_ada, ended)
    assert response.status_code == 302
    assert "reauthenticate" in response["Location"]
    assert not UndoPlan.objects.exists()
    prove(as_ada)
    assert "The wrong customer." in html_of(as_ada.get(page(ended)))
    assert order(as_ada, ended)["Location"] == page(ended)
    text = text_of(as_ada.get(page(ended)))
    assert "Undoing ordered by Ada" in text
    assert "Undo 1 effect" not in text


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"typed": "nope"}, "Is it the right run?"),
        ({"reason": ""}, "A reason is required"),
        ({"seen": "another"}, "has changed since the page was shown"),
    ],
)
def test_what_does_not_fit_is_said_in_the_page(as_ada, ended, more, words):
    prove(as_ada)
    response = order(as_ada, ended, **more)
    assert response.status_code in (409, 422)
    assert words in text_of(response)
    assert not UndoPlan.objects.exists()


def test_who_only_reads_sees_the_plan_and_no_form(client, ended):
    client.force_login(person("Cy"))
    response = client.get(page(ended))
    assert "Will be taken back" in text_of(response)
    assert "<textarea" not in html_of(response)
    assert client.post(page(ended), {"seen": "x"}).status_code == 403


def test_a_run_of_others_is_not_shown(client, ended):
    client.force_login(person("Ben"))
    assert client.get(page(ended)).status_code == 404


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "running", "ended_at": None}, "The run goes on."),
        ({}, "Settle first."),
    ],
)
def test_what_stands_in_the_way_is_said(as_ada, ended, change, words):
    Run.objects.filter(pk=ended.pk).update(**change)
    if not change:
        Effect.objects.filter(tool="mail").update(status="in_doubt")
    response = as_ada.get(page(ended))
    assert words in text_of(response)
    assert "<textarea" not in html_of(response)


def test_a_run_that_did_nothing_has_nothing_to_undo(as_ada):
    assert "Nothing to undo" in text_of(as_ada.get(page(make_run())))


@pytest.mark.parametrize("status", ["cancelled", "failed"])
def test_the_run_says_what_is_left_of_it_and_leads_there(as_ada, ended, status):
    Run.objects.filter(pk=ended.pk).update(status=status)
    response = as_ada.get(reverse("runs:run", args=[ended.pk]))
    assert "1 effect of this run was done and stays so." in text_of(response)
    assert page(ended) in html_of(response)


@pytest.mark.parametrize("name", ["Cy", "Rut"])
def test_only_who_may_undo_is_told_so(client, ended, name):
    client.force_login(person(name))
    told = "stays so" in text_of(client.get(reverse("runs:run", args=[ended.pk])))
    assert told is (name == "Rut")


def test_a_plan_that_stopped_is_told_on_the_run(as_ada, ended):
    UndoPlan.objects.create(
        run=ended,
        effects=[str(Effect.objects.get(tool="payments.refund").uid)],
        status="stopped",
        reason="x",
        asked_by="Ada",
        error="HTTP 400: too late",
        ended_at=clock.now(),
    )
    text = text_of(as_ada.get(reverse("runs:run", args=[ended.pk])))
    assert "Ada has ordered to undo 1 effect of this run, 0 so far. HTTP 400: too late" in text


def test_both_effects_name_each_other(as_ada, ended):
    original = Effect.objects.get(tool="payments.refund")
    undo = effect(ended, tool="payments.cancel", undoes=original, provider_ref="ca_1")
    assert "Taken back by payments.cancel ca_1" in text_of(as_ada.get(page_of(original)))
    assert "Takes back payments.refund r_payments.refund" in text_of(as_ada.get(page_of(undo)))


def test_an_effect_shows_what_its_provider_told(as_ada, ended):
    one = Effect.objects.get(tool="payments.refund")
    HookEvent.objects.create(
        provider="fakepay",
        event="evt_1",
        kind="refund.updated",
        heard="confirmed",
        effect=one,
        digest="",
        times=2,
    )
    text = text_of(as_ada.get(page_of(one)))
    assert "refund.updated evt_1 delivered 2 times Confirmed" in text


def test_settling_keeps_evidence_and_offers_to_take_back_what_can_be(as_ada):
    one = in_doubt(undo="payments.cancel")
    page = page_of(one, "settle")
    assert "take it back (payments.cancel)" in text_of(as_ada.get(page))
    prove(as_ada)
    sent = {
        "verdict": "compensate",
        "reference": "re_1",
        "reason": "Seen at the bank.",
        "evidence": "https://bank.example/7",
        "typed": str(one.uid)[-4:],
    }
    assert as_ada.post(page, sent | {"reference": ""}).status_code == 422
    text = text_of(as_ada.post(page, sent, follow=True))
    assert "Evidence: https://bank.example/7" in text
    assert UndoPlan.objects.get().effects == [str(one.uid)]
    assert Run.objects.get(pk=one.run_id).cancel_asked_at is not None


def test_settling_offers_no_undo_where_there_is_none(as_ada):
    assert "take it back" not in text_of(as_ada.get(page_of(in_doubt(), "settle")))
