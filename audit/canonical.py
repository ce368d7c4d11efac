"""One text for one value: canonical JSON, digests of it, and a form that can be stored and read.

1. `dumps` and `digest` are strict: RFC 8785 or `NotCanonical`, which says where and what to do.
2. `visible` never refuses: whatever a graph hands over becomes JSON that PostgreSQL's jsonb stores
   and gives back unchanged, so that the digest of what was written is the digest of what is read.
3. `fingerprint` tells any two values apart that a reader could take for different ones.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import math
import re
import types
import uuid
from collections.abc import Callable, Iterable, Mapping, Set
from datetime import date, time, timedelta
from decimal import Decimal
from functools import partial
from typing import TypeAlias

import rfc8785

from audit.errors import NotCanonical

__all__ = ["Json", "NotCanonical", "digest", "dumps", "fingerprint", "matches", "text", "visible"]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

SAFE_INTEGER = 2**53 - 1
"""The largest integer that every reader of JSON understands the same."""
DEPTH = 100
"""Levels of nesting that are shown and compared, unless somebody asks for more."""
VALUES = 500_000
"""Values in one tree that are shown and compared: a bound on work, not on honest payloads."""
LONGEST_REPR = 2000

_FAST = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def dumps(value: object) -> bytes:
    """The RFC 8785 text of plain JSON values. Tuples count as arrays, 1.0 is written as 1.

    Raises NotCanonical for everything that JSON readers do not agree on: NaN, Infinity, integers
    beyond 2**53 - 1, lone surrogates, keys that are no text, and any other type. Callers convert.
    """
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]  # refuses other types itself
    except (ValueError, RecursionError) as error:
        _locate(value, "$", DEPTH)
        raise NotCanonical("$", f"{error}; pass it as text") from error


def digest(value: object) -> str:
    """Hex SHA-256 of `dumps(value)`; raises what that raises."""
    return hashlib.sha256(dumps(value)).hexdigest()


def matches(value: object, expected: str) -> bool:
    """Whether `digest(value)` is `expected`; False for what has no canonical form.

    Four times faster than `digest` where they match: the standard library's text is canonical for
    most values, and whatever valid JSON text of `value` has this digest, `value` is what was meant.
    """
    try:
        written = _FAST.encode(value)
        if hashlib.sha256(written.encode()).hexdigest() == expected:
            return True
        return digest(value) == expected
    except (NotCanonical, ValueError, TypeError, RecursionError):
        return False


def _locate(value: object, path: str, depth: int) -> None:
    """Raise NotCanonical for the first offender in `value`, if there is one."""
    problem = _problem(value) if depth else f"nested deeper than {DEPTH} levels"
    if problem:
        raise NotCanonical(path[:LONGEST_REPR], f"{problem}; pass it as text")
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            _locate(item, f"{path}[{index}]", depth - 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            _locate(item, f"{path}.{key}", depth - 1)


def _problem(value: object) -> str:
    """What keeps `value` itself, not its parts, from having a canonical form; empty if nothing."""
    if value is None or isinstance(value, (bool, list, tuple)):
        return ""
    if isinstance(value, int):
        return "" if abs(value) <= SAFE_INTEGER else "integer beyond 2**53 - 1"
    if isinstance(value, float):
        return "" if math.isfinite(value) else f"{value} is not a JSON number"
    if isinstance(value, str):
        return "text with a lone surrogate" if _has_surrogate(value) else ""
    if isinstance(value, dict):
        bad = [key for key in value if not isinstance(key, str) or _has_surrogate(key)]
        return f"key {bad[0]!r} is not text that can be encoded" if bad else ""
    return f"{type(value).__name__} is not a JSON type"


def _has_surrogate(value: str) -> bool:
    return _SURROGATE.search(value) is not None


def text(value: str) -> str:
    r"""`value` as PostgreSQL can store it: NUL becomes `\u{0}`, a lone surrogate `\u{D800}`."""
    plain = str.__str__(value)  # not a member of an enumeration, say
    return _UNSTORABLE.sub(lambda found: rf"\u{{{ord(found[0]):X}}}", plain)


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
        self.left = VALUES
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
        fields = _fields(value)
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
    written = _written(value)
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


def _written(value: object) -> str | None:
    """The usual text of a time, a decimal, a UUID or bytes, else None."""
    if isinstance(value, (date, time)):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, (timedelta, Decimal, uuid.UUID)):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"0x{bytes(value).hex()}"
    return None


def _fields(value: object) -> dict[str, object] | None:
    """The fields of a dataclass instance or a pydantic model, else None."""
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(type(value), "__pydantic_fields__"):
        return {**vars(value), **(getattr(value, "__pydantic_extra__", None) or {})}
    return None


def _key(shown: Json) -> str:
    return shown if isinstance(shown, str) else rfc8785.dumps(shown).decode()


def _repr(value: object) -> str:
    try:
        return text(_cut(repr(value)))
    except Exception:  # a broken __repr__ must not hide the rest
        return f"<{type(value).__name__} that cannot be shown>"


def _cut(shown: str) -> str:
    return shown if len(shown) <= LONGEST_REPR else shown[:LONGEST_REPR] + "…"


def fingerprint(value: object) -> str:
    r"""A hex SHA-256 that is the same for equal values and different for any two others.

    Equal means: as RFC 8785 writes them, so 1 and 1.0 are the same number and so are 0 and -0.0,
    a tuple is a list, because checkpoints give it back as one, and a subclass of dict, str, int or
    float is what it extends. Everything else that could be mistaken differs: NaN and "NaN", 1 and
    "1" and True, 10**20 and its digits, NUL and `\u{0}`, Decimal("1.0") and Decimal("1.00"), an
    object and the mapping of its fields.

    Raises NotCanonical for what cannot be compared soundly: deeper than 100 levels, cycles, more
    than 500,000 values, and objects that have neither parts nor a stable name.
    """
    try:
        return digest(_Tagged().of(value, "$", DEPTH))
    except NotCanonical:
        raise
    except Exception as error:  # user code runs here: properties, iterators, __reduce__
        what = f"{type(value).__name__} cannot be compared ({error}); pass it as text"
        raise NotCanonical("$", what) from error


class _Tagged:
    """One walk through one value. Every array in the result starts with a tag."""

    def __init__(self) -> None:
        self.left = VALUES

    def of(self, value: object, path: str, depth: int) -> Json:
        self.left -= 1
        if self.left < 0:
            raise NotCanonical("$", f"more than {VALUES} values; pass a digest of it as text")
        if depth == 0:
            raise NotCanonical(
                path[:LONGEST_REPR], f"nested deeper than {DEPTH} levels; pass it as text"
            )
        if isinstance(value, enum.Enum):
            return ["enum", _name(type(value)), self.of(value.value, path, depth - 1)]
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return _tagged_text(value)
        if isinstance(value, (int, float)):
            return _tagged_number(value)
        if isinstance(value, (list, tuple)):
            return ["list", *self._items(value, path, depth)]
        if isinstance(value, dict):
            return self._object(value.items(), path, depth)
        return self._other(value, path, depth)

    def _items(self, items: Iterable[object], path: str, depth: int) -> list[Json]:
        return [self.of(item, f"{path}[{n}]", depth - 1) for n, item in enumerate(items)]

    def _object(self, items: Iterable[tuple[object, object]], path: str, depth: int) -> Json:
        """An object when all keys are ordinary text, else an array of pairs."""
        pairs: list[tuple[Json, Json]] = []
        for key, item in items:
            where = (
                f"{path}.{key[:40]}" if isinstance(key, str) else f"{path}.({type(key).__name__})"
            )
            pairs.append((self.of(key, where, depth - 1), self.of(item, where, depth - 1)))
        if all(isinstance(key, str) for key, _ in pairs):
            return {str(key): item for key, item in pairs}
        return ["pairs", *sorted(([key, item] for key, item in pairs), key=rfc8785.dumps)]

    def _other(self, value: object, path: str, depth: int) -> Json:
        if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
            return ["name", _place(value, path)]
        kind = _name(type(value))
        written = _written(value)
        if written is not None:
            return ["text", kind, written]
        fields = _fields(value)
        if fields is not None:
            return ["fields", kind, self._object(fields.items(), path, depth)]
        if isinstance(value, Mapping):
            return ["mapping", kind, self._object(value.items(), path, depth)]
        if isinstance(value, Set):
            return ["set", kind, *sorted(self._items(value, path, depth), key=rfc8785.dumps)]
        return ["object", kind, *self._items(_reduced(value), path, depth)]


def _tagged_text(value: str) -> Json:
    if not _has_surrogate(value):
        return value
    return ["surrogates", value.encode("utf-32-be", "surrogatepass").hex()]


def _tagged_number(value: float) -> Json:
    if isinstance(value, int):
        return int(value) if abs(value) <= SAFE_INTEGER else ["int", hex(value)]
    return float(value) if math.isfinite(value) else ["float", repr(float(value))]


def _name(value: object) -> str:
    return text(f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}")


def _place(value: object, path: str) -> str:
    """Where a class or a function is found; NotCanonical if others could have the same name."""
    name = _name(value)
    if "<" in name:
        raise NotCanonical(path[:LONGEST_REPR], f"{name} has no name of its own; pass it as text")
    return name


def _reduced(value: object) -> list[object]:
    """What pickle would need to build `value` again."""
    reduced = value.__reduce_ex__(2)
    if isinstance(reduced, str):
        return [reduced]
    parts: list[object] = list(reduced[:3])
    return parts + [None if part is None else list(part) for part in reduced[3:5]]
