"""Whatever a graph hands over, as JSON that can be stored and read: it never refuses."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterable, Mapping, Set
from functools import partial

import rfc8785

from audit.canonical import parts
from audit.canonical.parts import text
from audit.canonical.strict import DEPTH, SAFE_INTEGER, Json

LONGEST_REPR = 2000


def visible(value: object, *, depth: int = DEPTH) -> Json:
    """`value` as plain JSON that jsonb stores and returns unchanged and `digest` accepts.

    Never raises. Numbers that JSON readers do not agree on become text; dataclasses and models
    become objects of their fields, sets sorted arrays, bytes `0x...`; unknown objects their `repr`,
    cut at 2000 characters. A cycle, and what lies deeper than `depth` levels or is too much, is
    named in its place.
    """
    walk = _Shown(depth)
    shown = walk.of(value, ())
    while walk.later:
        walk.later.pop()()
    return shown


class _Shown:
    """One walk through one value. Each DEPTH levels it comes up for air: the call stack of Python
    is no measure of how deep a value may be.
    """

    def __init__(self, depth: int = DEPTH) -> None:
        self.left = parts.VALUES
        self.depth = depth
        self.later: list[Callable[[], None]] = []

    def of(self, value: object, above: tuple[int, ...]) -> Json:
        try:
            return self._of(value, above)
        except Exception:  # user code runs here: properties, iterators, __repr__
            return _repr(value)

    def _of(self, value: object, above: tuple[int, ...]) -> Json:
        self.left -= 1
        if self.left < 0:
            return "… (too many values to show)"
        plain = _plain(value)
        if plain is not _NOT_PLAIN:
            return plain  # type: ignore[return-value]  # the sentinel is ruled out
        if id(value) in above:
            return "… (contains itself)"
        if len(above) >= self.depth:
            return "… (nested too deep to show)"
        up_for_air = len(above) % DEPTH == DEPTH - 1 and len(above) + 1 < self.depth
        above = (*above, id(value))
        fields = parts.fields(value)
        if fields is not None:
            value = fields
        if isinstance(value, Mapping):
            made: dict[str, Json] = {}
            fill = partial(self._put_fields, made, value.items(), above)
            self.later.append(fill) if up_for_air else fill()
            return made
        if isinstance(value, (list, tuple)):
            items: list[Json] = []
            extend = partial(self._put_items, items, value, above)
            self.later.append(extend) if up_for_air else extend()
            return items
        if isinstance(value, Set):
            return sorted((self.of(item, above) for item in value), key=rfc8785.dumps)
        return _repr(value)

    def _put_items(
        self, shown: list[Json], items: Iterable[object], above: tuple[int, ...]
    ) -> None:
        for item in items:
            shown.append(self.of(item, above))  # noqa: PERF401 (one frame less per level)

    def _put_fields(
        self,
        shown: dict[str, Json],
        items: Iterable[tuple[object, object]],
        above: tuple[int, ...],
    ) -> None:
        for key, item in items:
            if self.left < 0:
                shown["…"] = "(too many values to show)"
                break
            name = text(key) if isinstance(key, str) else _key(self.of(key, above))
            while name in shown:
                name += "*"
            shown[name] = self.of(item, above)


_NOT_PLAIN = object()


def _plain(value: object) -> object:
    """JSON for a value without parts, or `_NOT_PLAIN`."""
    if isinstance(value, enum.Enum):
        return _plain(value.value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return text(value)
    if isinstance(value, int):
        return int(value) if abs(value) <= SAFE_INTEGER else _big(int(value))
    if isinstance(value, float):
        return _number(float(value))
    written = parts.written(value)
    return _NOT_PLAIN if written is None else _cut(written)


def _number(value: float) -> Json:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    # jsonb stores decimals: a float beyond 2**53 comes back as an integer without canonical form.
    return value if abs(value) <= SAFE_INTEGER else repr(value)


def _big(value: int) -> str:
    try:
        return str(value)
    except ValueError:  # Python refuses to write out integers of more than 4300 digits
        return _cut(hex(value))


def _key(shown: Json) -> str:
    return shown if isinstance(shown, str) else rfc8785.dumps(shown).decode()


def _repr(value: object) -> str:
    try:
        return text(_cut(repr(value)))
    except Exception:  # a broken __repr__ must not hide the rest
        return f"<{type(value).__name__} that cannot be shown>"


def _cut(shown: str) -> str:
    return shown if len(shown) <= LONGEST_REPR else shown[:LONGEST_REPR] + "…"
