"""A real browser for tests marked `page`.

`page` is a fresh one for each test. When the test ends, it fails on anything that the browser
complained about: errors in the console, scripts that raised, broken content-security rules, files
that could not be loaded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Error,
    Page,
    Request,
    Response,
    sync_playwright,
)
from pytest_django.live_server_helper import LiveServer

from accounts.models import User
from tests.pages import axe
from tests.support import chromium

PATIENCE = 20_000
"""Milliseconds that a test waits for what must appear."""
ALIVE = (
    "document.readyState === 'complete' && performance.getEntriesByName('first-paint').length > 0"
)
WIDTHS = {"desktop": 1280, "tablet": 768, "phone": 360}


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium.find()
    if path is None:
        pytest.fail("no Chromium on this machine: install the package chromium")
    with sync_playwright() as playwright, pytest.MonkeyPatch.context() as patch:
        # Playwright keeps an event loop in this thread, where Django would refuse to ask the
        # database. Nothing runs in that loop while a test does.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        launched = playwright.chromium.launch(executable_path=path, args=chromium.ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser complained about. A test may remove what it expects."""
    return []


@pytest.fixture
def open_page(
    browser: Browser, complaints: list[str], live_server
) -> Iterator[Callable[..., Page]]:
    """Open a page in a context of its own; options are those of Playwright's new_context."""
    cache.clear()  # rate limits of earlier tests
    contexts = []

    def open_page(**options: Any) -> Page:
        context = browser.new_context(base_url=live_server.url, **options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        _listen(page, complaints)
        _look_before_typing(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def page(open_page: Callable[..., Page]) -> Page:
    return open_page(viewport={"width": WIDTHS["desktop"], "height": 800})


def _listen(page: Page, complaints: list[str]) -> None:
    def on_console(message: ConsoleMessage) -> None:
        # A page that answers 404 on purpose is an error to the console; files are judged below.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            complaints.append(f"console: {message.text}")

    def on_response(response: Response) -> None:
        kind = response.request.resource_type
        if response.status >= 400 and kind not in ("document", "xhr", "fetch"):
            complaints.append(f"{response.status} for {response.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: complaints.append(f"script: {error}"))
    page.on("response", on_response)
    page.on("requestfailed", lambda request: _failed(request, complaints))


def _look_before_typing(page: Page) -> None:
    """Press keys only once the page is drawn and its scripts have run, as a person would.

    A key that comes before is lost: elements are found in a page that is still arriving.
    """
    press = page.keyboard.press

    def patient(key: str, **options: Any) -> None:
        while not _is_alive(page):
            page.wait_for_timeout(5)
        press(key, **options)

    page.keyboard.press = patient  # type: ignore[method-assign]


def _is_alive(page: Page) -> bool:
    try:
        return bool(page.evaluate(ALIVE))
    except Error as error:
        if "context was destroyed" not in error.message:  # otherwise it is just being left
            raise
        return False


def _failed(request: Request, complaints: list[str]) -> None:
    # Leaving a page ends its requests; everything else that fails is a broken page.
    if request.failure != "net::ERR_ABORTED":
        complaints.append(f"{request.failure}: {request.url}")


@pytest.fixture
def signed_in(live_server: LiveServer) -> Callable[[Page, User], Page]:
    """Give a page's browser the session of somebody, without the sign-in form."""

    def signed_in(page: Page, user: User) -> Page:
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        value = client.cookies[name].value
        page.context.add_cookies([{"name": name, "value": value, "url": live_server.url}])
        return page

    return signed_in


@pytest.fixture
def assert_accessible() -> Callable[[Page], None]:
    """Run axe on the page as it stands; every violation is listed with where it is."""

    def assert_accessible(page: Page) -> None:
        found = axe.faults(page)
        assert not found, "\n".join((page.url, *found))

    return assert_accessible


@pytest.fixture
def assert_fits() -> Callable[[Page], None]:
    """Nothing sticks out: the page does not scroll sideways."""

    def assert_fits(page: Page) -> None:
        over = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert over <= 0, f"{page.url} is {over} px too wide"

    return assert_fits


if os.environ.get("CI") == "true" and chromium.find() is None:
    raise RuntimeError("CI must run the page tests: install the package chromium")
