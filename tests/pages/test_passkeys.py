"""Passkeys, with an authenticator that Chromium makes up and everything else as it is."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import CDPSession, Page, expect

from accounts.models import User
from approvals.models import Decision, Request
from audit.models import Entry
from runs import dispatch
from runs.models import Lease, Run
from tests.approvals.conftest import ask, now, ours, pending
from tests.pages.screens import everywhere
from tests.support import driven
from tests.support.people import PASSWORD, person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(autouse=True)
def policy(settings, monkeypatch) -> None:
    """Finance decides, with a passkey shown within the last minute."""
    driven.policy(settings, passkey=True, reauthenticate_within=timedelta(minutes=1))
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, *, cause, to="": True)


@pytest.fixture
def ben(db: None) -> User:
    return person("Ben", "finance")


@pytest.fixture
def asked(ben: User) -> Request:
    run = Run.objects.create(
        agent="refund_desk", agent_version="1", title="R", input={}, status="waiting", starter="x"
    )
    Lease.objects.create(run=run, fence=1)
    request: Request = ask(run, pending(ours()))
    return request


class Device:
    """A phone or a key that the person has at hand, and how willing they are."""

    def __init__(self, page: Page) -> None:
        self.devtools: CDPSession = page.context.new_cdp_session(page)
        self.devtools.send("WebAuthn.enable")
        made = self.devtools.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})
        self.id = made["authenticatorId"]

    @property
    def keys(self) -> list[Any]:
        found = self.devtools.send("WebAuthn.getCredentials", {"authenticatorId": self.id})
        keys: list[Any] = found["credentials"]
        return keys

    def does_not_know_the_person(self) -> None:
        told = {"authenticatorId": self.id, "isUserVerified": False}
        self.devtools.send("WebAuthn.setUserVerified", told)


@pytest.fixture
def at_hand(page) -> Device:
    return Device(page)


def button(page: Page, name: str | re.Pattern[str]) -> Any:
    return page.get_by_role("button", name=name)


def sign_in(page: Page) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Email").fill("ben@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_text("Ben", exact=True)).to_be_visible()


def prove(page: Page) -> None:
    page.get_by_label("Password").fill(PASSWORD)
    button(page, "Confirm").click()


def address(request: Request) -> str:
    return reverse("approvals:review", args=[request.pk])


def add_passkey(page: Page) -> None:
    """On the page for it, after proving oneself."""
    page.get_by_label("Sign in with it alone").check()
    button(page, "Add this device").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()


def use_passkey(page: Page) -> None:
    button(page, "Use your passkey").click()


def settings_page(page: Page) -> None:
    page.goto("/me/")
    page.get_by_role("link", name="Add a passkey").click()
    prove(page)


def test_a_passkey_is_added_and_lets_its_owner_in(page, at_hand, ben):
    sign_in(page)
    settings_page(page)
    add_passkey(page)
    assert len(at_hand.keys) == 1
    page.goto("/me/")
    expect(page.get_by_role("row", name="Passkeys and security keys")).to_contain_text("1")
    page.context.clear_cookies()
    page.goto("/accounts/login/")
    button(page, "Sign in with a passkey").click()
    expect(page.get_by_text("Ben", exact=True)).to_be_visible()
    assert at_hand.keys[0]["signCount"] > 0


def test_one_has_to_be_oneself_again_before_a_passkey_is_removed(page, at_hand, ben, settings):
    sign_in(page)
    settings_page(page)
    add_passkey(page)
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 0
    page.goto("/accounts/2fa/webauthn/")
    page.get_by_role("link", name="Remove").click()
    page.get_by_role("link", name="Use a security key").click()
    settings.ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
    use_passkey(page)
    button(page, "Remove").click()
    expect(page.get_by_text("You have none yet.")).to_be_visible()


def test_who_has_no_passkey_is_told_led_to_one_and_back(page, at_hand, asked):
    """And nothing is decided on the way: not by a password, not by having added a passkey."""
    sign_in(page)
    page.goto(address(asked))
    expect(page.get_by_text("This needs a passkey, and you have none yet.")).to_be_visible()
    page.get_by_label("Comment").fill("Checked.")
    button(page, "Approve payments.refund").click()
    prove(page)
    expect(page.get_by_role("heading", name="Add a passkey")).to_be_visible()
    add_passkey(page)
    page.get_by_role("link", name="Go on").click()
    assert page.url.endswith(address(asked))
    expect(page.get_by_text("What you had written is kept.")).to_be_visible()
    expect(page.get_by_text("You will be asked for your passkey.")).to_be_visible()
    expect(page.get_by_label("Comment")).to_have_value("Checked.")
    assert now(asked).status == "pending"
    button(page, "Approve payments.refund").click()
    use_passkey(page)
    expect(page.get_by_text("You have confirmed that it is you.")).to_be_visible()
    assert now(asked).status == "pending"
    button(page, "Approve payments.refund").click()
    expect(page.get_by_text("You approved this")).to_be_visible()
    assert Decision.objects.get().comment == "Checked."
    assert Entry.objects.get(verb="decision.made").data["method"] == "webauthn"


def test_where_a_passkey_is_needed_no_other_way_is_offered(page, at_hand, asked):
    sign_in(page)
    settings_page(page)
    add_passkey(page)
    page.goto(address(asked))
    button(page, "Approve payments.refund").click()
    expect(button(page, "Use your passkey")).to_be_visible()
    expect(page.get_by_text("Another way")).to_have_count(0)


def test_who_came_in_by_a_passkey_just_now_decides_at_once(page, at_hand, asked):
    sign_in(page)
    settings_page(page)
    add_passkey(page)
    page.context.clear_cookies()
    page.goto(f"/accounts/login/?next={address(asked)}")
    button(page, "Sign in with a passkey").click()
    page.wait_for_url(f"**{address(asked)}")
    expect(page.get_by_text("passkey")).to_have_count(0)
    button(page, "Approve payments.refund").click()
    expect(page.get_by_text("You approved this")).to_be_visible()


def test_a_device_that_does_not_know_the_person_says_so_and_proves_nothing(page, at_hand, asked):
    sign_in(page)
    settings_page(page)
    add_passkey(page)
    at_hand.does_not_know_the_person()
    page.goto(address(asked))
    button(page, "Approve payments.refund").click()
    use_passkey(page)
    expect(page.get_by_role("alert")).to_contain_text("The passkey was not used")
    page.goto(address(asked))
    expect(page.get_by_text("You will be asked for your passkey.")).to_be_visible()
    assert now(asked).status == "pending"


def test_pages_about_passkeys_fit_every_screen(
    page, at_hand, asked, assert_accessible, assert_fits
):
    def fits() -> None:
        for _ in everywhere(page):
            assert_accessible(page)
            assert_fits(page)

    sign_in(page)
    settings_page(page)
    fits()
    add_passkey(page)
    page.goto(address(asked))
    button(page, "Approve payments.refund").click()
    fits()
