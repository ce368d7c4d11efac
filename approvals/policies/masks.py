"""Hiding what a policy masks: fields that only members of some groups see.

A field of `args` is hidden wherever a payload holds arguments, whatever its shape; a field of
`payload` where it stands. Empty values say nothing and stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from approvals.policies.steps import Mask

HIDDEN = "hidden (policy)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """A value as one reader may see it."""

    value: object
    hidden: int


def for_reader(masks: Iterable[Mask], groups: Iterable[str]) -> tuple[Mask, ...]:
    """The masks that hide something from a member of these groups."""
    mine = set(groups)
    return tuple(mask for mask in masks if not mine & set(mask.groups))


def cover(value: object, masks: Iterable[Mask], *, root: str) -> Covered:
    """`value`, which is the `args` or the whole `payload` of a question, without what is masked."""
    hidden = 0
    for mask in masks:
        of, *keys = mask.path.split(".")
        if of == root:
            value, found = _hide(value, keys)
        elif of == "args":
            value, found = _below_args(value, keys)
        else:
            found = 0
        hidden += found
    return Covered(value=value, hidden=hidden)


def hidden(value: object, masks: Iterable[Mask], *, root: str) -> list[object]:
    """The single values that `cover` hides in `value`."""
    return list(_lost(value, cover(value, masks, root=root).value))


def _lost(before: object, after: object) -> Iterator[object]:
    if after == HIDDEN:
        yield from _leaves(before)
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        for key, held in before.items():
            yield from _lost(held, after[key])
    elif isinstance(before, list) and isinstance(after, list):
        for held, shown in zip(before, after, strict=True):
            yield from _lost(held, shown)


def _leaves(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def _hide(value: object, keys: list[str]) -> tuple[object, int]:
    """The value with what stands at the path hidden, and how many that are."""
    if not keys:
        return (value, 0) if value in (None, "", [], {}, HIDDEN) else (HIDDEN, 1)
    key, *rest = keys
    if isinstance(value, Mapping) and key in value:
        inner, found = _hide(value[key], rest)
        return {**value, key: inner}, found
    if isinstance(value, list) and key.isascii() and key.isdecimal() and int(key) < len(value):
        inner, found = _hide(value[int(key)], rest)
        return [*value[: int(key)], inner, *value[int(key) + 1 :]], found
    return value, 0


def _below_args(value: object, keys: list[str]) -> tuple[object, int]:
    """The same, in everything that is called args."""
    if isinstance(value, list):
        parts = [_below_args(each, keys) for each in value]
        return [part for part, _ in parts], sum(found for _, found in parts)
    if not isinstance(value, Mapping):
        return value, 0
    shown: dict[str, object] = {}
    hidden = 0
    for key, held in value.items():
        shown[key], found = _hide(held, keys) if key == "args" else _below_args(held, keys)
        hidden += found
    return shown, hidden
