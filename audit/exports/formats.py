"""Rows as JSON Lines and as CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from audit import canonical, hidden

JSON_LINES = "jsonl"
CSV = "csv"

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", *"\uff1d\uff0b\uff0d\uff20")
"""What makes a spreadsheet take a text for a formula (OWASP, "CSV Injection"); the last
four are the wide forms of the first."""

Row = Mapping[str, object]

_ENCODER = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
)


class Write(Protocol):
    """One way to write rows."""

    def __call__(self, rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
        """The file in pieces: one for each row, and one for the header if there is one."""


def json_lines(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    """One JSON object a line, with these members and no others."""
    for row in rows:
        yield _json({name: row.get(name) for name in columns}) + b"\n"


def comma_separated(rows: Iterable[Row], columns: Sequence[str]) -> Iterator[bytes]:
    r"""RFC 4180, UTF-8, a header first. What is no plain value is JSON in its cell.

    Hidden characters are spelled out as `\u{202E}`, and a text that a spreadsheet would take for a
    formula has a `'` before it: who needs the very bytes takes JSON Lines.
    """
    line = _Line()
    writer = csv.writer(line)
    writer.writerow(columns)
    yield line.taken()
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in columns])
        yield line.taken()


FORMATS: Mapping[str, Write] = MappingProxyType({JSON_LINES: json_lines, CSV: comma_separated})


class _Line:
    """What csv writes into: keeps the one line until it is taken."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def taken(self) -> bytes:
        text, self.text = self.text, ""
        return text.encode()


def _json(value: object) -> bytes:
    try:
        written = hidden.escaped(_ENCODER.encode(value))
    except (TypeError, ValueError, RecursionError):  # times, ids, NaN: shown as the log shows them
        written = hidden.escaped(_ENCODER.encode(canonical.visible(value)))
    return written.encode()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    shown = value if isinstance(value, str) else canonical.visible(value)
    text = shown if isinstance(shown, str) else _ENCODER.encode(shown)
    harmless = f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text
    return hidden.spelled(harmless)
