"""Pages for what went wrong, where nothing else can be relied on."""

from __future__ import annotations

import json
import logging
import re

import pytest
from django.core.exceptions import SuspiciousOperation
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from signalbox import errors
from tests.support.people import person


def broken(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("secret detail")


def suspicious(request: HttpRequest) -> HttpResponse:
    raise SuspiciousOperation


urlpatterns = [
    path("broken/", broken),
    path("api/broken/", broken),
    path("suspicious/", suspicious),
    path("", include("signalbox.urls")),
]
for number, handler in ((400, "bad_request"), (404, "page_not_found"), (500, "server_error")):
    globals()[f"handler{number}"] = f"signalbox.errors.{handler}"


@pytest.fixture
def visitor(settings, db) -> Client:
    settings.ROOT_URLCONF = __name__
    logging.getLogger("django.security.SuspiciousOperation").setLevel(logging.CRITICAL)
    visitor = Client(raise_request_exception=False)
    visitor.force_login(person("Ada"))
    return visitor


def test_a_broken_page_says_so_and_gives_nothing_away(visitor) -> None:
    response = visitor.get("/broken/")
    assert response.status_code == 500
    assert "Something broke on our side" in response.text
    assert "secret detail" not in response.text


def test_a_broken_page_is_made_without_the_database(rf, db, django_assert_num_queries) -> None:
    with django_assert_num_queries(0), connection.execute_wrapper(_refuse):
        response = errors.server_error(rf.get("/"))
    assert b"Something broke" in response.content


def _refuse(*_):
    raise AssertionError("the page asked the database")


def test_a_program_gets_a_problem_document_when_something_breaks(visitor) -> None:
    response = visitor.get("/api/broken/")
    assert response["Content-Type"] == "application/problem+json"
    assert json.loads(response.content)["status"] == 500


def test_an_unknown_address_has_a_page_with_the_menu_for_somebody_signed_in(visitor) -> None:
    response = visitor.get("/nothing/")
    assert response.status_code == 404
    assert "There is nothing here" in response.text
    assert "Ada" in response.text
    assert "Ada" not in Client().get("/nothing/").text


def test_a_request_that_makes_no_sense_has_a_page(visitor) -> None:
    response = visitor.get("/suspicious/")
    assert response.status_code == 400
    assert "makes no sense" in response.text


def test_a_host_that_is_not_ours_has_a_page_before_anybody_is_known(visitor) -> None:
    response = visitor.get("/", headers={"Host": "evil.example"})
    assert response.status_code == 400
    assert "makes no sense" in response.text


@pytest.fixture
def strict(db) -> Client:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person("Ada"))
    return strict


def test_a_form_of_an_older_session_does_nothing_and_gives_back_what_was_typed(strict) -> None:
    response = strict.post("/me/", {"reason": "</textarea><script>x</script>", "comment": "é"})
    assert response.status_code == 403
    assert "Session changed" in response.text
    assert "&lt;/textarea&gt;&lt;script&gt;x&lt;/script&gt;</textarea>" in response.text
    assert ">é</textarea>" in response.text
    assert "<script>x" not in response.text


def test_a_fragment_of_an_older_session_says_so_and_keeps_what_was_typed(strict) -> None:
    headers = {"HX-Request": "true"}
    response = strict.post("/me/", {"comment": "</textarea><script>x</script>"}, headers=headers)
    assert response.status_code == 403
    assert "Session changed." in response.text
    assert "Reload the page" in response.text
    assert "CSRF" not in response.text
    assert "&lt;/textarea&gt;&lt;script&gt;x&lt;/script&gt;</textarea>" in response.text
    assert "<html" not in response.text


def test_a_password_is_never_given_back(strict) -> None:
    response = strict.post("/accounts/login/", {"login": "ada@example.com", "password": "hunter22"})
    assert response.status_code == 403
    assert "hunter22" not in response.text


BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize("status", errors.PAGES)
@pytest.mark.parametrize("accept", [BROWSER, "*/*", ""])
def test_every_status_has_a_page_that_says_what_to_do(rf, status, accept) -> None:
    response = errors.answer(rf.get("/", headers={"Accept": accept} if accept else {}), status)
    assert response.status_code == status
    assert "<h1" in response.text
    assert 'href="/"' in response.text
    assert {"HX-Request", "Accept"} <= set(response["Vary"].split(", "))


