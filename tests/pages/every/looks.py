"""What a real browser says about a page as it stands: access, room, targets, layout shifts."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import Page

from tests.pages import axe
from tests.pages.conftest import WIDTHS
from tests.pages.screens import ENLARGED, NARROWEST, SETTLED, resize

COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe whose outcome depends on the theme."""
ROOM = ("target-size", "scrollable-region-focusable")
"""Those whose outcome depends on the width."""
SHIFTS = """
window.__shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput || entry.value < 0.001) continue; // a time that goes on, by a word
    const words = (node) => (node?.outerHTML ?? node?.textContent ?? "?").slice(0, 90);
    const place = ({ x, y, width, height }) => [x, y, width, height].map(Math.round).join();
    const moved = entry.sources.map(({ node, previousRect, currentRect }) =>
      `${words(node)} from ${place(previousRect)} to ${place(currentRect)}`);
    window.__shifts.push(`${entry.value.toFixed(4)}: ${moved.join(" | ")}`);
  }
}).observe({ type: "layout-shift", buffered: true });
"""
"""For every page before it is loaded: what moved although nobody touched anything."""
UPDATED = """() => Promise.all([...document.querySelectorAll("[data-live]")].map((region) =>
  new Promise((done) => {
    region.addEventListener("htmx:afterSettle", done, { once: true });
    region.addEventListener("htmx:afterRequest", () => setTimeout(done, 150), { once: true });
    htmx.trigger(region, "live");
  })))"""
"""Has every live region ask once, and waits until the answers stand in the page."""
SMALL = """() => {
  const lowest = (it) => it.closest(".decide, .top") && innerWidth < 760 ? 44 : 40;
  const small = (it, least) => it.getBoundingClientRect().height < least - 0.5;
  const shown = (it) => it.checkVisibility() && !it.closest(".vh, .skip");
  const list = (query, least) => [...document.querySelectorAll(query)]
    .filter(shown).filter((it) => small(it, least(it))).map((it) => it.outerHTML.slice(0, 120));
  return [
    ...list(".btn:not(.small, .quiet), select, textarea, .top nav a," +
      "input:not([type=checkbox], [type=radio], [type=hidden], [type=file])", lowest),
    ...list("summary, .btn, .link, .chips a, .tabs a", () => 24),
  ];
}"""
"""Controls that a finger misses: ours are at least 40 pixels high, on a phone's bars 44."""
WIDE = """() => {
  const over = (it) => it.scrollWidth - it.clientWidth;
  const scrolls = (it) => /auto|scroll/.test(getComputedStyle(it).overflowX);
  const meant = ".scroll, .chips, pre, textarea";
  const inside = [...document.querySelectorAll("main *")]
    .filter((it) => over(it) > 0 && scrolls(it) && !it.matches(meant))
    .map((it) => `${over(it)} px too wide inside of ${it.outerHTML.slice(0, 120)}`);
  const page = over(document.documentElement);
  return page > 0 ? [`${page} px too wide`, ...inside] : inside;
}"""
"""What scrolls sideways and is not made to: the page, or a panel that hides it from the page."""
READ = """() => {
  const main = document.querySelector("main").cloneNode(true);
  for (const it of main.querySelectorAll("time")) it.textContent = "at some time";
  const scripted = "[hidden], .copy, [data-pause], [data-replay], noscript";
  for (const it of main.querySelectorAll(`${scripted}, .axis text`)) it.remove();
  const text = main.textContent.replace(/\\s+/g, " ").trim();
  return text.replace(/(\\d+ ?(ms|s|m|min|h|d|days)\\b ?)+/g, "some time ").replace(/\\d+/g, "0");
}"""
"""What the main part says, without what only scripts show, and without times, which go on."""


SPACED = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync("* { line-height: 1.5 !important; letter-spacing: .12em !important;"
    + " word-spacing: .16em !important } p { margin-bottom: 2em !important }");
  document.adoptedStyleSheets = [sheet];
}"""
"""The most that a reader may want between letters, words and lines: WCAG 1.4.12."""
UNFOLD = """() => {
  const folded = [...document.querySelectorAll("main details:not([open])")];
  for (const it of folded) it.open = it.dataset.unfolded = true;
  return folded.length;
}"""
"""Opens all that is folded away, and says how much that was."""


def watch(page: Page) -> None:
    """Before the page is loaded."""
    page.add_init_script(SHIFTS)


def everywhere(page: Page) -> Iterator[str]:
    """What is wrong with the page on every screen, in both themes.

    All rules of axe are asked on the widest and the narrowest screen, and there those of colours in
    the dark as well: a tablet has the colours of the one or of the other. Text may be enlarged and
    spaced out. At the end all that is folded away is looked at on a phone.
    """
    for name, width in WIDTHS.items():
        resize(page, width)
        page.evaluate(SETTLED)
        found = axe.faults(page, ROOM if name == "tablet" else ())
        yield from (f"{width} light: {each}" for each in found)
        yield from (f"{width}: too low: {each}" for each in page.evaluate(SMALL))
        yield from fits(page)
        if name != "tablet":
            page.emulate_media(color_scheme="dark")
            page.evaluate(SETTLED)
            yield from (f"{width} dark: {each}" for each in axe.faults(page, COLOURS))
            page.emulate_media(color_scheme="light")
    resize(page, ENLARGED)
    yield from fits(page)
    resize(page, NARROWEST)
    yield from fits(page)
    page.evaluate(SPACED)
    yield from (f"spaced: {each}" for each in fits(page))
    page.evaluate("document.adoptedStyleSheets = []")
    if page.evaluate(UNFOLD):
        page.evaluate(SETTLED)
        yield from fits(page)
        found = axe.faults(page, (*COLOURS, *ROOM), "[data-unfolded]")
        yield from (f"unfolded: {each}" for each in found)


def shifts(page: Page) -> list[str]:
    """What has moved by itself since the page was opened, the first live update included.

    If that brings news (a lease that ran out meanwhile), it may move what stands below them.
    """
    page.evaluate(SETTLED)
    found: list[str] = page.evaluate("window.__shifts")
    if page.evaluate("typeof htmx !== 'undefined'"):
        said = page.evaluate(READ)
        page.evaluate(UPDATED)
        page.evaluate(SETTLED)
        if page.evaluate(READ) == said:
            found = page.evaluate("window.__shifts")
    return found


def fits(page: Page) -> Iterator[str]:
    """What is too wide for the screen as it is."""
    width = page.viewport_size["width"] if page.viewport_size else "?"
    yield from (f"{width}: {each}" for each in page.evaluate(WIDE))
