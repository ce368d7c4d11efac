"""What a policy is matched against: one action that an agent asks leave for.

A path such as `args.amount_cents` or `args.lines.0.price` names a value in it by keys and places
in lists, and by nothing else: no attributes, no calls.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

ROOTS = ("args", "payload", "agent", "node", "tool")
_PATH = re.compile(rf"(?:{'|'.join(ROOTS)})(?:\.[^\s.:,!{{}}|]+)*")


class Missing:
    """There is no such value."""


MISSING = Missing()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One action: who asks, where, and what would be called with what."""

    agent: str
    node: str = ""
    tool: str = ""
    args: object = None
    payload: object = None
    """The question as it is kept, whatever its shape."""

    def look(self, path: str) -> object:
        """The value at `path`; MISSING if there is none. A null is a value."""
        root, *keys = path.split(".")
        value: object = getattr(self, root) if root in ROOTS else MISSING
        for key in keys:
            value = _inside(value, key)
        return value


def is_path(text: str) -> bool:
    return len(text) <= 200 and _PATH.fullmatch(text) is not None


def _inside(value: object, key: str) -> object:
    if isinstance(value, Mapping):
        return value.get(key, MISSING)
    if isinstance(value, list) and key.isascii() and key.isdecimal() and int(key) < len(value):
        return value[int(key)]
    return MISSING
