"""Regions that keep themselves up to date, and what they must never do to their reader.

The browser's clock stands still; tests move it on, so that nothing waits and nothing is missed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.pages import gallery
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
EVERY = 1000
"""Milliseconds between two looks of the gallery's region."""


@pytest.fixture(autouse=True)
def gallery_is_open(settings, monkeypatch) -> None:
    settings.ROOT_URLCONF = "tests.pages.gallery"
    templates = [settings.TEMPLATES[0] | {}]
    templates[0]["DIRS"] = [*templates[0]["DIRS"], Path(__file__).parent / "templates"]
    settings.TEMPLATES = templates
    monkeypatch.setattr(gallery, "broken", False)
    monkeypatch.setattr(gallery, "rows", [])


class Watched:
    """A page with a live region, and how often it asked."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.asked = 0
        page.on("request", self._count)
        page.goto("/gallery/")
        page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
        self.answered()

    def _count(self, request) -> None:
        self.asked += "/gallery/tick/" in request.url

    def answered(self, milliseconds: int = 2 * EVERY) -> None:
        """Let time pass, and one answer come."""
        with self.page.expect_response("**/gallery/tick/"):
            self.page.clock.run_for(milliseconds)
        expect(self.page.locator("#region.htmx-request")).to_have_count(0)

    def silent(self, milliseconds: int = 30 * EVERY) -> None:
        """Let time pass; nothing is asked."""
        before = self.asked
        self.page.clock.run_for(milliseconds)
        self.page.evaluate("fetch('/healthz')")  # whatever was asked before it is known by now
        assert self.asked == before


@pytest.fixture
def watched(page, signed_in) -> Watched:
    page.clock.install()
    return Watched(signed_in(page, person("Ada", hours="12", time_zone="Asia/Kolkata")))


def test_nothing_is_asked_while_the_reader_holds_or_has_selected_something(watched) -> None:
    page = watched.page
    page.locator("#number").hover()
    page.mouse.down()
    watched.silent()
    page.mouse.up()
    watched.answered()
    page.locator("#region p").first.select_text()
    watched.silent()
    page.evaluate("getSelection().removeAllRanges()")
    watched.answered()


def test_a_clock_that_is_set_back_stops_no_updates(watched) -> None:
    page = watched.page
    page.clock.set_system_time(page.evaluate("Date.now()") / 1000 - 3600)
    watched.answered()


def test_a_paused_page_stays_silent_when_it_is_seen_again(watched) -> None:
    page = watched.page
    page.get_by_role("button", name="Pause updates").click()
    see(page, "hidden")
    watched.silent()
    see(page, "visible")
    watched.silent()
    page.get_by_role("button", name="Pause updates").click()
    watched.answered()


def test_a_page_that_is_seen_again_is_brought_up_to_date_at_once(watched) -> None:
    see(watched.page, "hidden")
    watched.silent()
    see(watched.page, "visible")
    watched.answered(600)


def see(page: Page, state: str) -> None:
    page.evaluate(
        "state => { Object.defineProperty(document, 'visibilityState', "
        "{ value: state, configurable: true }); dispatchEvent(new Event('focus')); "
        "document.dispatchEvent(new Event('visibilitychange')); }",
        state,
    )


def test_each_failure_doubles_the_wait_up_to_sixteen_times(
    watched, monkeypatch, complaints
) -> None:
    monkeypatch.setattr(gallery, "broken", True)
    watched.answered()
    for times in (2, 4, 8, 16, 16):
        watched.silent(times * EVERY - 600)
        watched.answered(1200)
    complaints[:] = [text for text in complaints if "Response Status Error Code 503" not in text]


def test_since_when_is_said_by_the_servers_clock_as_the_reader_reads_it(
    open_page, signed_in, monkeypatch, complaints
) -> None:
    page = open_page(timezone_id="America/New_York")
    page.clock.install(time="2001-01-01T00:00:00Z")  # this device's clock is wrong by decades
    watched = Watched(signed_in(page, person("Ada", hours="12", time_zone="Asia/Kolkata")))
    monkeypatch.setattr(gallery, "broken", True)
    watched.answered()
    page.clock.run_for(500)
    said = page.locator("#announce").inner_text()
    expect(page.locator(".stale")).to_have_text(said)
    kolkata = [datetime.now(UTC) + timedelta(hours=5, minutes=30 - late) for late in (0, 1)]
    local = "|".join(f"{moment.hour % 12 or 12}:{moment:%M}" for moment in kolkata)
    assert re.fullmatch(rf"Not updated since ({local}):\d\d [AP]M\. Retrying\.", said)
    complaints[:] = [text for text in complaints if "Response Status Error Code 503" not in text]


def test_the_row_that_is_pointed_at_stays_where_it_is(watched, monkeypatch) -> None:
    def table(*titles: str) -> str:
        lines = (f'<tr id="{each}"><td><a href="#{each}">{each}</a></td></tr>' for each in titles)
        return f"<table>{''.join(lines)}</table>"

    page = watched.page
    monkeypatch.setattr(gallery, "rows", [table("one", "two", "three")])
    watched.answered()
    row = page.locator("#two")
    row.hover()
    before = row.bounding_box()["y"]
    monkeypatch.setattr(gallery, "rows", ["<p>2 new<br>rows</p>", table("one", "two", "three")])
    watched.answered()
    expect(page.get_by_text("2 new")).to_be_attached()
    assert row.bounding_box()["y"] == pytest.approx(before, abs=1)


def test_what_several_regions_say_is_read_out_once(watched) -> None:
    page = watched.page
    page.evaluate("""() => {
        window.said = [];
        new MutationObserver(() => said.push(announce.textContent)).observe(
            document.getElementById('announce'), { childList: true });
        for (const value of ['1 new run', '2 new runs', '1 new run'])
            document.dispatchEvent(new CustomEvent('announce', { detail: { value } }));
    }""")
    page.clock.run_for(400)
    assert page.evaluate("said") == ["1 new run 2 new runs"]


def test_an_answer_from_the_browsers_store_does_not_turn_times_back(watched, monkeypatch) -> None:
    at = datetime.now(UTC) - timedelta(minutes=5)
    line = f'<time id="at" datetime="{at.isoformat()}" data-relative>just now</time>'
    monkeypatch.setattr(gallery, "rows", [line])
    watched.answered()
    expect(watched.page.locator("#at")).to_have_text("5 min ago")
