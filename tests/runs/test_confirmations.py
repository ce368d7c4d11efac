"""Intervening by hand: the page asks first, needs a reason, and keeps it."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import Entry
from ledger.models import Message
from runs import controls, dispatch
from runs.models import Intervention, Run
from runs.status import Outcome, Park, Status
from tests.support import standing as make
from tests.support.people import PASSWORD, person

pytestmark = pytest.mark.django_db
RESUME = {"reason": "The worker is gone."}


@pytest.fixture(autouse=True)
def no_bell(monkeypatch) -> None:
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, **_: True)


@pytest.fixture
def ada(client):
    """Signed in a moment ago."""
    user = person("Ada")
    client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
    return user


@pytest.fixture
def stale(client):
    """Signed in long ago."""
    user = person("Ada")
    client.force_login(user)
    return user


def at(run, name: str) -> str:
    return reverse(f"runs:{name}", args=[run.pk])


def post(client, run, name: str, **sent: str):
    if name == "resume":
        known = Run.objects.get(pk=run.pk)
        sent = {"typed": str(run.pk)[-4:], "seen": controls.mark(known)} | sent
    return client.post(at(run, name), sent)


MADE = {
    "cancel": lambda: make.running(),
    "retry": lambda: make.parked(Park.BAD_ANSWER),
    "ask_again": lambda: make.parked(Park.BAD_ANSWER),
    "resume": lambda: make.stuck(),
}


@pytest.mark.parametrize("name", MADE)
def test_looking_changes_nothing(client, ada, name) -> None:
    run = MADE[name]()
    before = Run.objects.values().get()
    for method in (client.get, client.head):
        assert method(at(run, name)).status_code == 200
    assert Run.objects.values().get() == before
    assert not Intervention.objects.exists()


@pytest.mark.parametrize("name", MADE)
def test_the_page_shows_the_facts_before_it_asks(client, ada, name) -> None:
    run = MADE[name]()
    make.checkpoint(run, 5, at=make.ago(minutes=8), updated=["branch:to:assess"])
    page = client.get(at(run, name)).content.decode()
    for text in ("checkpoint 4, assess", "Effects done", "Open approvals"):
        assert text in page
    assert ("What stays" if name == "cancel" else "What the next step touches") in page
    assert "fence" in page


@pytest.mark.parametrize("name", MADE)
def test_acting_needs_a_reason_and_leaves_a_trace(client, ada, name) -> None:
    run = MADE[name]()
    refused = post(client, run, name, reason=" ")
    assert refused.status_code == 422
    assert not Intervention.objects.exists()
    done = post(client, run, name, reason="Because.")
    assert done.headers["Location"] == at(run, "run")
    intervention = Intervention.objects.get()
    assert (intervention.user, intervention.reason) == (ada, "Because.")
    assert Entry.objects.filter(target_id=str(run.pk), reason="Because.").exists()
    assert "asked" in client.get(at(run, "run")).content.decode()


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("who", ["Ben", "Cy"])
def test_who_may_not_is_refused(client, name, who) -> None:
    client.force_login(person(who))
    run = MADE[name]()
    assert client.get(at(run, name)).status_code == 403
    assert post(client, run, name, reason="Because.").status_code == 403
    assert not Intervention.objects.exists()


def test_a_refusal_of_the_domain_is_said_in_the_page_and_the_reason_kept(client, ada) -> None:
    run = make.run(status=Status.SUCCEEDED)
    response = post(client, run, "cancel", reason="Too late.")
    assert response.status_code == 409
    assert "already ended" in response.content.decode()
    assert response.context["form"]["reason"].value() == "Too late."


# --- force resume ---------------------------------------------------------------------------------


def test_resuming_needs_the_last_four_characters_of_the_id(client, ada) -> None:
    run = make.stuck()
    response = post(client, run, "resume", **RESUME, typed="0000x")
    assert response.status_code == 422
    assert f"This is not {str(run.pk)[-4:]}" in response.content.decode()
    assert response.context["form"]["reason"].value() == RESUME["reason"]
    assert not Intervention.objects.exists()
    typed = f" {str(run.pk)[-4:].upper()} "
    assert post(client, run, "resume", **RESUME, typed=typed).status_code == 302


def test_resuming_a_run_that_a_live_worker_holds_is_not_possible_and_says_why(client, ada) -> None:
    run = make.stalled()
    page = client.get(at(run, "resume")).content.decode()
    assert "Not possible now." in page
    assert make.HOLDER in page
    assert "<textarea" not in page
    response = post(client, run, "resume", **RESUME)
    assert response.status_code == 409
    assert not Intervention.objects.exists()


def test_after_a_while_the_person_must_prove_who_they_are_and_the_reason_is_kept(
    client, stale
) -> None:
    run = make.stuck()
    assert "asked to confirm that it is you" in client.get(at(run, "resume")).content.decode()
    away = post(client, run, "resume", **RESUME)
    assert away.status_code == 302
    assert away.headers["Location"].startswith(reverse("account_reauthenticate"))
    assert not Intervention.objects.exists()

    back = client.post(away.headers["Location"], {"password": PASSWORD})
    assert back.headers["Location"] == at(run, "resume")
    assert not Intervention.objects.exists()  # nothing is done by itself
    page = client.get(at(run, "resume"))
    assert page.context["form"]["reason"].value() == RESUME["reason"]
    assert "Nothing was done yet" in page.content.decode()

    assert post(client, run, "resume", **RESUME).status_code == 302
    assert Intervention.objects.get().kind == "force_resume"
    assert client.get(at(run, "resume")).context["form"]["reason"].value() is None


def test_cancelling_needs_no_proof(client, stale) -> None:
    run = make.running()
    assert post(client, run, "cancel", reason="Twice.").headers["Location"] == at(run, "run")


def test_a_form_of_another_site_does_nothing(ada) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(ada)
    run = make.running()
    assert strict.post(at(run, "cancel"), {"reason": "x"}).status_code == 403
    assert not Intervention.objects.exists()


def test_the_facts_of_a_takeover_are_all_there(client, ada) -> None:
    run = make.stuck()
    make.lease(run, progress_note="page 3 of 9")
    make.attempt(run, 2, outcome=Outcome.LOST)
    Intervention.objects.create(run=run, kind="force_resume", label="Olu", reason="It hung.")
    page = client.get(at(run, "resume")).content.decode()
    for text in ("page 3 of 9", "fence 1", "last heartbeat", "1 time", "forced by Olu", "It hung."):
        assert text in page


MARK = r'name="seen" value="([^"]+)"'


def seen(client, run) -> str:
    (mark,) = re.findall(MARK, client.get(at(run, "resume")).content.decode())
    return str(mark)


def test_a_run_that_changed_while_the_page_was_open_is_not_resumed(client, ada) -> None:
    run = make.stuck()
    mark = seen(client, run)
    make.lease(run, fence=2)  # somebody took it meanwhile, and was lost as well
    response = post(client, run, "resume", **RESUME, seen=mark)
    assert response.status_code == 409
    page = response.content.decode()
    assert "has changed since you opened this page" in page
    assert "fence 2" in page
    assert RESUME["reason"] in page
    assert not Intervention.objects.exists()
    again = re.findall(MARK, page)
    assert post(client, run, "resume", **RESUME, seen=again[0]).status_code == 302


def test_a_form_that_does_not_say_what_was_seen_does_nothing(client, ada) -> None:
    run = make.stuck()
    assert post(client, run, "resume", **RESUME, seen="").status_code == 409
    sent = RESUME | {"typed": str(run.pk)[-4:]}
    assert client.post(at(run, "resume"), sent).status_code == 409
    assert not Intervention.objects.exists()


def test_who_was_slower_than_a_worker_keeps_the_reason(client, ada) -> None:
    run = make.stuck()
    mark = seen(client, run)
    make.lease(run, fence=2, expires_at=make.soon(seconds=25), holder="worker@beta:1")
    response = post(client, run, "resume", **RESUME, seen=mark)
    assert response.status_code == 409
    page = response.content.decode()
    assert "worker@beta:1 holds the lease" in page
    assert RESUME["reason"] in page


def test_the_others_who_may_do_it_are_told_by_mail(client, ada) -> None:
    for name in ("Olu", "Kim"):
        person(name, "operator")
    person("Rut")
    person("Ben")
    person("Gone", "operator", is_active=False)
    run = make.stuck("Close tickets")
    assert post(client, run, "resume", **RESUME).status_code == 302
    mails = Message.objects.filter(destination="operators.mail")
    told = {message.payload["to"] for message in mails}
    assert told == {"olu@example.com", "kim@example.com", "rut@example.com"}
    (text, *_) = {message.payload["text"] for message in mails}
    for said in ("forced a run to resume", "Close tickets", RESUME["reason"], f"/runs/{run.pk}/"):
        assert said in text


def test_nobody_is_told_of_what_was_refused(client, ada) -> None:
    person("Olu", "operator")
    assert post(client, make.running(), "resume", **RESUME).status_code == 409
    assert not Message.objects.exists()


def test_cancelling_is_nothing_that_others_must_hear_of(client, ada) -> None:
    person("Olu", "operator")
    post(client, make.running(), "cancel", reason="Twice.")
    assert not Message.objects.exists()
