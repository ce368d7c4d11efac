"""The site whose every page is looked at: a world behind a server, and a browser for everybody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
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
from tests.pages.conftest import PATIENCE, WIDTHS
from tests.pages.every import looks
from tests.pages.every.table import NOBODY
from tests.pages.every.world import World, built
from tests.pages.screens import resize
from tests.pages.test_passkeys import Device, add_passkey
from tests.support.flush import empty
from tests.support.people import PASSWORD
from tests.support.processes import until


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
