"""What single keys do on a page as it stands: what the sheet of keys promises, and nothing else.

`keyboard.js` beside this file notes what they do. The page is of no use afterwards.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page

WATCH = Path(__file__).with_suffix(".js").read_text()
MEANT = "/upj[].are12"
"""Keys that do something on some page. Besides, Ctrl and k open the palette, and ? the sheet."""
SIGNS = "".join(sorted({*string.ascii_lowercase, *string.digits, *MEANT, *",;-+AREPU"} - {"g"}))
FIELDS = ("input[type=search]", "input[type=text]", "textarea", "select")
MOST_ROWS = 8


def faults(page: Page) -> Iterator[str]:
    """What keys do that they should not, and what they do not although they should."""
    page.evaluate(WATCH)
    page.keyboard.type(SIGNS)
    yield from page.evaluate("__keys.alone()")
    page.keyboard.type("".join(f"g{place}" for place in page.evaluate("__keys.places + 'j'")))
    yield from page.evaluate("__keys.led()")
    yield from _at_rest(page)
    yield from _in_fields(page)
    yield from _in_rows(page)
    yield from page.evaluate("__keys.updates()")


def _at_rest(page: Page) -> Iterator[str]:
    """With modifiers, while somebody composes a sign, and for who switched them off."""
    for held in ("Alt", "Control"):
        page.keyboard.down(held)
        page.keyboard.type(MEANT)
        page.keyboard.up(held)
        yield from page.evaluate("when => __keys.nothing(when)", f"with {held}")
    page.evaluate("keys => __keys.compose(keys)", MEANT)
    yield from page.evaluate("__keys.nothing('while composing')")
    page.evaluate("document.documentElement.dataset.keys = 'off'")
    page.keyboard.type(f"{MEANT}?")
    yield from page.evaluate("__keys.nothing('switched off')")
    page.evaluate("delete document.documentElement.dataset.keys")


def _in_fields(page: Page) -> Iterator[str]:
    for kind in FIELDS:
        field = page.locator(f"main {kind}:visible:enabled:not([readonly])").first
        if not field.count():
            continue
        page.evaluate("__keys.loose(false)")
        field.focus()
        page.evaluate("__keys.nothing('')")
        page.keyboard.type(f"g{MEANT}?")
        yield from page.evaluate("when => __keys.nothing(when)", f"in {kind}")
        if kind != "select" and f"g{MEANT}?" not in field.input_value():
            yield f"in {kind}, keys are not typed: {field.input_value()}"
    page.evaluate("__keys.loose(false)")


def _in_rows(page: Page) -> Iterator[str]:
    """j goes from each row to the next, k back, and both stay where no row follows."""
    steps = min(page.evaluate("__keys.rows"), MOST_ROWS)
    if not steps:
        return
    down = [("j", row) for row in range(steps)]
    up = [("k", row) for row in (*range(steps - 2, -1, -1), 0)]
    for key, row in (*down, *up):
        page.keyboard.press(key)
        if (reached := page.evaluate("__keys.row()")) != row:
            yield f"{key} leads to row {reached}, not {row}"
            break
    yield from page.evaluate("__keys.walked()")
