"""What is typed into a form when the session has ended: for its writer alone."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from html import unescape
from typing import Any
from unittest import mock

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from accounts import drafts
from accounts.models import User
from tests.support import standing as make
from tests.support.people import PASSWORD, person
from tests.support.web import field, html_of

pytestmark = pytest.mark.django_db
REASON = "The <customer> called; order 10382."
FORGED = "IjEi:1uZ:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"


@pytest.fixture
def ada() -> User:
    return person("Ada")


@pytest.fixture
def address() -> str:
    return reverse("runs:resume", args=[make.stuck().pk])


@pytest.fixture
def send(client: Client, address: str) -> Callable[..., Any]:
    """Open the form as somebody, let the session end, and send it all the same."""

    def send(who: User, **changed: str) -> Any:
        client.force_login(who)
        writer = field(client.get(address), "writer")
        Session.objects.all().delete()
        typed = {"reason": REASON, "typed": "c41e", "writer": writer} | changed
        return client.post(address, typed)

    return send


def sign_in(client: Client, user: User, back: str) -> None:
    sent = {"login": user.email, "password": PASSWORD, "next": back}
    response = client.post(reverse("account_login"), sent)
    assert (response.status_code, response["Location"]) == (302, back)


def reason_in(response: Any) -> str:
    found = re.search(r'<textarea name="reason"[^>]*>\s*([^<]*)</textarea>', html_of(response))
    assert found
    return unescape(found[1]).strip()


def test_it_stands_in_the_form_again_once_its_writer_has_signed_in(client, ada, send, address):
    response = send(ada)
    assert response.status_code == 302
    assert response["Location"] == f"/accounts/login/?next={address.replace('/', '%2F')}"
    page = client.get(response["Location"])
    assert "what you typed is kept for you" in html_of(page)
    assert REASON not in unescape(html_of(page))
    sign_in(client, ada, address)
    page = client.get(address)
    assert reason_in(page) == REASON
    assert "Nothing was done yet" in html_of(page)
    run = make.again(page.context["run"])
    assert run.interventions.count() == 0


def test_somebody_else_who_signs_in_there_does_not_get_it(client, ada, send, address):
    eve = person("Eve", "operator")
    send(ada)
    sign_in(client, eve, address)
    assert reason_in(client.get(address)) == ""
    assert "kept_while_proving" not in client.session
    client.post(reverse("account_logout"))
    sign_in(client, ada, address)
    assert reason_in(client.get(address)) == ""


def test_it_is_not_there_in_another_browser(ada, send, address):
    send(ada)
    elsewhere = Client()
    sign_in(elsewhere, ada, address)
    assert reason_in(elsewhere.get(address)) == ""


def test_what_is_typed_to_confirm_is_not_kept(client, ada, send, address):
    send(ada)
    assert client.session["kept_while_proving"] == {address: {"reason": REASON}}
    sign_in(client, ada, address)
    assert 'value="c41e"' not in html_of(client.get(address))


@pytest.mark.parametrize("writer", ["", "1", FORGED])
def test_a_form_that_does_not_prove_who_wrote_it_is_shown_and_not_kept(client, ada, send, writer):
    response = send(ada, writer=writer)
    assert response.status_code == 403
    assert "You were signed out" in response.text
    assert REASON in unescape(response.text)
    assert "kept_while_proving" not in client.session


def test_the_name_of_a_writer_runs_out_with_the_longest_session(settings, ada, send):
    then = time.time() - settings.SESSION_COOKIE_AGE - 60
    with mock.patch("django.core.signing.time.time", return_value=then):
        old = drafts.sign(ada)
    assert send(ada, writer=old).status_code == 403


def test_what_was_kept_is_gone_once_it_was_sent(client, ada, send, address):
    send(ada)
    sign_in(client, ada, address)
    page = client.get(address)
    sent = {"reason": reason_in(page), "typed": address.split("/")[2][-4:]}
    if "resume" in address:
        sent["seen"] = field(page, "seen")
    assert client.post(address, sent).status_code == 302
    assert client.session["kept_while_proving"] == {}
