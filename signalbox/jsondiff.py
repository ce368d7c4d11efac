"""What changed between two JSON values, as rows by path."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from signalbox.jsontree import compact
from signalbox.visible import visible

MOST_ROWS = 200
LONG_VALUE = 300
LONGEST_COMPARED = 4_000
"""Characters up to which two texts are compared word by word; comparing takes their product."""
LONGEST_LIST = 400
"""Items up to which two lists are aligned; longer ones are compared item by item."""

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One difference. `kind` is the class of the row, `value` is HTML."""

    kind: Literal["add", "del", "mod"]
    path: SafeString
    value: SafeString

    @property
    def sign(self) -> str:
        return {"add": "+", "del": "\N{MINUS SIGN}", "mod": "~"}[self.kind]

    @property
    def word(self) -> str:
        return {"add": "added", "del": "removed", "mod": "changed"}[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """All rows up to the cap, how many are beyond it, and how many values stayed as they were."""

    rows: list[Row]
    hidden: int
    unchanged: int


@dataclass(frozen=True, slots=True)
class _Same:
    """Leaves that did not change."""

    count: int


def compare(before: object, after: object) -> Difference:
    """Compare two values that JSON can hold. 1 and 1.0 and true are three different values."""
    rows: list[Row] = []
    hidden = unchanged = 0
    for found in _walk("", before, after):
        if isinstance(found, _Same):
            unchanged += found.count
        elif len(rows) < MOST_ROWS:
            rows.append(found)
        else:
            hidden += 1
    return Difference(rows=rows, hidden=hidden, unchanged=unchanged)


def _walk(path: str, before: object, after: object) -> Iterator[Row | _Same]:
    if compact(before) == compact(after):
        yield _Same(_leaves(before))
    elif isinstance(before, dict) and isinstance(after, dict):
        yield from _walk_dict(path, before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _walk_list(path, before, after)
    else:
        yield Row(kind="mod", path=_shown(path), value=_change(before, after))


def _walk_dict(
    path: str, before: dict[str, object], after: dict[str, object]
) -> Iterator[Row | _Same]:
    for key in dict.fromkeys([*before, *after]):
        inner = f"{path}.{key}" if path else str(key)
        if key not in after:
            yield _gone(inner, before[key])
        elif key not in before:
            yield _new(inner, after[key])
        else:
            yield from _walk(inner, before[key], after[key])


def _walk_list(path: str, before: list[object], after: list[object]) -> Iterator[Row | _Same]:
    for start, end, new_start, new_end in _aligned(before, after):
        both = min(end - start, new_end - new_start)
        for step in range(both):
            yield from _walk(
                f"{path}[{new_start + step}]", before[start + step], after[new_start + step]
            )
        for index in range(start + both, end):
            yield _gone(f"{path}[{index}]", before[index])
        for index in range(new_start + both, new_end):
            yield _new(f"{path}[{index}]", after[index])


def _aligned(before: list[object], after: list[object]) -> list[tuple[int, int, int, int]]:
    if max(len(before), len(after)) > LONGEST_LIST:
        return [(0, len(before), 0, len(after))]
    matcher = difflib.SequenceMatcher(
        None, [compact(item) for item in before], [compact(item) for item in after], autojunk=False
    )
    return [codes[1:] for codes in matcher.get_opcodes()]


def _leaves(value: object) -> int:
    if isinstance(value, dict) and value:
        return sum(_leaves(item) for item in value.values())
    if isinstance(value, list) and value:
        return sum(_leaves(item) for item in value)
    return 1


def _gone(path: str, value: object) -> Row:
    return Row(kind="del", path=_shown(path), value=_cut(value))


def _new(path: str, value: object) -> Row:
    return Row(kind="add", path=_shown(path), value=_cut(value))


def _shown(path: str) -> SafeString:
    return visible(path or "(all)")


def _cut(value: object) -> SafeString:
    text = compact(value)
    return visible(text if len(text) <= LONG_VALUE else f"{text[:LONG_VALUE]}…")


def _change(before: object, after: object) -> SafeString:
    comparable = (
        isinstance(before, str)
        and isinstance(after, str)
        and len(before) + len(after) <= LONGEST_COMPARED
    )
    if comparable:
        return _by_words(str(before), str(after))
    return format_html("<del>{}</del> → <ins>{}</ins>", _cut(before), _cut(after))


def _by_words(before: str, after: str) -> SafeString:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < 0.3:  # two texts, not one with changes
        return format_html("<del>{}</del> → <ins>{}</ins>", _cut(before), _cut(after))
    pieces: list[tuple[SafeString]] = []
    for kind, start, end, new_start, new_end in matcher.get_opcodes():
        if kind == "equal":
            pieces.append((visible("".join(old[start:end])),))
            continue
        if end > start:
            pieces.append((format_html("<del>{}</del>", visible("".join(old[start:end]))),))
        if new_end > new_start:
            pieces.append((format_html("<ins>{}</ins>", visible("".join(new[new_start:new_end]))),))
    return format_html('"{}"', format_html_join("", "{}", pieces))
