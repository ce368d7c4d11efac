"""In which language a person reads, and what stays English whoever reads."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import override_settings
from django.utils import translation

from accounts import errors, speech
from accounts.actors import Actor
from accounts.models import User
from audit import trail
from audit.models import Entry
from tests.support.people import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(client) -> User:
    ada = person("Ada")
    client.force_login(ada)
    return ada


def speak(user: User, language: str) -> None:
    user.language = language
    user.save(update_fields=["language"])


def test_a_person_chooses_a_language_and_reads_it_from_then_on(client, ada) -> None:
    sent = {"first_name": "Ada", "last_name": "", "time_zone": "UTC", "theme": "dark"}
    more = {"language": "de", "times": "relative", "hours": "24"}
    page = client.post("/me/", sent | more, follow=True).text
    assert '<html lang="de"' in page
    assert "Gespeichert." in page
    ada.refresh_from_db()
    assert ada.language == "de"


def test_a_language_that_there_is_not_is_refused(client, ada) -> None:
    sent = {"first_name": "Ada", "last_name": "", "time_zone": "UTC", "theme": "dark"}
    more = {"language": "tlh", "times": "relative", "hours": "24"}
    assert client.post("/me/", sent | more).status_code == 422


@pytest.mark.parametrize(
    ("asked", "language"),
    [("de-AT,en;q=0.5", "de"), ("fr,de;q=0.8,en;q=0.5", "de"), ("fr", "en"), ("", "en")],
)
def test_without_a_choice_the_browser_is_asked(client, ada, asked, language) -> None:
    response = client.get("/me/", HTTP_ACCEPT_LANGUAGE=asked)
    assert f'<html lang="{language}"' in response.text
    assert response["Content-Language"] == language
    assert "Accept-Language" in response["Vary"]


def test_the_instance_has_a_language_for_those_who_ask_for_none(client, ada) -> None:
    with override_settings(DEFAULT_LANGUAGE="de"):
        assert '<html lang="de"' in client.get("/me/", HTTP_ACCEPT_LANGUAGE="fr").text


def test_the_choice_comes_before_the_browser(client, ada) -> None:
    speak(ada, "en")
    assert '<html lang="en"' in client.get("/me/", HTTP_ACCEPT_LANGUAGE="de").text


def test_the_sign_in_page_is_in_the_language_of_the_browser(client) -> None:
    page = client.get("/accounts/login/", HTTP_ACCEPT_LANGUAGE="de").text
    assert '<html lang="de"' in page
    assert "Anmelden" in page


def test_no_language_is_left_behind_for_the_next_request(client, ada) -> None:
    speak(ada, "de")
    client.get("/me/")
    assert translation.get_language() == "en"


def test_programs_are_answered_in_english(client) -> None:
    answer: HttpResponse = client.get("/api/nothing/", HTTP_ACCEPT_LANGUAGE="de")
    assert answer["Content-Language"] == "en"


def test_an_error_is_kept_in_english_and_read_in_the_language_of_the_reader() -> None:
    label = speech.later("see runs")
    with translation.override("de"):
        refusal = errors.NotPermitted("runs.view_run", label=label, groups=(), who="Dee")
        assert str(refusal).startswith("Dee may not see runs.")
        assert refusal.shown.startswith("Dee darf Folgendes nicht: Läufe sehen.")
    assert refusal.shown == str(refusal)


def test_what_is_recorded_is_english_whoever_reads(ada) -> None:
    with translation.override("de"):
        trail.record(
            "person.changed",
            actor=Actor.system("test"),
            target=("person", str(ada.pk)),
            reason=str(errors.ReauthenticationNeeded()),
        )
    assert Entry.objects.get(verb="person.changed").reason.startswith(
        "This needs a recent sign-in."
    )


def test_a_text_that_is_said_later_is_of_one_kind_with_all_others() -> None:
    # A class for each text would take longer to make than the page that shows it.
    first, second = speech.later("Needs you"), speech.joined(", ", ["a", "b"])

    assert type(first) is type(second)
    assert (str(first), str(second)) == ("Needs you", "a, b")
