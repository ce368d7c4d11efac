"""Signing in, proving oneself again, and one's own settings, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support.people import PASSWORD, person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
SIGNED_IN = re.compile(r"/$")


def fill_in(page: Page, password: str = PASSWORD, address: str = "ada@example.com") -> None:
    page.get_by_label("Email").fill(address)
    page.get_by_label("Password").fill(password)


def sign_in(page: Page, **fields: str) -> None:
    page.goto("/accounts/login/")
    fill_in(page, **fields)
    page.get_by_role("button", name="Sign in", exact=True).click()


def prove(page: Page) -> None:
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()


def test_somebody_signs_in_and_out_with_the_mouse(page) -> None:
    person("Ada", last_name="Marsh")
    sign_in(page)
    expect(page).to_have_url(SIGNED_IN)
    page.get_by_text("Ada Marsh", exact=True).click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.goto("/me/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_somebody_signs_in_with_the_keyboard_alone(page) -> None:
    person("Ada")
    page.goto("/me/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.get_by_label("Email").focus()
    page.keyboard.type("ada@example.com")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()


def test_a_wrong_password_is_explained_and_the_address_kept(page) -> None:
    person("Ada")
    sign_in(page, password="wrong")
    expect(page.get_by_text("are not correct")).to_be_visible()
    expect(page.get_by_label("Email")).to_have_value("ada@example.com")


def test_a_demo_account_is_refused_outside_demo_mode(page, settings) -> None:
    settings.DEMO = False
    person("Ada", is_demo=True)
    sign_in(page)
    expect(page.get_by_role("heading", name="This account cannot sign in")).to_be_visible()


def test_the_authenticator_app_is_set_up_after_proving_oneself(page) -> None:
    person("Ada")
    sign_in(page)
    page.goto("/me/")
    page.get_by_role("link", name="Set up an authenticator app").click()
    prove(page)
    expect(page.get_by_role("img", name="QR code")).to_be_visible()
    assert page.get_by_role("img", name="QR code").evaluate("image => image.naturalWidth") > 0
    expect(page.get_by_label("Authenticator secret")).to_have_value(re.compile(r"^[A-Z2-7]{16,}$"))


def test_the_theme_is_switched_and_stays(page, signed_in) -> None:
    signed_in(page, person("Ada")).goto("/me/")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_label("Dark").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_the_zone_of_the_device_is_offered(open_page, signed_in) -> None:
    page = signed_in(open_page(timezone_id="Europe/Berlin"), person("Ada"))
    page.goto("/me/")
    page.get_by_role("button", name="Use Europe/Berlin").click()
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")


def test_everything_works_without_scripts(open_page) -> None:
    person("Ada")
    page = open_page(java_script_enabled=False)
    sign_in(page)
    page.get_by_text("Ada", exact=True).click()
    page.get_by_role("link", name="Settings and sign-in").click()
    page.get_by_label("Dark").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()


def test_the_account_menu_closes_on_escape_and_on_a_click_elsewhere(page, signed_in) -> None:
    signed_in(page, person("Ada")).goto("/me/")
    out = page.get_by_role("button", name="Sign out", exact=True)
    page.locator("details.menu > summary").press("Enter")
    expect(out).to_be_visible()
    page.keyboard.press("Escape")
    expect(out).to_be_hidden()
    expect(page.locator("details.menu > summary")).to_be_focused()
    page.locator("details.menu > summary").click()
    page.get_by_role("heading", name="Settings").click()
    expect(out).to_be_hidden()
