"""A digest that tells any two values apart that a reader could take for different ones."""

from __future__ import annotations

import enum
import math
import types
from collections.abc import Iterable, Mapping, Set

import rfc8785

from audit.canonical import parts
from audit.canonical.parts import text
from audit.canonical.strict import DEPTH, LONGEST_PATH, SAFE_INTEGER, Json, digest, has_surrogate
from audit.errors import NotCanonical


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
        self.left = parts.VALUES

    def of(self, value: object, path: str, depth: int) -> Json:
        self.left -= 1
        if self.left < 0:
            raise NotCanonical("$", f"more than {parts.VALUES} values; pass a digest of it as text")
        if depth == 0:
            raise NotCanonical(
                path[:LONGEST_PATH], f"nested deeper than {DEPTH} levels; pass it as text"
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
        written = parts.written(value)
        if written is not None:
            return ["text", kind, written]
        fields = parts.fields(value)
        if fields is not None:
            return ["fields", kind, self._object(fields.items(), path, depth)]
        if isinstance(value, Mapping):
            return ["mapping", kind, self._object(value.items(), path, depth)]
        if isinstance(value, Set):
            return ["set", kind, *sorted(self._items(value, path, depth), key=rfc8785.dumps)]
        return ["object", kind, *self._items(_reduced(value), path, depth)]


def _tagged_text(value: str) -> Json:
    if not has_surrogate(value):
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
        raise NotCanonical(path[:LONGEST_PATH], f"{name} has no name of its own; pass it as text")
    return name


def _reduced(value: object) -> list[object]:
    """What pickle would need to build `value` again."""
    reduced = value.__reduce_ex__(2)
    if isinstance(reduced, str):
        return [reduced]
    parts: list[object] = list(reduced[:3])
    return parts + [None if part is None else list(part) for part in reduced[3:5]]
