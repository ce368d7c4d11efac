"""The log tells of everything that the table of verbs promises, and the documentation says so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings

from audit.verbs import VERBS

APPS = ("signalbox", "approvals", "ledger", "runs", "audit", "accounts")
TABLE = settings.BASE_DIR / "audit" / "verbs.py"
NOT_RECORDING = ("signalbox/drills/", "signalbox/seed/", "/migrations/")
"""Code that reads verbs, or that makes entries up."""


@cache
def written() -> tuple[str, ...]:
    """Every text in our sources, as a regular expression; what is filled in may be anything."""
    return tuple(text for path in sources() for text in texts(ast.parse(path.read_text())))


def sources() -> Iterator[Path]:
    for app in APPS:
        for path in (settings.BASE_DIR / app).rglob("*.py"):
            if path != TABLE and not any(part in str(path) for part in NOT_RECORDING):
                yield path


def texts(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.escape(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = (
                re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[a-z_]+"
                for part in node.values
            )
            yield "".join(parts)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_recorded_somewhere(verb):
    assert any(re.fullmatch(text, verb) for text in written() if "." in text)


def test_nothing_is_recorded_that_the_table_does_not_know():
    """`record` refuses unknown verbs when it runs; this finds them before."""
    unknown = set()
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and _records(node.func) and node.args:
                first = node.args[0]
                if isinstance(first, ast.Constant) and first.value not in VERBS:
                    unknown.add(first.value)
    assert not unknown


def _records(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else ""
    whose = function.value.id if isinstance(getattr(function, "value", None), ast.Name) else ""  # type: ignore[attr-defined]
    return (whose, name) in {("trail", "record"), ("trail", "record_refused"), ("rows", "tell")}


def test_the_documentation_lists_every_verb_with_its_sentence():
    page = (settings.BASE_DIR / "docs" / "audit.md").read_text()
    table = page.partition("## What is recorded")[2]
    listed = dict(re.findall(r"^\| `([a-z]+\.[a-z_]+)` \| (.+?) \|$", table, re.MULTILINE))
    assert listed == {name: verb.sentence for name, verb in VERBS.items()}
