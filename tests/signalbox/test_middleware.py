"""Every address wants somebody signed in, and errors of the domain become answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, URLResolver, get_resolver, include, path

from accounts import actors
from accounts.actors import Actor
from tests.support.people import person

PUBLIC = {
    "healthz",
    "readyz",
    "hooks/x/",
    "accounts/login/",
    "accounts/logout/",
    "accounts/inactive/",
    "accounts/email/",
    "accounts/signup/",
    "accounts/confirm-email/",
    "accounts/password/reset/",
    "accounts/password/reset/done/",
    "accounts/password/reset/key/done/",
    "accounts/login/code/confirm/",
    "accounts/2fa/authenticate/",
    "accounts/2fa/webauthn/login/",
}
"""Addresses that answer somebody who is not signed in; with an argument, two more of allauth's."""
SAMPLES = {
    "uuid": "019acf3e-7b20-7000-8000-000000000000",
    "int": "1",
    "str": "x",
    "slug": "x",
    "path": "x",
}


class Conflict(Exception):
    """Ben rejected this 20 seconds ago. <b>See</b> the decision."""

    http_status = 409

    def __str__(self) -> str:
        return str(self.__doc__)


class Teapot(Exception):
    http_status = 418


def conflict(request: HttpRequest) -> HttpResponse:
    raise Conflict


def guarded(request: HttpRequest) -> HttpResponse:
    actors.require(Actor.of(request), "ledger.settle_effect")
    return HttpResponse("settled")


def bare(request: HttpRequest) -> HttpResponse:
    raise PermissionDenied


def teapot(request: HttpRequest) -> HttpResponse:
    raise Teapot("short and stout")


views = [
    path("conflict/", conflict),
    path("guarded/", guarded),
    path("bare/", bare),
    path("teapot/", teapot),
]
urlpatterns = [
    *views,
    path("api/", include(views)),
    path("", include("signalbox.urls")),
]
handler403 = "signalbox.errors.permission_denied"


@pytest.fixture
def more_views(settings) -> None:
    settings.ROOT_URLCONF = __name__


def addresses(patterns: list[URLPattern | URLResolver], above: str = "") -> Iterator[str]:
    """Every address of the site, with a sample for each argument, but no regular expressions."""
    for pattern in patterns:
        here = above + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, here)
        elif "(?P" not in here:
            yield re.sub(r"<(?:(\w+):)?\w+>", lambda match: SAMPLES[match[1] or "str"], here)


ADDRESSES = sorted(set(addresses(get_resolver("signalbox.urls").url_patterns)))


@pytest.mark.django_db
@pytest.mark.parametrize("address", ADDRESSES)
def test_only_the_listed_addresses_answer_somebody_not_signed_in(client, address) -> None:
    response = client.get(f"/{address}")
    sent_away = response.status_code == 302 and response.url.startswith("/accounts/login/?next=")
    assert sent_away is (address not in PUBLIC)


def test_the_list_of_public_addresses_names_no_address_that_is_gone() -> None:
    assert set(ADDRESSES) >= PUBLIC


@pytest.mark.django_db
def test_a_fragment_asked_after_the_session_ended_moves_the_whole_page_to_sign_in(client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/runs/?status=failed"}
    response = client.get("/me/", headers=headers)
    assert response.status_code == 401
    assert response["HX-Redirect"] == "/accounts/login/?next=%2Fruns%2F%3Fstatus%3Dfailed"


@pytest.mark.django_db
def test_a_fragment_does_not_lead_back_to_another_site(client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "https://evil.example/runs/"}
    assert client.get("/me/", headers=headers)["HX-Redirect"] == "/accounts/login/?next=%2F"


@pytest.mark.django_db
def test_a_form_sent_after_the_session_ended_gives_back_what_was_typed(client) -> None:
    response = client.post(
        "/me/",
        {"comment": "Photos show <damage>", "reason": ""},
        headers={"Referer": "http://testserver/approvals/7/"},
    )
    assert response.status_code == 403
    assert "You were signed out" in response.text
    assert "Photos show &lt;damage&gt;</textarea>" in response.text
    assert "typed-reason" not in response.text
    assert "/accounts/login/?next=%2Fapprovals%2F7%2F" in response.text


@pytest.mark.django_db
def test_a_program_without_a_session_gets_a_problem_document(client, more_views) -> None:
    response = client.get("/api/conflict/")
    assert response.status_code == 401
    assert response["Content-Type"] == "application/problem+json"


@pytest.fixture
def ben(client, db, more_views):
    ben = person("Ben")
    client.force_login(ben)
    return ben


def test_an_error_of_the_domain_becomes_a_page_with_its_message_escaped(client, ben) -> None:
    response = client.get("/conflict/")
    assert response.status_code == 409
    assert "Ben rejected this 20 seconds ago. &lt;b&gt;See&lt;/b&gt; the decision." in response.text
    assert "<nav" in response.text


def test_a_fragment_gets_the_message_alone(client, ben) -> None:
    response = client.get("/conflict/", headers={"HX-Request": "true"})
    assert response.status_code == 409
    assert response.text.strip().startswith('<div class="notice tone-bad">')
    assert "HX-Request" in response["Vary"]


def test_a_program_gets_a_problem_document(client, ben) -> None:
    response = client.get("/api/conflict/")
    assert response.status_code == 409
    assert response["Content-Type"] == "application/problem+json"
    assert json.loads(response.content) == {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "detail": str(Conflict()),
    }


def test_a_refusal_names_the_permission_the_groups_and_who_can_grant_it(client, ben) -> None:
    person("Rut", last_name="Admin")
    response = client.get("/guarded/")
    assert response.status_code == 403
    assert "You may not settle an effect by hand" in response.text
    assert "<code>ledger.settle_effect</code>" in response.text
    assert "The groups operator, admin have it." in response.text
    assert "Ask Rut Admin. Whoever runs this server adds you to a group" in response.text


def test_a_refusal_without_any_administrator_says_so(client, ben) -> None:
    page = client.get("/guarded/").text
    assert "Ask " not in page
    assert "adds you to a group, with <code>manage.py person</code>" in page


def test_a_program_is_told_the_permission_but_no_names(client, ben) -> None:
    person("Rut")
    document = json.loads(client.get("/api/guarded/").content)
    assert document["permission"] == "ledger.settle_effect"
    assert "Rut" not in json.dumps(document)


def test_djangos_own_refusal_has_a_page_too(client, ben) -> None:
    response = client.get("/bare/")
    assert response.status_code == 403
    assert "You may not do this" in response.text


def test_a_status_without_a_page_of_its_own_gets_the_general_one(client, ben) -> None:
    response = client.get("/teapot/")
    assert response.status_code == 418
    assert "short and stout" in response.text


@pytest.mark.parametrize(
    "address",
    [
        "/runs/?agent=%00",
        "/ledger/?agent=a%00b",
        "/ledger/?q=%00&tool=x",
        "/runs/{}/?before=%00",
        "/runs/{}/checkpoints/%00/",
        "/accounts/login/?next=%00",
        "/no%00where/",
    ],
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_an_address_with_a_nul_is_a_bad_request_before_anybody_looks_it_up(
    client, db, address, method
) -> None:
    client.force_login(person("Rut"))
    response = getattr(client, method)(address.format(SAMPLES["uuid"]))
    assert response.status_code == 400
    assert "The address contains a NUL character." in response.text
    assert "<nav" in response.text


def test_a_percent_sign_before_two_noughts_is_no_nul(client, db) -> None:
    client.force_login(person("Rut"))
    assert client.get("/runs/?q=100%2500").status_code == 200
