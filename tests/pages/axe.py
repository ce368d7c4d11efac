"""axe-core, asked about a page as it stands."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def faults(page: Page, rules: tuple[str, ...] = (), within: str = "html") -> list[str]:
    """What axe finds there by these rules; none given: by all."""
    options: dict[str, Any] = {
        "resultTypes": ["violations"],
        "preload": False,
        "iframes": False,
        "selectors": False,
    }
    if rules:
        options["runOnly"] = {"type": "rule", "values": list(rules)}
    else:
        options["runOnly"] = {"type": "tag", "values": TAGS}
        options["rules"] = {"target-size": {"enabled": True}}
    if not page.evaluate("typeof axe !== 'undefined'"):
        page.evaluate(Axe().axe_script)
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")  # nothing is under what sticks
    found = page.evaluate("([within, options]) => axe.run(within, options)", [within, options])
    return [
        f"{rule['id']}: {rule['help']}: {node['html'][:160]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
