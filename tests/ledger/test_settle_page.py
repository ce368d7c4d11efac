"""Settling on a page, as a browser without scripts sends and gets it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F

from accounts import proof
from audit.models import ClockTimestamp, Entry
from runs.models import Lease, Worker
from tests.ledger.rows import in_doubt, page_of, prove, settlement
from tests.support.people import PASSWORD, person
from tests.support.web import html_of, text_of


def test_an_effect_in_doubt_is_settled_by_hand(as_ada):
    one = in_doubt()
    assert page_of(one, "settle") in html_of(as_ada.get(page_of(one)))
    prove(as_ada)
    response = as_ada.post(page_of(one, "settle"), settlement(one))
    assert response["Location"] == page_of(one)
    one.refresh_from_db()
    assert (one.status, one.provider_ref, one.settled_by) == ("confirmed", "re_9", "Ada")
    text = text_of(as_ada.get(page_of(one)))
    assert "Settled: it happened." in text
    assert "Seen in the dashboard." in text


def test_what_the_verdict_makes_necessary_is_not_called_optional(as_ada):
    text = text_of(as_ada.get(page_of(in_doubt(), "settle")))
    assert "The provider's reference Required if it happened" in text
    assert "Evidence optional" in text


def test_saying_that_it_did_not_happen_allows_one_attempt(as_ada):
    one = in_doubt()
    prove(as_ada)
    as_ada.post(page_of(one, "settle"), settlement(one, verdict="did_not_happen", reference=""))
    one.refresh_from_db()
    assert (one.status, one.retry_allowed) == ("pending", True)
    assert "one more allowed" in text_of(as_ada.get(page_of(one)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"verdict": ""}, "Choose what you found out."),
        ({"verdict": "perhaps"}, "Select a valid choice"),
        ({"reference": ""}, "Say what proves that it happened."),
        ({"reason": " "}, "A reason is required."),
        ({"typed": "nope"}, "Is it the right effect?"),
    ],
)
def test_a_settlement_that_lacks_something_changes_nothing_and_is_kept(as_ada, change, words):
    one = in_doubt()
    prove(as_ada)
    response = as_ada.post(page_of(one, "settle"), settlement(one) | change)
    assert response.status_code == 422
    assert words in text_of(response)
    if "reason" not in change:
        assert "Seen in the dashboard." in html_of(response)
    one.refresh_from_db()
    assert one.status == "in_doubt"


def test_settling_wants_a_recent_sign_in_and_does_nothing_on_the_way_back(as_ada):
    one = in_doubt()
    asked = as_ada.post(page_of(one, "settle"), settlement(one))
    assert asked["Location"].startswith("/accounts/reauthenticate/?next=")
    back = as_ada.post(asked["Location"], {"password": PASSWORD})
    assert back["Location"] == page_of(one, "settle")
    page = as_ada.get(back["Location"])
    assert "Nothing was settled yet" in text_of(page)
    assert "Seen in the dashboard." in html_of(page)
    one.refresh_from_db()
    assert one.status == "in_doubt"
    as_ada.post(page_of(one, "settle"), settlement(one))
    one.refresh_from_db()
    assert one.status == "confirmed"
    assert not as_ada.session.get(proof.KEPT)


def test_who_is_second_learns_who_was_first(as_ada, client):
    one = in_doubt()
    prove(as_ada)
    as_ada.post(page_of(one, "settle"), settlement(one))
    response = as_ada.post(page_of(one, "settle"), settlement(one, verdict="did_not_happen"))
    assert response.status_code == 409
    text = text_of(response)
    assert "Ada has settled this effect" in text
    assert "There is nothing to settle" in text


def test_who_may_not_settle_sees_no_way_to(client):
    one = in_doubt()
    client.force_login(person("Cy"))
    assert page_of(one, "settle") not in html_of(client.get(page_of(one)))
    for method in (client.get, client.post):
        response = method(page_of(one, "settle"))
        assert response.status_code == 403
        assert "ledger.settle_effect" in text_of(response)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("holds", "Still drives the run"),
        ("alive", "Alive"),
        ("quiet", "Quiet"),
        ("gone", "Known to have ended"),
    ],
)
def test_the_page_says_what_is_known_of_the_worker_that_made_the_call(as_ada, state, words):
    one = in_doubt()
    if state == "holds":
        Lease.objects.filter(pk=one.run_id).update(
            fence=1, expires_at=ClockTimestamp() + timedelta(minutes=1)
        )
    else:
        Lease.objects.filter(pk=one.run_id).update(fence=4)
    if state != "gone":
        Worker.objects.create(name="w1@host", hostname="host", pid=7)
    if state == "quiet":
        Worker.objects.update(seen_at=F("seen_at") - timedelta(hours=1))
    text = text_of(as_ada.get(page_of(one, "settle")))
    Worker.objects.all().delete()
    assert f"w1@host:7 {words}" in text
    assert ("the run is at fence 4 now" in text) is (state != "holds")


def test_looking_at_a_settlement_changes_nothing(as_ada):
    one = in_doubt()
    before = Entry.objects.count()
    for method in (as_ada.get, as_ada.head, as_ada.options):
        method(page_of(one, "settle"), {"verdict": "happened"}, headers={"Sec-Purpose": "prefetch"})
    one.refresh_from_db()
    assert one.status == "in_doubt"
    assert Entry.objects.count() == before
