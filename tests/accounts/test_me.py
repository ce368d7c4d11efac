"""A person's own page, and the zone in which they see times."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.utils import timezone

from accounts import forms, middleware
from accounts.models import User
from tests.support.people import person

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
    assert '<html lang="en" data-theme="dark">' in page
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
