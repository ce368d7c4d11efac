"""Hiding values of people and secrets in what pages show.

1. A value is hidden for the name of its field: RUNS_HIDDEN_KEYS, matched by whole words, so that
   `customer_email` and `cardNumber` are hidden and `discard` is not.
2. What is hidden is replaced as a whole by "hidden (email)"; empty values say nothing and stay.
3. Pages hide by default. Who has `runs.view_payload` may look behind, and that is audited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A value as it may be shown, and how many of its parts are hidden."""

    value: object
    hidden: int


def mask(value: object) -> Masked:
    """`value` (plain JSON) with what is sensitive replaced; the original is left as it is."""
    masker = _Masker()
    return Masked(value=masker.of(value), hidden=masker.hidden)


def hides(key: str) -> str:
    """The entry of RUNS_HIDDEN_KEYS for which a field called `key` is hidden; empty: shown."""
    words = [word.lower() for word in _WORD.findall(key)]
    for length in (1, 2):
        for start in range(len(words) - length + 1):
            found = "_".join(words[start : start + length])
            if found in settings.RUNS_HIDDEN_KEYS:
                return found
    return ""


class _Masker:
    """One walk through one value."""

    def __init__(self) -> None:
        self.hidden = 0

    def of(self, value: object) -> object:
        if isinstance(value, dict):
            return dict(self._fields(value))
        if isinstance(value, list | tuple):
            return [self.of(item) for item in value]
        return value

    def _fields(self, value: dict[object, object]) -> Iterator[tuple[object, object]]:
        for key, held in value.items():
            word = hides(key) if isinstance(key, str) else ""
            if word and held not in (None, "", [], {}) and not isinstance(held, bool):
                self.hidden += 1
                yield key, f"hidden ({word})"
            else:
                yield key, self.of(held)