@pytest.mark.parametrize("status", errors.PAGES)
def test_every_status_has_a_notice_for_a_part_of_a_page(rf, status) -> None:
    response = errors.answer(rf.get("/", headers={"HX-Request": "true"}), status)
    assert response.status_code == status
    assert response.text.strip().startswith('<div class="notice tone-bad">')
    assert "<html" not in response.text
    assert re.search(r"Reload|Wait", response.text)


@pytest.mark.parametrize("status", errors.PAGES)
@pytest.mark.parametrize("accept", [*errors.PROGRAMS, "application/json, text/html;q=0.5"])
def test_every_status_has_a_problem_document_for_who_accepts_json(rf, status, accept) -> None:
    response = errors.answer(rf.get("/runs/", headers={"Accept": accept}), status, "Look.")
    assert response.status_code == status
    assert response["Content-Type"] == "application/problem+json"
    document = json.loads(response.content)
    assert (document["status"], document["detail"]) == (status, "Look.")
    assert "Accept" in response["Vary"]


REFERENCE = re.compile(r"reference[^0-9a-f]*(?:<b class=\"mono\">|: ?\")?([0-9a-f]{10})\b")


@pytest.mark.parametrize(
    "headers", [{}, {"HX-Request": "true"}, {"Accept": "application/json"}], ids=str
)
def test_what_broke_has_a_reference_that_leads_to_its_traceback(visitor, caplog, headers) -> None:
    response = visitor.get("/broken/", headers=headers)
    found = REFERENCE.search(response.text)
    assert found, response.text
    (entry,) = (each for each in caplog.records if found[1] in each.getMessage())
    assert "/broken/" in entry.getMessage()
    assert entry.exc_info
    assert "secret detail" in str(entry.exc_info[1])
    assert ("<html" in response.text) is (headers == {})


def test_no_two_errors_have_one_reference(visitor) -> None:
    first, second = (REFERENCE.search(visitor.get("/broken/").text) for _ in range(2))
    assert first
    assert second
    assert first[1] != second[1]


RUN = "019acf3e-7b20-7000-8000-00000000c41e"


def test_who_finds_nothing_is_told_where_to_look(client, db) -> None:
    client.force_login(person("Cy"))
    page = client.get(f"/runs/{RUN}/nowhere/at/all/").text
    assert "may have been erased" in page
    assert f'name="q" value="{RUN}"' in page
    assert f"/audit/?run={RUN}" in page
    client.force_login(person("Dee"))
    page = client.get(f"/runs/{RUN}/nowhere/at/all/").text
    assert 'name="q"' not in page
    assert "/audit/" not in page


def test_an_address_for_forms_says_so_to_who_opens_it(client, db) -> None:
    client.force_login(person("Ada"))
    response = client.get("/me/clock/")
    assert response.status_code == 405
    assert response["Allow"] == "POST"
    assert "This address is not a page" in response.text


def test_a_form_of_an_older_session_leads_back_to_its_page(strict) -> None:
    assert 'href="/me/">Open the page again' in strict.post("/me/", {"reason": "x"}).text


def test_a_refused_program_is_told_the_permission(client, db) -> None:
    client.force_login(person("Dee"))
    response = client.get("/runs/", headers={"Accept": "application/json"})
    assert response.status_code == 403
    assert json.loads(response.content)["permission"] == "runs.view_run"
    assert "groups" not in json.loads(response.content)


def test_a_refused_part_of_a_page_says_who_can_grant_it(client, db) -> None:
    person("Rut", last_name="Admin")
    client.force_login(person("Dee"))
    response = client.get("/runs/", headers={"HX-Request": "true"})
    assert response.status_code == 403
    assert "The permission is runs.view_run" in response.text
    assert "Ask Rut Admin." in response.text


def test_too_many_requests_have_a_page(rf) -> None:
    response = errors.too_many_requests(rf.get("/"))
    assert response.status_code == 429
    assert "Too fast" in response.text
