"""Every page of the table in a real browser: each is loaded once, and looked at from all sides."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page as Tab

from tests.pages.conftest import WIDTHS
from tests.pages.every import looks, markup
from tests.pages.every.conftest import Site
from tests.pages.every.table import PAGES, Page
from tests.pages.screens import SETTLED, resize

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
SHOTS = os.environ.get("SHOTS")
"""A folder for pictures of every page: on a desk, in the dark, and on a phone."""
LISTS_AT_MOST = 100_000
"""Bytes of a page that lists things."""
LISTS = (
    *("overview", "runs:list", "runs:workers", "approvals:inbox", "approvals:bulk"),
    *("ledger:list", "ledger:reconcile", "ledger:outbox", "ledger:tools", "audit:list"),
)
TITLE = re.compile(r"^\S.* · Signalbox$")


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
