"""Pages for what went wrong, where nothing else can be relied on."""

from __future__ import annotations

import json
import logging

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


@pytest.mark.parametrize("status", errors.PAGES)
def test_every_status_has_a_page_that_says_what_to_do(rf, status) -> None:
    response = errors.answer(rf.get("/"), status)
    assert response.status_code == status
    assert "<h1" in response.text
    assert 'href="/"' in response.text


def test_too_many_requests_have_a_page(rf) -> None:
    response = errors.too_many_requests(rf.get("/"))
    assert response.status_code == 429
    assert "Too fast" in response.text
