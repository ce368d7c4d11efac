"""A person's own page, and the zone in which they see times."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.http import HttpResponse
from django.template import engines
from django.test import Client, RequestFactory
from django.utils import timezone

from accounts import forms, middleware
from accounts.models import User
from tests.support.people import PASSWORD, person

pytestmark = pytest.mark.django_db
FIELDS = {
    "first_name": "Ada",
    "last_name": "",
    "time_zone": "Europe/Berlin",
    "theme": "dark",
    "times": "relative",
    "hours": "24",
    "shortcuts": "on",
}


@pytest.fixture
def ada(client) -> User:
    ada = person("Ada", time_zone="Asia/Kolkata")
    client.force_login(ada)
    return ada


def test_a_person_chooses_theme_and_zone(client, ada) -> None:
    page = client.post("/me/", FIELDS, follow=True).content.decode()
    ada.refresh_from_db()
    assert (ada.theme, ada.time_zone) == ("dark", "Europe/Berlin")
    assert '<html lang="en" data-theme="dark"' in page
    assert "Times are in Europe/Berlin." in page


def test_the_theme_of_the_device_is_left_to_the_device(client, ada) -> None:
    assert "data-theme" not in client.get("/me/").content.decode()


def test_a_zone_that_does_not_exist_is_refused_and_nothing_is_saved(client, ada) -> None:
    response = client.post("/me/", FIELDS | {"time_zone": "Europe/Atlantis"})
    assert response.status_code == 422
    assert 'aria-describedby="id_time_zone_helptext id_time_zone_error"' in response.text
    assert 'id="id_time_zone_error"' in response.text
    ada.refresh_from_db()
    assert ada.time_zone == "Asia/Kolkata"


def test_nobody_gives_themselves_rights_on_their_own_page(client, ada) -> None:
    more = {"is_superuser": "on", "is_staff": "on", "is_demo": "on", "email": "x@example.com"}
    client.post("/me/", FIELDS | more)
    ada.refresh_from_db()
    assert not any((ada.is_superuser, ada.is_staff, ada.is_demo))
    assert ada.email == "ada@example.com"


def test_the_page_says_what_one_may_do(client, ada) -> None:
    page = client.get("/me/").content.decode()
    assert "Force a run to resume" in page
    assert "See the audit log" not in page


def test_one_click_shows_utc_and_one_more_the_own_zone(client, ada) -> None:
    assert "Times are in Asia/Kolkata." in client.get("/me/").text
    response = client.post("/me/clock/", {"show": "utc", "next": "/me/"}, follow=True)
    assert "Times are in UTC." in response.text
    response = client.post("/me/clock/", {"show": "mine", "next": "/me/"}, follow=True)
    assert "Times are in Asia/Kolkata." in response.text


def test_the_clock_does_not_lead_to_another_site(client, ada) -> None:
    assert client.post("/me/clock/", {"show": "utc", "next": "//evil.example/"}).url == "/"


def zone_during_a_request_of(user: User, rf) -> str:
    request = rf.get("/")
    request.user, request.session = user, {}
    respond = middleware.TimeZone(lambda _: HttpResponse(timezone.get_current_timezone_name()))
    return respond(request).text


def test_a_zone_is_on_for_one_request_only(rf) -> None:
    ada = person("Ada", time_zone="Asia/Kolkata")
    assert zone_during_a_request_of(ada, rf) == "Asia/Kolkata"
    assert timezone.get_current_timezone_name() == "UTC"


def test_a_zone_that_has_left_the_database_of_zones_shows_utc(rf) -> None:
    assert zone_during_a_request_of(person("Ada", time_zone="Europe/Atlantis"), rf) == "UTC"


def test_zones_are_offered_by_area_and_read_as_places() -> None:
    areas = dict(forms.time_zones())
    assert ("America/Argentina/Buenos_Aires", "Argentina, Buenos Aires") in areas["America"]
    assert areas["UTC"] == "UTC"
    assert "Etc" not in areas


def test_hours_and_lists_read_as_the_person_wants(client, ada) -> None:
    moment = datetime(2026, 11, 29, 16, 21, 4, 112_000, tzinfo=UTC)
    template = engines["django"].from_string("{% load ui %}{% when at %}|{% stamp at 'ms' %}")

    def shown(**fields: str) -> list[str]:
        User.objects.filter(pk=ada.pk).update(time_zone="UTC", **fields)
        request = RequestFactory().get("/")
        request.user, request.session = User.objects.get(pk=ada.pk), SessionBase()
        respond = middleware.TimeZone(lambda _: HttpResponse(template.render({"at": moment})))
        return re.findall(r">([^<]+)</time>", respond(request).text)

    assert shown()[0].endswith("ago") or shown()[0].startswith("in ")
    assert shown(times="absolute") == ["2026-11-29 16:21:04", "2026-11-29 16:21:04.112"]
    assert shown(hours="12") == ["2026-11-29 4:21:04 pm", "2026-11-29 4:21:04.112 pm"]
    assert "data-relative" not in template.render({"at": None})


def test_single_keys_are_switched_off_on_the_own_page(client, ada) -> None:
    client.post("/me/", {name: value for name, value in FIELDS.items() if name != "shortcuts"})
    ada.refresh_from_db()
    assert not ada.shortcuts
    assert 'data-keys="off"' in client.get("/").text


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"


def signed_in(user: User, agent: str) -> Client:
    client = Client(headers={"User-Agent": agent})
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert client.get("/me/").status_code == 200
    return client


def test_everybody_sees_where_they_are_signed_in_and_ends_all_but_this(ada) -> None:
    ben = signed_in(person("Ben"), "curl/8")
    here, phone = signed_in(ada, FIREFOX), signed_in(ada, PHONE)
    page = here.get("/me/").text
    assert "Safari on iPhone" in page
    assert page.index("Firefox on Linux") < page.index("This one")
    assert "curl" not in page
    told = here.post("/me/elsewhere/", follow=True).text
    assert "Signed out in 1 other browser." in told
    assert "iPhone" not in told
    assert phone.get("/me/").status_code == 302
    assert ben.get("/me/").status_code == 200


def test_a_session_that_ended_by_itself_is_not_listed(ada) -> None:
    here, _phone = signed_in(ada, FIREFOX), signed_in(ada, PHONE)
    Session.objects.exclude(session_key=here.session.session_key).update(
        expire_date=timezone.now() - timedelta(seconds=1)
    )
    assert "iPhone" not in here.get("/me/").text


def test_looking_does_not_sign_anybody_out(ada) -> None:
    here, phone = signed_in(ada, FIREFOX), signed_in(ada, PHONE)
    assert here.get("/me/elsewhere/").status_code == 405
    assert phone.get("/me/").status_code == 200
