"""A misspelt attribute of htmx does nothing, silently: only known ones may stand in templates."""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings

KNOWN = {
    "hx-ext",
    "hx-get",
    "hx-headers",
    "hx-history",
    "hx-swap",
    "hx-swap-oob",
    "hx-sync",
    "hx-target",
    "hx-trigger",
}


def used() -> dict[str, Path]:
    found = {}
    for path in Path(settings.BASE_DIR, "templates").rglob("*.html"):
        for name in re.findall(r"[\s\"'](?:data-)?(hx-[\w:-]+)=", path.read_text()):
            found[name] = path
    return found


def test_templates_use_known_attributes_of_htmx_only() -> None:
    unknown = {name: path for name, path in used().items() if name not in KNOWN}
    assert not unknown
    assert "hx-swap-oob" in used()


def test_a_decision_is_a_plain_form() -> None:
    """Nothing but pressing a button sends it, and without a script it works the same."""
    form = Path(settings.BASE_DIR, "templates/approvals/_decide.html").read_text()
    assert 'method="post"' in form
    assert "hx-" not in form
