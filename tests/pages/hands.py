"""Hands of a person at a page: with a mouse, or with the keyboard alone.

Both find what they use by its role and its name, as a screen reader tells them. What has no name,
or one that it shares with something else in its group, cannot be found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page

from tests.support.replies import Step

MOST_TABS = 80


def find(page: Page, step: Step) -> Locator:
    """What the step is about."""
    around: Page | Locator = page.get_by_role("main")
    for name in step.within:
        region = around.get_by_role("region", name=name, exact=True)
        around = region.or_(around.get_by_role("group", name=_named(name)))
    if step.does == "unfold":  # a summary has no role of its own in Playwright
        return around.locator("summary").filter(has_text=_named(step.name))
    if step.does == "press":
        return around.get_by_role("button", name=step.name, exact=True)
    if step.does == "pick":
        return around.get_by_role("combobox", name=_named(step.name))
    if step.does == "fill":
        return around.get_by_role("textbox", name=_named(step.name))
    radio = around.get_by_role("radio", name=step.name, exact=True)
    return radio.or_(around.get_by_role("checkbox", name=step.name, exact=True))


def _named(name: str) -> re.Pattern[str]:
    """Besides its name, a control says whether it may be left out."""
    return re.compile(rf"^\s*{re.escape(name)}(\s+(optional|required)\b.*)?\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mouse:
    page: Page

    def do(self, step: Step) -> None:
        found = find(self.page, step)
        match step.does:
            case "fill":
                found.fill(step.text)
            case "pick":
                found.select_option(label=step.text)
            case "choose":
                found.check()
            case _:
                found.click()


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyboard:
    page: Page

    def do(self, step: Step) -> None:
        found = find(self.page, step)
        keys = self.page.keyboard
        match step.does:
            case "fill":
                self._reach(found)
                keys.press("Control+A")
                keys.type(step.text)
            case "pick":
                self._reach(found)
                keys.type(step.text)
            case "choose":
                self._choose(found)
            case _:
                self._reach(found)
                keys.press("Enter")

    def _reach(self, found: Locator, here: str = "element === document.activeElement") -> None:
        for _ in range(MOST_TABS):
            if found.evaluate(f"element => {here}"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"not reached with the Tab key: {found}")

    def _choose(self, found: Locator) -> None:
        """Tab leads into a group of radio buttons, arrows from one to the next."""
        self._reach(found, "element.name === document.activeElement.name")
        for _ in range(MOST_TABS):
            if found.evaluate("element => element === document.activeElement"):
                break
            self.page.keyboard.press("ArrowDown")
        if not found.is_checked():
            self.page.keyboard.press("Space")
