"""Who signed in, who could not, and who proved again who they are is in the audit log."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import Entry
from tests.support.people import PASSWORD, person

pytestmark = pytest.mark.django_db


def entries() -> list[tuple[str, str, str, bool, str]]:
    found = Entry.objects.filter(verb__startswith="person.").order_by("pk")
    return [(e.verb, e.actor_label, e.target_id, e.allowed, e.reason) for e in found]


def sign_in(client: Client, name: str, password: str) -> None:
    client.post(reverse("account_login"), {"login": name, "password": password})


def test_signing_in_and_out_is_told(client) -> None:
    ada = person("Ada")
    sign_in(client, ada.email, PASSWORD)
    client.post(reverse("account_logout"))
    assert entries() == [
        ("person.signed_in", "Ada", str(ada.pk), True, ""),
        ("person.signed_out", "Ada", str(ada.pk), True, ""),
    ]


def test_ending_ones_sign_ins_elsewhere_is_told_if_there_were_any(client) -> None:
    ada = person("Ada")
    for browser in (client, Client(), Client()):
        sign_in(browser, ada.email, PASSWORD)
        browser.get(reverse("me"))
    for _ in range(2):
        client.post(reverse("sign_out_elsewhere"))
    entry = Entry.objects.get(verb="person.signed_out_elsewhere")
    assert (entry.actor_label, entry.target_id, entry.data) == ("Ada", str(ada.pk), {"browsers": 2})


def test_a_wrong_password_is_told_with_whom_it_was_tried(client) -> None:
    ada = person("Ada")
    sign_in(client, ada.email, "wrong")
    assert entries() == [
        ("person.sign_in_failed", "Somebody not signed in", str(ada.pk), False, "as Ada")
    ]


def test_of_a_name_that_nobody_has_nothing_is_kept(client) -> None:
    """It may be a password in the wrong field."""
    sign_in(client, "hunter2@example.org", "x")
    (told,) = entries()
    assert told[2:] == ("unknown", False, "as nobody we know")
    assert "hunter2" not in str(Entry.objects.values())


def test_proving_again_who_one_is_is_told_and_so_is_failing_to(client) -> None:
    ada = person("Ada")
    client.force_login(ada)
    before = len(entries())
    client.post(reverse("account_reauthenticate"), {"password": "wrong"})
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    assert [(verb, reason) for verb, _, _, _, reason in entries()[before:]] == [
        ("person.sign_in_failed", "as Ada"),
        ("person.reauthenticated", "password"),
    ]


def test_another_password_is_told(client) -> None:
    ada = person("Ada")
    sign_in(client, ada.email, PASSWORD)
    new = "quite another one 7"
    client.post(
        reverse("account_change_password"),
        {"oldpassword": PASSWORD, "password1": new, "password2": new},
    )
    assert ("person.changed", "Ada", str(ada.pk), True, "changed the password") in entries()
