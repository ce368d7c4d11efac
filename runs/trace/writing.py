"""Writing sections as one JSON document, row by row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from uuid import UUID

from audit import canonical, hidden
from runs.story import Section

SINGLE = frozenset({"state"})
"""Sections that are one row, or null."""


def document(head: Mapping[str, object], sections: Iterable[Section]) -> Iterator[str]:
    """The text in pieces: one object with the members of `head`, then one for each section."""
    yield "{"
    for number, (name, value) in enumerate(head.items()):
        yield f"{',' if number else ''}\n{_member(name)}{dump(value)}"
    for section in sections:
        yield f",\n{_member(section.name)}"
        yield from _section(section)
    yield "\n}\n"


def _section(section: Section) -> Iterator[str]:
    if section.left_out:
        yield "null"
        return
    if section.name in SINGLE:
        yield dump(next(iter(section.rows), None))
        return
    yield "["
    for number, row in enumerate(section.rows):
        yield f"{',' if number else ''}\n{dump(row)}"
    yield "]"


def _member(name: str) -> str:
    return f"{json.dumps(name)}: "


def dump(value: object) -> str:
    """One value on one line. Moments are ISO 8601 in UTC; characters that draw nothing are escapes.

    What is nested too deep even for a file is cut there, and says so.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, default=_plain)
    except RecursionError:
        text = json.dumps(canonical.visible(value), ensure_ascii=False)
    return hidden.escaped(text)


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no value of an export")
