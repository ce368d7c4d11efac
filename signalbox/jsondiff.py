"""What changed between two JSON values, as rows by path.

A page compares what strangers wrote, so the work is bounded, whatever it is given: by the size of
both values, by the rows that are drawn, and by the pairs of items and words that are compared.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from signalbox.jsontree import compact
from signalbox.visible import visible

MOST_ROWS = 200
LONG_VALUE = 300
LARGEST = 4_000_000
"""Characters of both values as JSON beyond which they are not compared."""
LONGEST_COMPARED = 4_000
"""Characters up to which two texts are compared word by word."""
LONGEST_LIST = 400
"""Items up to which two lists are aligned; longer ones are compared item by item."""
MOST_PAIRS = 4_000_000
"""Pairs of items or words that are compared to align all lists and texts: about a second. What is
left then is compared item by item, and texts as a whole."""

LIKE = 0.3
"""Two texts that have a smaller part of their words in common are two texts, not one changed."""

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
        return {"add": _("added"), "del": _("removed"), "mod": _("changed")}[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """All rows up to the cap, how many are beyond it, and how many values stayed as they were."""

    rows: list[Row]
    hidden: int
    unchanged: int
    too_big: int = 0
    """Characters of JSON that were too many to be compared."""


@dataclass(frozen=True, slots=True)
class _Same:
    """Leaves that did not change."""

    count: int


@dataclass(frozen=True, slots=True)
class _Change:
    """One difference before it is drawn."""

    kind: Literal["add", "del", "mod"]
    path: str
    before: object = None
    after: object = None


_Step: TypeAlias = tuple[str, int, int, int, int]
"""As difflib's opcodes."""


def compare(before: object, after: object) -> Difference:
    """Compare two values that JSON can hold. 1 and 1.0 and true are three different values."""
    size = len(compact(before)) + len(compact(after))
    if size > LARGEST:
        return Difference(rows=[], hidden=0, unchanged=0, too_big=size)
    work = _Work(MOST_PAIRS)
    rows: list[Row] = []
    hidden = unchanged = 0
    for found in work.walk("", before, after):
        if isinstance(found, _Same):
            unchanged += found.count
        elif len(rows) < MOST_ROWS:
            rows.append(work.row(found))
        else:
            hidden += 1
    return Difference(rows=rows, hidden=hidden, unchanged=unchanged)


@dataclass(slots=True)
class _Work:
    """One comparison, and how many pairs it may still compare."""

    left: int

    def walk(self, path: str, before: object, after: object) -> Iterator[_Change | _Same]:
        if _equal(before, after):
            yield _Same(_leaves(before))
        elif isinstance(before, dict) and isinstance(after, dict):
            yield from self._walk_dict(path, before, after)
        elif isinstance(before, list) and isinstance(after, list):
            yield from self._walk_list(path, before, after)
        else:
            yield _Change("mod", path, before, after)

    def _walk_dict(
        self, path: str, before: dict[str, object], after: dict[str, object]
    ) -> Iterator[_Change | _Same]:
        for key in dict.fromkeys([*before, *after]):
            inner = f"{path}.{key}" if path else str(key)
            if key not in after:
                yield _Change("del", inner, before=before[key])
            elif key not in before:
                yield _Change("add", inner, after=after[key])
            else:
                yield from self.walk(inner, before[key], after[key])

    def _walk_list(
        self, path: str, before: list[object], after: list[object]
    ) -> Iterator[_Change | _Same]:
        for _kind, start, end, new_start, new_end in self._aligned(before, after):
            both = min(end - start, new_end - new_start)
            for step in range(both):
                inner = f"{path}[{new_start + step}]"
                yield from self.walk(inner, before[start + step], after[new_start + step])
            for index in range(start + both, end):
                yield _Change("del", f"{path}[{index}]", before=before[index])
            for index in range(new_start + both, new_end):
                yield _Change("add", f"{path}[{index}]", after=after[index])

    def _aligned(self, before: list[object], after: list[object]) -> list[_Step]:
        steps = None
        if max(len(before), len(after)) <= LONGEST_LIST:
            steps = self._steps([compact(item) for item in before], [compact(i) for i in after])
        return steps or [("replace", 0, len(before), 0, len(after))]

    def _steps(self, old: Sequence[str], new: Sequence[str]) -> list[_Step] | None:
        """How `old` becomes `new`; None if that takes more than is left."""
        shorter = min(len(old), len(new))
        start = end = 0
        while start < shorter and old[start] == new[start]:
            start += 1
        while end < shorter - start and old[-1 - end] == new[-1 - end]:
            end += 1
        old_end, new_end = len(old) - end, len(new) - end
        pairs = (old_end - start) * (new_end - start)
        if pairs > self.left:
            return None
        self.left -= pairs
        matcher = difflib.SequenceMatcher(
            None, old[start:old_end], new[start:new_end], autojunk=False
        )
        steps: list[_Step] = [("equal", 0, start, 0, start)]
        for kind, a, b, c, d in matcher.get_opcodes():
            steps.append((kind, start + a, start + b, start + c, start + d))
        steps.append(("equal", old_end, len(old), new_end, len(new)))
        return steps

    # --- drawing ------------------------------------------------------------------------------

    def row(self, change: _Change) -> Row:
        if change.kind == "mod":
            value = self._changed(change.before, change.after)
        else:
            value = _cut(change.before if change.kind == "del" else change.after)
        return Row(kind=change.kind, path=visible(change.path or "(all)"), value=value)

    def _changed(self, before: object, after: object) -> SafeString:
        if (
            isinstance(before, str)
            and isinstance(after, str)
            and len(before) + len(after) <= LONGEST_COMPARED
        ):
            by_words = self._by_words(before, after)
            if by_words is not None:
                return by_words
        return format_html("<del>{}</del> → <ins>{}</ins>", _cut(before), _cut(after))

    def _by_words(self, before: str, after: str) -> SafeString | None:
        """The text with the words that changed; None for two texts with little in common."""
        old, new = _WORDS.findall(before), _WORDS.findall(after)
        steps = self._steps(old, new) or []
        kept = sum(end - start for kind, start, end, _new, _to in steps if kind == "equal")
        if 2 * kept < LIKE * (len(old) + len(new)):
            return None
        pieces: list[tuple[SafeString]] = []
        for kind, start, end, new_start, new_end in steps:
            if kind == "equal":
                pieces.append((visible("".join(old[start:end])),))
                continue
            if end > start:
                pieces.append((format_html("<del>{}</del>", visible("".join(old[start:end]))),))
            if new_end > new_start:
                inserted = visible("".join(new[new_start:new_end]))
                pieces.append((format_html("<ins>{}</ins>", inserted),))
        return format_html('"{}"', format_html_join("", "{}", pieces))


def _equal(before: object, after: object) -> bool:
    if type(before) is type(after) and isinstance(before, str | int):
        return before == after
    return compact(before) == compact(after)


def _leaves(value: object) -> int:
    if isinstance(value, dict) and value:
        return sum(_leaves(item) for item in value.values())
    if isinstance(value, list) and value:
        return sum(_leaves(item) for item in value)
    return 1


def _cut(value: object) -> SafeString:
    text = compact(value)
    return visible(text if len(text) <= LONG_VALUE else f"{text[:LONG_VALUE]}…")
