"""Ways in, and the ways that are shut."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

import signalbox.settings as real
from accounts.models import User
from tests.support.people import PASSWORD, person

pytestmark = pytest.mark.django_db
WRONG = "The email address and/or password you specified are not correct."


@pytest.fixture(autouse=True)
def no_attempts_before() -> None:
    cache.clear()


def sign_in(
    client: Client, login: str = "ada@example.com", password: str = PASSWORD, **more: str
) -> Any:
    return client.post(reverse("account_login"), {"login": login, "password": password} | more)


def test_an_address_in_any_case_and_the_password_let_somebody_in(client) -> None:
    person("Ada")
    response = sign_in(client, "ADA@Example.com")
    assert response.status_code == 302
    assert response.url == reverse("overview")
    assert client.get("/me/").status_code == 200


def test_a_wrong_password_and_an_unknown_address_read_the_same(client) -> None:
    person("Ada")
    for login in ("ada@example.com", "nobody@example.com"):
        assert WRONG in sign_in(client, login, "wrong").content.decode().replace("&#x27;", "'")
    assert client.get("/me/").status_code == 302


def test_sign_in_comes_back_to_the_page_that_asked(client) -> None:
    person("Ada")
    asked = client.get("/me/?tab=1")
    assert asked.url == "/accounts/login/?next=/me/%3Ftab%3D1"
    assert sign_in(client, next="/me/?tab=1").url == "/me/?tab=1"


def test_sign_in_does_not_lead_to_another_site(client) -> None:
    person("Ada")
    assert sign_in(client, next="https://evil.example/").url == reverse("overview")


def test_somebody_switched_off_is_told_and_not_let_in(client) -> None:
    person("Ada", is_active=False)
    assert sign_in(client).url == reverse("account_inactive")
    assert client.get("/me/").status_code == 302


def test_a_demo_account_is_refused_outside_demo_mode(client, settings) -> None:
    person("Ada", is_demo=True)
    settings.DEMO = False
    assert sign_in(client).url == reverse("account_inactive")
    assert "demo mode is off" in client.get(reverse("account_inactive")).content.decode()
    assert client.get("/me/").status_code == 302


def test_a_live_session_of_a_demo_account_ends_with_demo_mode(client, settings) -> None:
    settings.DEMO = True
    person("Ada", is_demo=True)
    sign_in(client)
    assert client.get("/me/").status_code == 200
    settings.DEMO = False
    assert client.get("/me/").status_code == 302


def test_a_live_session_ends_when_the_account_is_switched_off(client) -> None:
    person("Ada")
    sign_in(client)
    User.objects.update(is_active=False)
    assert client.get("/me/").status_code == 302


def test_nobody_signs_up(client) -> None:
    fields = {"email": "eve@example.com", "password1": PASSWORD, "password2": PASSWORD}
    page = client.get("/accounts/signup/").text
    assert "only by whoever runs this server: <code>manage.py person</code>" in page
    client.post("/accounts/signup/", fields)
    assert not User.objects.exists()


def test_nobody_changes_their_own_address(client) -> None:
    client.force_login(person("Ada"))
    assert client.get("/accounts/email/").status_code == 403
    client.post("/accounts/email/", {"action_add": "", "email": "eve@example.com"})
    assert not EmailAddress.objects.filter(email="eve@example.com").exists()


def test_too_many_wrong_passwords_are_stopped(client) -> None:
    person("Ada")
    pages = [sign_in(client, password="wrong").content.decode() for _ in range(6)]
    assert "Too many failed login attempts" in pages[-1]
    assert "Too many failed login attempts" in sign_in(client).content.decode()


def test_the_password_is_asked_again_before_how_one_signs_in_is_changed(client) -> None:
    person("Ada")
    sign_in(client)
    asked = client.get(reverse("mfa_activate_totp"))
    assert asked.url.startswith(reverse("account_reauthenticate"))
    assert "Incorrect password" in client.post(asked.url, {"password": "wrong"}).content.decode()
    assert client.post(asked.url, {"password": PASSWORD}).url == reverse("mfa_activate_totp")
    assert "Authenticator secret" in client.get(reverse("mfa_activate_totp")).content.decode()


def test_a_forgotten_password_is_set_anew_by_mail(client) -> None:
    person("Ada")
    client.post(reverse("account_reset_password"), {"email": "ada@example.com"})
    [message] = mail.outbox
    assert message.subject.startswith("[Signalbox] ")
    [link] = [word for word in message.body.split() if "/password/reset/key/" in word]
    form = client.get(link, follow=True)
    new = "another quite long one"
    client.post(form.request["PATH_INFO"], {"password1": new, "password2": new})
    assert sign_in(client, password=new).url == reverse("overview")


def test_passwords_are_kept_with_argon2() -> None:
    assert real.PASSWORD_HASHERS == ["django.contrib.auth.hashers.Argon2PasswordHasher"]
