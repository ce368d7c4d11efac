"""Every page of the table in a real browser: each is loaded once, and looked at from all sides."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.test import Client, TransactionTestCase
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage
from playwright.sync_api import Page as Tab
from pytest_django.live_server_helper import LiveServer

from runs import checkpoints
from tests.ledger.conftest import empty
from tests.pages.conftest import PATIENCE, WIDTHS
from tests.pages.every import looks, markup
from tests.pages.every.table import NOBODY, PAGES, Page
from tests.pages.every.world import World, built
from tests.pages.screens import SETTLED, resize
from tests.pages.test_passkeys import Device, add_passkey
from tests.support.people import PASSWORD
from tests.support.processes import until

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
SHOTS = os.environ.get("SHOTS")
"""A folder for pictures of every page: on a desk, in the dark, and on a phone."""
LISTS_AT_MOST = 100_000
"""Bytes of a page that lists things."""
LISTS = (
    *("overview", "runs:list", "runs:workers", "approvals:inbox", "approvals:bulk"),
    *("ledger:list", "ledger:reconcile", "ledger:outbox", "ledger:tools"),
)
NEEDS_SCRIPTS = {"mfa_add_webauthn", "mfa_reauthenticate_webauthn"}
"""Pages that say so themselves, and hold a challenge that differs each time."""
READ_TWICE = [page for page in PAGES if page.status == 200 and page.url not in NEEDS_SCRIPTS]
GERMAN = tuple(
    {
        page.url: page
        for page in reversed(PAGES)
        if page.status == 200
        and page.url
        in (
            *("overview", "me", "runs:list", "runs:run", "runs:workers", "audit:list"),
            *("approvals:inbox", "approvals:review", "ledger:list", "ledger:effect"),
        )
    }.values()
)
"""One page of each kind that people see most."""
TITLE = re.compile(r"^\S.* · Signalbox$")


@dataclass(slots=True)
class Site:
    """The world behind a server, and a browser for everybody in it."""

    world: World
    url: str
    browser: Browser
    said: list[str] = field(default_factory=list)
    """What the browser complained about since it was emptied."""
    tabs: dict[tuple[str, bool], Tab] = field(default_factory=dict)

    def tab(self, who: str, *, scripts: bool = True) -> Tab:
        """The one window of this person, as wide as a desk."""
        if (who, scripts) not in self.tabs:
            context = self.browser.new_context(base_url=self.url, java_script_enabled=scripts)
            context.set_default_timeout(PATIENCE)
            if who != NOBODY:
                _sign_in(context, self.world, who, self.url)
            self.tabs[who, scripts] = self._listened_to(context.new_page())
        tab = self.tabs[who, scripts]
        resize(tab, WIDTHS["desktop"])
        tab.wait_for_function("width => innerWidth === width", arg=WIDTHS["desktop"])
        return tab

    def _listened_to(self, tab: Tab) -> Tab:
        looks.watch(tab)
        tab.on("console", lambda message: self._on_console(message))
        tab.on("pageerror", lambda error: self.said.append(f"script: {error}"))
        return tab

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.said.append(f"console: {message.text}")

    def close(self) -> None:
        for tab in self.tabs.values():
            tab.context.close()


def _sign_in(context: BrowserContext, world: World, who: str, url: str) -> None:
    """A session of somebody who has just proved who they are."""
    client = Client()
    client.force_login(world.people[who])
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": url}])


def _add_ways_to_sign_in(site: Site) -> None:
    """Fay gets an authenticator app, a passkey from a device that Chromium makes up, and codes."""
    fay = site.world.people["Fay"]
    tab = site.tab("Fay")
    Device(tab)
    tab.goto(reverse("mfa_add_webauthn"))
    add_passkey(tab)
    TOTP.activate(fay, "JBSWY3DPEHPK3PXP")
    key = Authenticator.objects.get(user=fay, type=Authenticator.Type.WEBAUTHN)
    site.world.put("passkey", key.pk)


@pytest.fixture(scope="module")
def site(django_db_setup: None, django_db_blocker: Any, browser: Browser) -> Iterator[Site]:
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        # The world stays until the last page has been looked at.
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda self: None)
        empty()
        cache.clear()
        with built() as world:
            world.put("no run", UUID(int=0))
            server = LiveServer("localhost")
            site = Site(world=world, url=server.url, browser=browser)
            _add_ways_to_sign_in(site)
            yield site
            site.close()
            server.stop()
        checkpoints.close()
        empty()
        until(_alone)
        connection.close()  # a browser's event loop has connections of its own


def _alone() -> bool:
    """End what the server's threads hold, or the test database could not be dropped."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return not cursor.fetchall()


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_is_right_from_every_side(site: Site, page: Page) -> None:
    tab = site.tab(page.who)
    site.said.clear()
    response = tab.goto(page.address(site.world))
    assert response is not None
    assert response.status == page.status
    moved = looks.shifts(tab)
    source = response.text()
    assert TITLE.search(tab.title()), tab.title()
    wrong = [
        *markup.faults(source),
        *(f"moved by itself: {each}" for each in moved),
        *looks.everywhere(tab),
        *site.said,
    ]
    if page.url in LISTS and len(source.encode()) >= LISTS_AT_MOST:
        wrong.append(f"{len(source.encode())} bytes: too much for a list")
    _picture(tab, page)
    assert not wrong, "\n".join(dict.fromkeys(wrong))


@pytest.mark.parametrize("page", READ_TWICE, ids=str)
def test_a_page_says_the_same_without_scripts(site: Site, page: Page) -> None:
    said = []
    for scripts in (True, False):
        tab = site.tab(page.who, scripts=scripts)
        tab.goto(page.address(site.world))
        said.append(tab.evaluate(looks.READ))
    assert said[0] == said[1]


@pytest.mark.parametrize("page", GERMAN, ids=str)
def test_a_page_in_german_is_whole_on_a_phone(site: Site, page: Page) -> None:
    """Words are longer, and numbers are written otherwise: drawings must not take that over."""
    tab = site.tab(page.who)
    tab.set_extra_http_headers({"Accept-Language": "de"})
    try:
        tab.goto(page.address(site.world))
        resize(tab, WIDTHS["phone"])
        site.said.clear()
        tab.reload()
        assert tab.get_attribute("html", "lang") == "de"
        assert tab.get_by_text("Zum Inhalt springen").count() == 1
        assert list(looks.fits(tab)) == []
        assert site.said == []
    finally:
        tab.set_extra_http_headers({})


def _picture(tab: Tab, page: Page) -> None:
    if not SHOTS:
        return
    folder = Path(SHOTS)
    folder.mkdir(parents=True, exist_ok=True)
    for name, width, theme in (
        ("desk", WIDTHS["desktop"], "light"),
        ("dark", WIDTHS["desktop"], "dark"),
        ("phone", WIDTHS["phone"], "light"),
    ):
        resize(tab, width)
        tab.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        tab.evaluate(SETTLED)
        tab.screenshot(path=folder / f"{page}-{name}.png", full_page=True)
    tab.emulate_media(color_scheme="light")
