"""The page of one effect, as a browser without scripts gets it."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse

from accounts import clock
from audit.models import ClockTimestamp, Entry
from ledger import trace
from ledger.models import Effect, Incident, Look
from runs.models import Run
from tests.ledger.rows import call, effect, in_doubt, page_of, prove, settlement
from tests.support.people import person
from tests.support.web import html_of, text_of


def test_the_page_of_an_effect_tells_everything_about_it(as_ada):
    one = effect(provider_ref="re_2", attempts=2, permit=uuid4(), result={"id": "re_2"})
    call(one, "retryable", http_status=429, error="Too many requests")
    call(one, number=2, provider_ref="re_2", http_status=201, holder="w2@host:9", fence=4)
    Look.objects.create(
        effect=one, provider_key=one.provider_key, attempt=1, answer="absent", counts=False
    )
    text = text_of(as_ada.get(page_of(one)))
    for words in (
        "The provider deduplicates by key",
        "HTTP 429",
        "Too many requests",
        "w2@host:9 fence 4",
        "HTTP 201 re_2",
        "too early to believe a no",
        one.idempotency_key,
        "an approval that you may not see",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("confirmed", "Done, known later"),
        ("failed", "Failed, known later"),
        ("in_doubt", "Unknown"),
    ],
)
def test_a_call_whose_end_became_known_later_is_called_so(as_ada, status, outcome):
    one = effect(status=status)
    call(one, "unknown", error="ReadTimeout: no answer within 20 s")
    html = html_of(as_ada.get(page_of(one)))
    table = html.partition("Table of calls")[2].partition("</table>")[0]
    assert outcome in table
    [deed] = trace.deeds(one.run_id, [1])
    assert deed.state.label == outcome


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        (timedelta(minutes=5), "is asked next in 5 min"),
        (timedelta(minutes=-5), "was due 5 min ago"),
    ],
)
def test_a_look_that_nobody_made_is_called_due(as_ada, ahead, said):
    one = in_doubt()
    Effect.objects.filter(pk=one.pk).update(look_at=clock.now() + ahead)
    assert said in text_of(as_ada.get(page_of(one)))


def test_pages_say_that_an_ended_run_never_performed_an_effect(as_ada):
    one = effect(status="pending", attempts=0, retry_at=clock.now())
    Run.objects.filter(pk=one.run_id).update(status="cancelled", ended_at=ClockTimestamp())
    said = "Not performed; the run has ended."
    page = html_of(as_ada.get(page_of(one)))
    assert f"<p><b>{said}</b></p>" in page
    assert "Nothing was sent." in page
    assert "Tried again" not in page
    for place in ("/ledger/", f"/runs/{one.run_id}/effects/"):
        listed = html_of(as_ada.get(place))
        assert f'title="{said}"' in listed
        assert "Not performed</span>" in listed
    going_on = html_of(as_ada.get(page_of(effect(status="pending", attempts=0))))
    assert said not in going_on
    assert "Nothing has been sent yet." in going_on


def test_a_second_success_is_shown_at_the_top(as_ada):
    one = effect()
    Incident.objects.create(kind="duplicate", run=one.run, effect=one, facts={"second": "re_B"})
    text = text_of(as_ada.get(page_of(one)))
    assert "A second success for one effect." in text
    assert "re_B" in text


def test_hidden_values_of_an_effect_are_shown_to_who_may_and_that_is_recorded(as_ada, client):
    one = effect(args={"email": "eve@example.org"}, result={"card": "4242"})
    assert "eve@example.org" not in html_of(as_ada.get(page_of(one)))
    assert "2 values hidden" in text_of(as_ada.get(page_of(one)))
    shown = html_of(as_ada.get(page_of(one) + "?reveal=1"))
    assert "eve@example.org" in shown
    assert Entry.objects.get(verb="payload.viewed").data == {"what": f"effect {one.uid}"}
    client.force_login(person("Cy"))
    assert client.get(page_of(one) + "?reveal=1").status_code == 403


def test_hostile_text_of_a_provider_is_shown_as_text(as_ada):
    evil = "<img src=x onerror=alert(1)>\u202e"
    one = effect(provider_ref=evil, error=evil, args={evil: evil}, result={"a": evil})
    call(one, "refused", error=evil, provider_ref=evil, response={evil: evil})
    for address in (page_of(one), "/ledger/", f"/ledger/?q={evil}"):
        response = as_ada.get(address)
        assert "<img" not in html_of(response)
        assert "\u202e" not in text_of(response)
        assert r"\u{202E}" in text_of(response)


def test_an_effect_tells_what_the_audit_log_says_to_who_may_read_it(as_ada, client):
    one = in_doubt()
    prove(as_ada)
    as_ada.post(page_of(one, "settle"), settlement(one))
    client.force_login(person("Cy"))
    assert "In the audit log" in text_of(client.get(page_of(one)))
    client.force_login(person("Ben"))
    assert "In the audit log" not in text_of(client.get(page_of(one)))


def test_an_unknown_effect_is_not_found(as_ada):
    assert as_ada.get(reverse("ledger:effect", args=[uuid4()])).status_code == 404
