"""Emergency stops on their pages, as a browser without scripts sends and gets them."""

from __future__ import annotations

import pytest
from django.urls import reverse

from accounts.actors import Actor
from accounts.models import User
from audit.models import Entry
from ledger import stops
from ledger.models import Stop
from runs.status import Park
from tests.support import standing as make
from tests.support.people import person
from tests.support.web import html_of, text_of


def test_a_stop_is_set_shown_everywhere_and_lifted(as_ada):
    sent = {"scope": "tool", "name": "payments.refund", "reason": "The provider answers twice."}
    assert as_ada.post("/ledger/stops/", sent)["Location"] == "/ledger/stops/"
    stop = Stop.objects.get()
    assert (stop.scope, stop.name, stop.set_by) == ("tool", "payments.refund", "Ada")
    assert "The tool payments.refund is stopped." in text_of(as_ada.get("/ledger/"))
    page = as_ada.get("/ledger/stops/")
    assert "The provider answers twice." in text_of(page)

    address = reverse("ledger:lift", args=[stop.pk])
    assert address in html_of(page)
    assert "Lift this stop?" in text_of(as_ada.get(address))
    assert as_ada.post(address, {"reason": ""}).status_code == 422
    assert Stop.objects.filter(lifted_at__isnull=True).exists()
    as_ada.post(address, {"reason": "It answers once again."})
    page = text_of(as_ada.get("/ledger/stops/"))
    assert "Nothing is stopped" in page
    assert "by Ada It answers once again." in page
    again = as_ada.post(address, {"reason": "Once more."})
    assert again.status_code == 409
    assert "Ada has lifted" in text_of(again)


def test_who_lifts_a_stop_sees_first_what_goes_on_then(as_ada):
    ada = User.objects.get(first_name="Ada")
    stop = stops.set("everything", "", actor=Actor.person(ada, entry="page"), reason="x")
    address = reverse("ledger:lift", args=[stop.pk])
    assert "No run that you see is parked" in text_of(as_ada.get(address))
    held = make.parked(Park.EMERGENCY_STOP, "Refund order 10405")
    make.parked(Park.BAD_ANSWER, "Refund order 10340")
    page = as_ada.get(address)
    assert reverse("runs:run", args=[held.pk]) in html_of(page)
    assert "10405" in text_of(page)
    assert "10340" not in text_of(page)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scope": ""}, "Choose what to stop."),
        ({"scope": "everything"}, "Leave this empty to stop everything."),
        ({"name": ""}, "Name the agent or the tool."),
        ({"reason": ""}, "A reason is required."),
    ],
)
def test_a_stop_that_lacks_something_is_not_set_and_is_kept(as_ada, change, words):
    sent = {"scope": "agent", "name": "refund_desk", "reason": "Wrong totals."}
    response = as_ada.post("/ledger/stops/", sent | change)
    assert response.status_code == 422
    assert words in text_of(response)
    assert "reason" in change or "Wrong totals." in html_of(response)
    assert not Stop.objects.exists()


def test_a_stop_that_is_on_is_not_set_twice(as_ada):
    sent = {"scope": "everything", "name": "", "reason": "Restore."}
    as_ada.post("/ledger/stops/", sent)
    response = as_ada.post("/ledger/stops/", sent)
    assert response.status_code == 409
    assert "already on" in text_of(response)
    assert Stop.objects.count() == 1


def test_who_may_not_stop_sees_what_is_stopped_and_no_more(client):
    stop = Stop.objects.create(scope="everything", reason="Restore.", set_by="Ada")
    client.force_login(person("Ben"))
    page = client.get("/ledger/stops/")
    assert "Restore." in text_of(page)
    assert "Stop something" not in text_of(page)
    sent = {"scope": "tool", "name": "x", "reason": "y"}
    assert client.post("/ledger/stops/", sent).status_code == 403
    assert client.post(reverse("ledger:lift", args=[stop.pk]), {"reason": "z"}).status_code == 403
    assert Entry.objects.filter(verb="stop.refused", actor_label="Ben").exists()
    stop.refresh_from_db()
    assert stop.lifted_at is None


def test_many_stops_leave_room_for_the_list_and_the_widest_comes_first(as_ada):
    Stop.objects.create(scope="everything", reason="Fraud.", set_by="Ada")
    for number in range(4):
        Stop.objects.create(scope="tool", name=f"tool {number}", reason="Wrong.", set_by="Ada")
    text = text_of(as_ada.get("/ledger/"))
    assert "Everything is stopped." in text
    assert [f"tool {number} is stopped" in text for number in range(4)] == [
        False,
        False,
        True,
        True,
    ]
    assert "2 more emergency stops are on." in text
