"""The canonical text of plain JSON values, and its digest: RFC 8785, or NotCanonical."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import TypeAlias

import rfc8785

from audit.errors import NotCanonical

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

SAFE_INTEGER = 2**53 - 1
"""The largest integer that every reader of JSON understands the same."""
DEPTH = 100
"""Levels of nesting that are shown and compared, unless somebody asks for more."""
LONGEST_PATH = 2000

_FAST = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_SURROGATE = re.compile("[\ud800-\udfff]")


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
        raise NotCanonical(path[:LONGEST_PATH], f"{problem}; pass it as text")
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
        return "text with a lone surrogate" if has_surrogate(value) else ""
    if isinstance(value, dict):
        bad = [key for key in value if not isinstance(key, str) or has_surrogate(key)]
        return f"key {bad[0]!r} is not text that can be encoded" if bad else ""
    return f"{type(value).__name__} is not a JSON type"


def has_surrogate(value: str) -> bool:
    return _SURROGATE.search(value) is not None
