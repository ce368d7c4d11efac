"""Documents made at random, with what makes hiding and finding hard."""

from __future__ import annotations

import random
from collections.abc import Iterator

Place = tuple[str, ...]
NAMES = ("order", "to", "pin", "pay", "homePhone", "lines", "args", "0", "a.b", "payload", "ключ")
VALUES: tuple[object, ...] = (
    *("X9", "x9", "ab", "DE0212", "to DE0212.", "A-7", "abc", "straße", "Ödön", "İx", "ключ"),
    *(7, 7.0, 5, 999, 1000, 52_345, 52_345.0, "52345", 5_234_567, 10**13, -1000, 0.5),
    *(True, False, None, "", "[urgent", "{", '{"pin":"X9"}', '["DE0212"]', '{"pin":[{}]}'),
    *('{"size":5}', '[7,{"to":"ab"}]', '{"pay": "ключ"}', '{"homePhone":7}'),
)


def value(at: random.Random, depth: int = 0) -> object:
    roll = at.random()
    if depth < 4 and roll < 0.25:
        return document(at, depth + 1)
    if depth < 4 and roll < 0.45:
        return [value(at, depth + 1) for _ in range(at.randint(0, 3))]
    return at.choice(VALUES)


def document(at: random.Random, depth: int = 0) -> dict[str, object]:
    return {at.choice(NAMES): value(at, depth) for _ in range(at.randint(0, 5))}


def leaves(held: object, place: Place = ()) -> Iterator[tuple[Place, object]]:
    """Each single value, with the names and the places in lists that lead to it."""
    if held in ({}, []) or not isinstance(held, dict | list):
        yield place, held
        return
    for name, inner in held.items() if isinstance(held, dict) else enumerate(held):
        yield from leaves(inner, (*place, str(name)))


def ending(path: Place) -> str:
    """The path as a `runs_cloak` has it."""
    return "\x1f".join(("", *path, ""))
