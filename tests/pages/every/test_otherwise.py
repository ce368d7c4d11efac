"""Every page without scripts and by single keys, and those that people see most in German."""

from __future__ import annotations

import pytest

from tests.pages.conftest import WIDTHS
from tests.pages.every import keyboard, looks
from tests.pages.every.conftest import Site
from tests.pages.every.table import PAGES, Page
from tests.pages.screens import resize

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
NEEDS_SCRIPTS = {"mfa_add_webauthn", "mfa_reauthenticate_webauthn"}
"""Pages that say so themselves, and hold a challenge that differs each time."""
KINDS = tuple({page.url: page for page in reversed(PAGES)}.values())
"""One page of each kind."""
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


@pytest.mark.parametrize("page", READ_TWICE, ids=str)
def test_a_page_says_the_same_without_scripts(site: Site, page: Page) -> None:
    said = []
    # Both have signed in before either reads: the audit log tells of it.
    tabs = [site.tab(page.who, scripts=scripts) for scripts in (True, False)]
    for tab in tabs:
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


@pytest.mark.parametrize("page", KINDS, ids=str)
def test_single_keys_do_what_their_sheet_says_and_nothing_else(site: Site, page: Page) -> None:
    tab = site.tab(page.who)
    tab.goto(page.address(site.world))
    assert list(keyboard.faults(tab)) == []
