"""The pages of policies and delegations in a real browser, without scripts and on every screen."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from approvals import policy
from approvals.models import Delegation
from tests.pages.screens import everywhere
from tests.support.people import PASSWORD, person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]

LARGE = {
    "name": "large refunds",
    "agent": "refund_*",
    "tool": "payments.refund",
    "when": ["args.amount_cents > 50000", "args.to outside example.com, *.example.org"],
    "group": "finance",
    "groups": ["legal"],
    "quorum": 2,
    "risk": "high",
    "reauthenticate_within": timedelta(minutes=10),
    "passkey": True,
    "deadline": timedelta(hours=8),
    "hours": "Mon-Fri 09:00-17:00 Europe/Berlin",
    "reminders": [timedelta(hours=2)],
    "escalation": ["4h finance-leads"],
    "reject_reasons": ["Wrong amount", "No receipt"],
    "summary": "Refund {amount} for order {args.order_id}",
    "masked": ["args.iban: treasury"],
}


@pytest.fixture(autouse=True)
def policies(settings) -> None:
    settings.APPROVALS_POLICIES = [LARGE]
    settings.APPROVALS_DEFAULT = {"name": "default", "group": "finance"}


@pytest.fixture
def rut(db: None) -> User:
    return person("Rut", "finance")


def sign_in(page: Page, user: User) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Email").fill(user.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(re.compile(r"/$"))


def test_an_admin_changes_a_policy_without_scripts_and_with_the_keyboard_alone(
    open_page: Callable[..., Page], rut: User
):
    page = open_page(java_script_enabled=False)
    sign_in(page, rut)
    page.goto("/approvals/policies/")
    page.get_by_role("link", name="1. large refunds").press("Enter")
    page.get_by_label("How many different people must approve").fill("3")
    page.get_by_label("Conditions, one per line").fill("args.amount_cents >")
    page.get_by_label("Why this change?").fill("Audit finding 12")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("Nothing was saved.")
    expect(page.get_by_text("args.amount_cents >: a value is needed").first).to_be_visible()
    page.get_by_label("Conditions, one per line").fill("args.amount_cents > 40000")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_text("Saved as version 2.")).to_be_visible()
    changed = policy.in_force().get("large refunds")
    assert changed is not None
    assert (changed.quorum, changed.passkey) == (3, True)
    assert str(changed.when[0]) == "args.amount_cents > 40000"
    page.get_by_role("link", name="History").click()
    page.get_by_role("link", name="Version 2").click()
    expect(page.get_by_text("large refunds.quorum")).to_be_visible()


def test_an_admin_delegates_for_somebody_without_scripts(open_page: Callable[..., Page], rut: User):
    ben, eve = person("Ben", "finance"), person("Eve", "approver")
    page = open_page(java_script_enabled=False)
    sign_in(page, rut)
    page.goto("/approvals/delegations/")
    page.get_by_label("Absent").select_option(label="Ben")
    page.get_by_label("Who decides instead").select_option(label="Eve")
    now = timezone.now()
    page.get_by_label("From").fill(now.strftime("%Y-%m-%dT%H:%M"))
    page.get_by_label("Until").fill((now + timedelta(days=3)).strftime("%Y-%m-%dT%H:%M"))
    page.get_by_label("Reason").fill("Holiday")
    page.get_by_role("button", name="Delegate").click()
    expect(page.get_by_text("Eve stands in from then on.")).to_be_visible()
    made = Delegation.objects.get()
    assert (made.absent, made.stand_in) == (ben, eve)


def test_what_a_try_finds_fits_every_screen_and_can_be_read_aloud(
    open_page: Callable[..., Page],
    signed_in: Callable[..., Page],
    rut: User,
    assert_accessible: Callable[[Page], None],
    assert_fits: Callable[[Page], None],
):
    page = signed_in(open_page(), rut)
    page.goto("/approvals/policies/try/")
    page.get_by_label("Agent", exact=True).fill("refund_desk")
    page.get_by_label("Tool optional").fill("payments.refund")
    page.get_by_label("Arguments, or a whole question").fill('{"amount_cents": "6"}')
    page.get_by_role("button", name="Try it out").click()
    expect(page.get_by_role("heading", name="large refunds and default")).to_be_visible()
    for _ in everywhere(page):
        assert_fits(page)
        assert_accessible(page)
