"""Hiding values of people and secrets in what pages show.

1. A value is hidden for the name of its field: RUNS_HIDDEN_KEYS, matched by whole words, so that
   `customer_email` and `cardNumber` are hidden and `discard` is not.
2. So is, whatever its field is called, an e-mail address or the number of a payment card, if
   RUNS_HIDDEN_KEYS has `email` or `card`. Inside of a longer text it alone is replaced.
3. What is hidden is replaced as a whole by "hidden (email)"; empty values say nothing and stay.
4. A `Cloak` hides besides what the layers above keep from one reader of one run: by the end of a
   value's path, wherever that stands, and by what it is, under whatever name and inside of texts.
5. Searches find by what is shown: `runs_shown` says the same in the database (migration 0012).
6. Pages hide by default. Who has `runs.view_payload` may look behind, and that is audited.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from django.conf import settings

_EMAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_CARD = re.compile(r"(?<![\w.-])[3-6](?:[ -]?[0-9]){12,18}(?![\w-])", re.ASCII)
"""Payment cards have 13 to 19 digits, the first of them 3 to 6 (ISO/IEC 7812)."""
SLICE = 50
"""Levels of nesting between two breaths."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """A value as it may be shown, and how many of its parts are hidden."""

    value: object
    hidden: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloak:
    """What is hidden from one reader of one run besides."""

    word: str = "policy"
    paths: frozenset[tuple[str, ...]] = frozenset()
    """A value is hidden if its path ends like one of these."""
    texts: frozenset[str] = frozenset()
    """Hidden wherever they occur."""
    numbers: frozenset[int | float] = frozenset()


BARE = Cloak()
"""Hides nothing besides."""


def mask(value: object, cloak: Cloak = BARE) -> Masked:
    """`value` (plain JSON) with what is sensitive replaced; the original is left as it is."""
    masker = _Masker(cloak)
    return Masked(value=masker.whole(value, ()), hidden=masker.hidden)


def arguments(args: object, hide: Callable[[object], object]) -> object:
    """The arguments of an effect through `hide`, as the field `args` that a policy names."""
    shown = hide({"args": args})
    return shown["args"] if isinstance(shown, dict) else shown


def hides(key: str) -> str:
    """The entry of RUNS_HIDDEN_KEYS for which a field called `key` is hidden; empty: shown."""
    words = [word.lower() for word in _WORD.findall(key)]
    for length in (1, 2):
        for start in range(len(words) - length + 1):
            found = "_".join(words[start : start + length])
            if found in settings.RUNS_HIDDEN_KEYS:
                return found
    return ""


def _is_card(text: str) -> bool:
    """Whether the last digit checks the others, as on payment cards (the Luhn algorithm)."""
    digits = [int(character) for character in text if character.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[::-2]) + sum(doubled)) % 10 == 0


class _Masker:
    """One walk through one value. Each SLICE levels it comes up for air: a value may be nested
    deeper than the call stack of Python goes."""

    def __init__(self, cloak: Cloak) -> None:
        self.hidden = 0
        self.later: list[Callable[[], object]] = []
        self.cloak = cloak
        # The longest first: one text may be part of another.
        self.texts = sorted(cloak.texts, key=len, reverse=True)

    def whole(self, value: object, path: tuple[str, ...]) -> object:
        before, self.later = self.later, []
        shown = self.of(value, path)
        while self.later:
            self.later.pop()()
        self.later = before
        return shown

    def of(self, value: object, path: tuple[str, ...]) -> object:
        if isinstance(value, dict):
            fields: dict[object, object] = {}
            self._fill(partial(fields.update, self._fields(value, path)), path)
            return fields
        if isinstance(value, list | tuple):
            items: list[object] = []
            self._fill(partial(items.extend, self._items(value, path)), path)
            return items
        if isinstance(value, str):
            return self._json(value, path) or self._text(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self._number(value)
        return value

    def _fill(self, fill: Callable[[], object], path: tuple[str, ...]) -> None:
        if path and len(path) % SLICE == 0:
            self.later.append(fill)
        else:
            fill()

    def _items(
        self, value: list[object] | tuple[object, ...], path: tuple[str, ...]
    ) -> Iterator[object]:
        for place, item in enumerate(value):
            yield self._item(item, (*path, str(place)))

    def _number(self, value: float) -> object:
        if value in self.cloak.numbers:
            return self._instead(self.cloak.word)
        shown = self._text(str(value)) if isinstance(value, int) else str(value)
        return value if shown == str(value) else shown

    def _json(self, text: str, path: tuple[str, ...]) -> str:
        """A text that is JSON, such as the arguments of a model's tool call; empty if it is none
        or holds nothing to hide. Only paths make it worth reading."""
        if not self.cloak.paths or text[:1] not in ("{", "["):
            return ""
        try:
            read = json.loads(text)
        except (ValueError, RecursionError):
            return ""
        shown = self.whole(read, path)
        return "" if shown == read else json.dumps(shown, ensure_ascii=False)

    def _text(self, text: str) -> str:
        for hidden in self.texts:
            if hidden in text:
                text = text.replace(hidden, self._instead(self.cloak.word))
        if "email" in settings.RUNS_HIDDEN_KEYS and "@" in text:
            text = _EMAIL.sub(lambda _: self._instead("email"), text)
        if "card" in settings.RUNS_HIDDEN_KEYS:
            text = _CARD.sub(
                lambda found: self._instead("card") if _is_card(found[0]) else found[0], text
            )
        return text

    def _instead(self, word: str) -> str:
        self.hidden += 1
        return f"hidden ({word})"

    def _cloaked(self, path: tuple[str, ...]) -> bool:
        return any(path[-len(each) :] == each for each in self.cloak.paths)

    def _item(self, held: object, path: tuple[str, ...]) -> object:
        if held not in (None, "", [], {}) and self._cloaked(path):
            return self._instead(self.cloak.word)
        return self.of(held, path)

    def _fields(
        self, value: dict[object, object], path: tuple[str, ...]
    ) -> Iterator[tuple[object, object]]:
        for key, held in value.items():
            here = (*path, str(key))
            word = hides(key) if isinstance(key, str) else ""
            if word and held not in (None, "", [], {}) and not isinstance(held, bool):
                yield key, self._instead(word)
            else:
                yield key, self._item(held, here)
