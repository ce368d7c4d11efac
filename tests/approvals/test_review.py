"""The page of one request, as somebody reads it and as it follows what becomes of it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.urls import reverse

from approvals.models import Decision, Vote
from audit.models import Entry
from runs.models import Run
from tests.approvals.at_the_page import REFUND, form, page_of, refund
from tests.approvals.conftest import (
    approve,
    ask,
    due_in,
    effect,
    now,
    pending,
    reject,
)
from tests.support.people import person
from tests.support.web import html_of, link, text_of

# --- reading --------------------------------------------------------------------------------------


def test_the_page_says_what_will_happen_from_the_arguments(as_ben, asked):
    text = text_of(as_ben.get(page_of(asked(refund()))))
    assert "allows the agent to call payments.refund once, for €600.00" in text
    assert "amount_cents: 60000" in text
    assert "Its own words, unchecked It arrived damaged." in text
    assert "1 of finance, not who started the run" in text
    assert "then the agent is told that it expired" in text
    assert "Approve €600.00" in text


@pytest.mark.parametrize(
    ("question", "disagrees"),
    [
        ("Refund EUR 600.00", False),
        ("Refund 600,00 EUR", False),
        ("Refund €600 of €1,299.50", True),
        ("Refund EUR 6.00", True),
        ("Refund €60,000", True),
        ("Refund order 17 of 2026", False),
    ],
)
def test_words_that_name_another_amount_than_the_arguments_are_pointed_out(
    as_ben, asked, question, disagrees
):
    text = text_of(as_ben.get(page_of(asked(refund(question)))))
    assert ("The words and the arguments disagree" in text) is disagrees


def test_an_amount_without_a_currency_is_not_guessed(as_ben, asked):
    text = text_of(as_ben.get(page_of(asked(refund(args={"amount_cents": 60000})))))
    assert "€" not in text
    assert "Approve payments.refund" in text


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    '<b hx-get="/approve" hx-trigger="load" data-hx-post="/x">',
    "[x](javascript:alert(1)) ![y](https://evil.example/?q=1)",
    "{{ settings.SECRET_KEY }}{% csrf_token %}",
    "\u202egnp.exe \u2066hidden\u2069 zero\u200bwidth soft\u00adhyphen tag\U000e0041",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_as_text_wherever_it_stands(as_ben, asked, text):
    request = asked(
        refund(text, why=text, facts={text: text}, args=REFUND | {text: text, "memo": text})
    )
    Run.objects.update(title=text)
    for address in (page_of(request), "/approvals/", "/approvals/?view=pending"):
        html = html_of(as_ben.get(address))
        for tag in ("<img", "<b hx-get", "<script>alert", 'javascript:alert(1)"'):
            assert tag not in html
        for odd in "\u202e\u2066\u2069\u200b\u00ad\U000e0041":
            assert odd not in html
        if "\u202e" in text:
            assert r"\u{202E}" in html


def test_long_texts_are_shown_whole(as_ben, asked):
    tail = "send it to another card"
    request = asked(
        refund(args=REFUND | {"memo": "routine " * 400 + tail}, why="fine " * 900 + "!!")
    )
    text = text_of(as_ben.get(page_of(request)))
    assert tail in text
    assert "fine !!" in text
    assert "Show all" not in text


def test_what_is_too_long_for_the_page_must_be_read_elsewhere_before_approving(as_ben, asked):
    request = asked(refund(args={"rows": ["x" * 100] * 700}))
    response = as_ben.get(page_of(request))
    assert "Download the whole question" in text_of(response)
    refused = as_ben.post(page_of(request), form(response, "approved"))
    assert refused.status_code == 422
    assert not Vote.objects.exists()
    whole = as_ben.get(reverse("approvals:payload", args=[request.pk]))
    assert whole.json() == request.payload
    as_ben.post(page_of(request), form(response, "approved", read_all="on"))
    assert now(request).status == "approved"


def test_values_of_people_are_hidden_from_who_could_not_decide(client, as_ben, ben, asked):
    request = asked(refund(args=REFUND | {"email": "eve@example.org"}))
    assert "eve@example.org" in text_of(as_ben.get(page_of(request)))
    client.force_login(person("Cy"))
    for address in (page_of(request), reverse("approvals:payload", args=[request.pk])):
        html = html_of(client.get(address))
        assert "eve@example.org" not in html
        assert "hidden (email)" in html
    assert client.get(page_of(request) + "?reveal=1").status_code == 403
    assert Entry.objects.filter(verb="payload.view_refused", allowed=False).count() == 1


def test_who_may_look_behind_the_mask_is_recorded(client, asked):
    request = asked(refund(args=REFUND | {"email": "eve@example.org"}))
    client.force_login(person("Rut"))
    assert "eve@example.org" not in text_of(client.get(page_of(request)))
    assert not Entry.objects.filter(verb="payload.viewed").exists()
    assert "eve@example.org" in text_of(client.get(page_of(request) + "?reveal=1"))
    assert Entry.objects.filter(verb="payload.viewed", run_id=request.run_id).count() == 1


@pytest.mark.parametrize("headers", [{}, {"Sec-Purpose": "prefetch"}, {"HX-Request": "true"}])
@pytest.mark.parametrize("method", ["get", "head", "options"])
def test_looking_changes_nothing(as_ben, asked, method, headers):
    request = asked(refund())
    before = Entry.objects.count()
    for address in (page_of(request), page_of(request) + "?verdict=approved", "/approvals/"):
        getattr(as_ben, method)(address, headers=headers)
    assert now(request).status == "pending"
    assert not Vote.objects.exists()
    assert Entry.objects.count() == before


def test_the_page_is_kept_nowhere(as_ben, asked):
    response = as_ben.get(page_of(asked(refund())))
    assert "no-store" in response["Cache-Control"]
    assert 'hx-history="false"' in html_of(response)


def test_a_round_shows_what_changed_since_the_one_before(as_ben, waiting_run):
    run = waiting_run()
    old = ask(run, pending(refund()))
    new = ask(run, pending(refund(args=REFUND | {"amount_cents": 64900})))
    text = text_of(as_ben.get(page_of(new)))
    assert "What changed since the round before" in text
    assert "args.amount_cents 60000 → 64900" in text
    assert "Open it as it is now" in text_of(as_ben.get(page_of(old)))


def test_an_effect_that_happened_already_is_told_before_the_decision(as_ben, asked):
    request = asked(refund())
    effect(request.run, args_hash=request.args_hash, status="sent", provider_ref="re_1")
    text = text_of(as_ben.get(page_of(request)))
    assert "It happened. The agent gets the stored result again, and nothing is sent." in text
    assert "re_1" in text
    as_ben.post(page_of(request), form(as_ben.get(page_of(request)), "approved"))
    assert "had already happened before you decided" in text_of(as_ben.get(page_of(request)))


# --- what changes by itself -----------------------------------------------------------------------


def live_url(response) -> str:
    return link(response, r'id="progress"[^>]*hx-get="([^"]+)"')


def test_a_deadline_that_has_passed_is_told_in_the_language_of_the_reader(as_ben, asked):
    request = asked(refund())
    due_in(request, timedelta(minutes=-1))
    assert "The deadline was" in text_of(as_ben.get(page_of(request)))
    german = text_of(as_ben.get(page_of(request), headers={"Accept-Language": "de"}))
    assert "Die Anfrage ist verfallen" in german
    assert "The deadline was" not in german


def test_a_page_whose_request_was_decided_switches_its_buttons_off(as_ben, asked, eve):
    request = asked(refund())
    address = live_url(as_ben.get(page_of(request)))
    quiet = as_ben.get(address, headers={"HX-Request": "true"})
    assert "hx-swap-oob" not in html_of(quiet)
    assert "HX-Trigger" not in quiet
    reject(request, eve)
    loud = as_ben.get(address, headers={"HX-Request": "true"})
    html = html_of(loud)
    assert 'id="buttons" hx-swap-oob="true"' in html
    assert "disabled" in html
    assert "Eve" in html
    assert "Rejected" in loud["HX-Trigger"]
    assert "<html" not in html


def test_the_way_of_a_decision_is_followed_until_it_has_arrived(as_ben, asked):
    request = asked(refund())
    approve(request, person("Eve", "finance", "approver"))
    on_its_way = as_ben.get(page_of(request))
    assert live_url(on_its_way)
    Decision.objects.update(delivery="took_effect")
    arrived = as_ben.get(live_url(on_its_way), headers={"HX-Request": "true"})
    assert "Took effect" in arrived["HX-Trigger"]
    assert not live_url(arrived)
    assert "The run has gone on with this decision." in html_of(arrived)


def test_who_reads_the_audit_log_is_led_from_a_request_to_its_entries(client, as_ben, asked):
    request = asked(refund())
    approve(request, person("Eve", "finance", "approver"))
    there = f"/audit/?target={request.pk}"
    assert there not in html_of(as_ben.get(page_of(request)))
    client.force_login(person("Cy"))
    assert there in html_of(client.get(page_of(request)))
    assert "The question was answered." in text_of(client.get(there))


def test_a_decision_that_did_not_arrive_says_why(as_ben, asked):
    request = asked(refund())
    approve(request, person("Eve", "finance", "approver"))
    Decision.objects.update(delivery="not_delivered", delivery_detail="the run was cancelled")
    text = text_of(as_ben.get(page_of(request)))
    assert "Not delivered" in text
    assert "The run was cancelled." in text


# --- permits and policies -------------------------------------------------------------------------


def test_a_permit_leads_to_the_request_it_was_given_on(as_ben, asked, eve):
    request = asked(refund())
    approve(request, eve)
    address = reverse("approvals:decision", args=[Decision.objects.get().pk])
    assert as_ben.get(address)["Location"] == page_of(request)
    assert as_ben.get(reverse("approvals:decision", args=[request.pk])).status_code == 404


def test_auditors_read_the_policies_in_force(client, ada, ben, settings):
    settings.APPROVALS_POLICIES = [
        {
            "name": "large",
            "agent": "refund_*",
            "group": "board",
            "quorum": 2,
            "on_deadline": "park",
            "reauthenticate_within": timedelta(minutes=5),
        }
    ]
    client.force_login(person("Cy"))
    text = text_of(client.get("/approvals/policies/"))
    assert "1. large agents like refund_*" in text
    assert "2 of board, not who started the run" in text
    assert "Nobody may decide" in text
    assert "then the run is parked for an operator" in text
    assert "2. default if no other fits every agent" in text
    assert "2 people may decide" in text


def test_approvers_do_not_read_all_policies(as_ben):
    assert as_ben.get("/approvals/policies/").status_code == 403
    assert "Policies in force" not in text_of(as_ben.get("/approvals/"))


# --- from one to the next -------------------------------------------------------------------------


def neighbours(response) -> dict[str, str]:
    found = re.findall(r'<a rel="(prev|next)" href="([^"]+)"', html_of(response))
    return dict(found)


def test_a_request_leads_to_its_neighbours_in_the_inbox(as_ben, asked):
    first, second, third = (asked(refund(f"Refund {n}")) for n in (1, 2, 3))
    assert neighbours(as_ben.get(page_of(first))) == {"next": page_of(second)}
    assert neighbours(as_ben.get(page_of(second))) == {
        "prev": page_of(first),
        "next": page_of(third),
    }
    assert neighbours(as_ben.get(page_of(third))) == {"prev": page_of(second)}


def test_a_request_that_waits_for_somebody_else_has_no_neighbours(client, asked):
    asked(refund("Refund 1"))
    request = asked(refund("Refund 2"))
    client.force_login(person("Cy"))
    assert neighbours(client.get(page_of(request))) == {}
