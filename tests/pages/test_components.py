"""The components in a real browser: live regions, times, copying, and who can use them."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.pages import gallery
from tests.pages.conftest import WIDTHS
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def gallery_is_open(settings, monkeypatch) -> None:
    settings.ROOT_URLCONF = "tests.pages.gallery"
    templates = [settings.TEMPLATES[0] | {}]
    templates[0]["DIRS"] = [*templates[0]["DIRS"], Path(__file__).parent / "templates"]
    settings.TEMPLATES = templates
    monkeypatch.setattr(gallery, "broken", False)


@pytest.fixture
def ada(page, signed_in):
    return signed_in(page, person("Ada"))


def number(page: Page) -> int:
    return int(page.locator("#number").inner_text())


def wait_for_a_number_above(least: int, page: Page) -> None:
    page.wait_for_function("least => Number(document.all.number.textContent) > least", arg=least)


def test_a_live_region_updates_and_keeps_what_the_reader_opened(ada) -> None:
    ada.goto("/gallery/")
    ada.locator("#number").wait_for()
    ada.locator("#fold > summary").click()
    first = number(ada)
    wait_for_a_number_above(first + 1, ada)
    expect(ada.get_by_text("Inside")).to_be_visible()
    expect(ada.locator("#announce")).to_have_text("1 new run")


def test_a_live_region_rests_while_the_reader_types_in_it(ada) -> None:
    ada.goto("/gallery/")
    ada.locator("#number").wait_for()
    ada.locator("#live-field").focus()
    before = number(ada)
    ada.keyboard.type("half a sentence", delay=150)
    assert number(ada) <= before
    expect(ada.locator("#live-field")).to_have_value("half a sentence")
    ada.locator("h1").click()
    wait_for_a_number_above(before, ada)


def test_updates_can_be_paused_and_stay_paused_on_the_next_page(ada) -> None:
    ada.goto("/gallery/")
    ada.locator("#number").wait_for()
    pause = ada.get_by_role("button", name="Pause updates")
    pause.click()
    expect(pause).to_have_attribute("aria-pressed", "true")
    asked = []
    ada.on("request", lambda request: asked.append(request.url))
    ada.clock.install()
    ada.reload()
    expect(pause).to_have_attribute("aria-pressed", "true")
    ada.clock.run_for(3000)
    ada.evaluate("fetch('/healthz')")  # whatever was asked before it is known by now
    assert not [url for url in asked if "tick" in url]
    pause.click()
    with ada.expect_request("**/gallery/tick/"):
        ada.clock.run_for(3000)


def test_a_region_that_cannot_be_updated_says_since_when(ada, monkeypatch, complaints) -> None:
    ada.goto("/gallery/")
    ada.locator("#number").wait_for()
    monkeypatch.setattr(gallery, "broken", True)
    stale = ada.locator(".stale", has_text="Not updated since")
    expect(stale).to_be_visible()
    monkeypatch.setattr(gallery, "broken", False)
    expect(stale).to_have_count(0)
    complaints[:] = [text for text in complaints if "Response Status Error Code 503" not in text]


def test_a_region_rests_after_its_last_answer(ada, monkeypatch) -> None:
    monkeypatch.setattr(gallery, "finished", True)
    ada.clock.install()
    ada.goto("/gallery/")
    ada.clock.run_for(3000)
    expect(ada.get_by_text(": the last")).to_be_visible()
    asked = []
    ada.on("request", lambda request: asked.append(request.url))
    ada.clock.run_for(3000)
    ada.evaluate("fetch('/healthz')")
    assert not [url for url in asked if "tick" in url]


def test_a_relative_time_moves_on_by_the_servers_clock(open_page, signed_in) -> None:
    page = open_page()
    page.clock.install(time="2001-01-01T00:00:00Z")  # this device's clock is wrong by decades
    signed_in(page, person("Ada")).goto("/gallery/")
    started = page.locator("dl.facts time[data-relative]")
    expect(started).to_have_text("3 min ago")
    page.clock.run_for("02:05")
    expect(started).to_have_text("5 min ago")


def test_an_id_is_copied_whole(open_page, signed_in) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    signed_in(page, person("Ada")).goto("/gallery/")
    page.get_by_role("button", name="Copy the id that ends in").click()
    expect(page.locator("#announce")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "019acf3e-7b20-7000-8000-00000000c41e"


def test_hostile_text_shows_what_it_hides(ada) -> None:
    ada.goto("/gallery/")
    marks = ada.locator(".quote mark").all_inner_texts()
    assert marks == ["\\u{202E}", "\\u{202C}", "\\u{200B}", "60 spaces"]
    expect(ada.locator(".quote b")).to_have_count(0)


def test_nothing_that_has_focus_is_hidden_below_the_bars_of_a_phone(open_page, signed_in) -> None:
    page = open_page(viewport={"width": 360, "height": 640})
    signed_in(page, person("Ada")).goto("/gallery/")
    reject = page.get_by_role("button", name="Reject…")
    top_of_bar = reject.bounding_box()["y"]
    field = page.get_by_label("I have read the facts above")
    field.focus()
    box = field.bounding_box()
    assert box["y"] + box["height"] <= top_of_bar
    for button in (reject, page.get_by_role("button", name="Approve €120.00")):
        assert button.bounding_box()["height"] >= 44


def test_what_is_chosen_is_seen_in_the_colours_of_the_system(open_page, signed_in) -> None:
    page = open_page(forced_colors="active")
    signed_in(page, person("Ada")).goto("/gallery/")
    page.get_by_role("button", name="Pause updates").click()
    chosen, other = (
        page.locator(which).first.evaluate("it => getComputedStyle(it).backgroundColor")
        for which in ("[aria-pressed=true]", ".btn:not([aria-pressed])")
    )
    assert chosen != other
    tabs = [
        page.locator(f".tabs a{which}").first.evaluate("it => getComputedStyle(it).backgroundColor")
        for which in ("[aria-current]", ":not([aria-current])")
    ]
    assert tabs[0] == chosen != tabs[1]


PAGES = {
    "gallery": "/gallery/",
    "confirm": "/gallery/confirm/",
    "refused": "/gallery/refused/",
    **{str(status): f"/gallery/{status}/" for status in (400, 403, 404, 409, 422, 429, 500)},
}


@pytest.mark.parametrize(
    ("width", "theme"),
    [("desktop", "light"), ("desktop", "dark"), ("tablet", "light"), ("phone", "dark")],
)
def test_no_page_breaks_a_rule_of_accessibility(
    open_page, signed_in, assert_accessible, assert_fits, width, theme
) -> None:
    options = {"viewport": {"width": WIDTHS[width], "height": 800}, "color_scheme": theme}
    page = open_page(**options)
    signed_in(page, person("Ada", last_name="Marsh"))
    for address in PAGES.values():
        page.goto(address)
        assert_accessible(page)
        assert_fits(page)


def test_every_page_fits_320_pixels(open_page, signed_in, assert_fits) -> None:
    page = open_page(viewport={"width": 320, "height": 640})
    signed_in(page, person("Rut", last_name="Marsh-Featherstonehaugh of Nowhere"))
    for address in PAGES.values():
        page.goto(address)
        assert_fits(page)


@pytest.mark.parametrize("address", ["/gallery/", "/me/"])
def test_everything_to_click_is_at_least_24_pixels_high(page, signed_in, address) -> None:
    signed_in(page, person("Ada")).goto(address)
    small = page.evaluate(
        """() => [...document.querySelectorAll("a, button, input, select, summary")]
            .filter((it) => it.checkVisibility() && it.getBoundingClientRect().height < 24)
            .filter((it) => !it.closest("p, li, td, .vh, .skip, .list, .json"))  // in running text
            .filter((it) => !["checkbox", "radio"].includes(it.type))  // their label counts
            .map((it) => it.outerHTML.slice(0, 120))"""
    )
    assert small == []
