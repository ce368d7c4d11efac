"""Every text that may be translated, as it stands in the code and in the templates."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from django.conf import settings
from django.utils.translation.template import templatize

APPS = ("accounts", "agents", "approvals", "audit", "ledger", "runs", "signalbox")
ELSEWHERE = {"demo", "drills", "embedded", "management", "migrations", "seed"}
"""Folders whose words are read on the command line, which is English."""
CALLS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    **dict.fromkeys(("_", "noop", "later", "gettext", "gettext_lazy", "gettext_noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), ((1, "c"), 2)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), ((1, "c"), 2, 3)),
}
"""Functions whose arguments are texts: which of them, and which is the context."""
WITH_ERRORS = ("errors.py", "refusals.py", "stop.py")
"""Files whose classes say in their docstrings what people read."""
TAGS = ("Translators:",)
"""Comments that begin so are for translators."""


def catalog() -> Catalog:
    """All of it, without translations."""
    found = Catalog(project="Signalbox", charset="utf-8", fuzzy=False)
    for path in sorted(files()):
        for text, comments, context in _texts(path):
            found.add(text, auto_comments=comments, context=context)
    return found


def files() -> Iterator[Path]:
    """Where texts are looked for."""
    yield from (settings.BASE_DIR / "templates").rglob("*.*")
    for app in APPS:
        for path in (settings.BASE_DIR / app).rglob("*.py"):
            if not ELSEWHERE & set(path.parts):
                yield path


def _texts(path: Path) -> Iterator[tuple[str | tuple[str, ...], list[str], str | None]]:
    source = path.read_text(encoding="utf-8")
    code = source if path.suffix == ".py" else _as_code(source)
    for _line, text, comments, context in extract(
        "python",
        BytesIO(code.encode()),
        CALLS,
        TAGS,
        {"encoding": "utf-8"},
        strip_comment_tags=True,
    ):
        yield text, comments, context
    if path.name in WITH_ERRORS:
        yield from ((text, [], None) for text in _docstrings(source))


def _as_code(template: str) -> str:
    """The texts of a template as calls, each line from the margin: the rest of it is no Python."""
    return "\n".join(line.strip() for line in templatize(template).splitlines())


def _docstrings(source: str) -> Iterator[str]:
    """What errors say: the docstrings of classes, each on one line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and (text := ast.get_docstring(node)):
            yield " ".join(text.split())
