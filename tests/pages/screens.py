"""The screens that a page must be fit for."""

from __future__ import annotations

from collections.abc import Iterator

from playwright.sync_api import Page

from tests.pages.conftest import WIDTHS

NARROWEST = 320
"""Pixels: a phone's page enlarged as far as WCAG 1.4.10 asks."""
ENLARGED = 640
"""Pixels: a desk's page at twice its size, as WCAG 1.4.4 asks."""
SETTLED = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const drawn = async () => { await frame(); await frame(); };
  await drawn();
  while (document.getAnimations().length) {
    await Promise.allSettled(document.getAnimations().map(({ finished }) => finished));
    await drawn();
  }
}"""
"""Colours that still change from one theme to the other have the contrast of neither."""


def everywhere(page: Page) -> Iterator[str]:
    """Show the page on a screen of each width, in both themes; yields which it is.

    A tablet is not looked at in the dark: it has the colours of the one or the other of its
    neighbours.
    """
    for name, width in WIDTHS.items():
        resize(page, width)
        for theme in ("light", "dark") if name != "tablet" else ("light",):
            page.emulate_media(color_scheme=theme)
            page.evaluate(SETTLED)
            yield f"{width} {theme}"


def resize(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
