"""What differs between two effects of one step, and what it probably comes from, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from ledger.models import Drift

_UUID = re.compile(r"(?i)[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")
_RANDOM = re.compile(r"(?i)(?=.*[0-9])[0-9a-f]{16,}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
EPOCH = range(1_000_000_000, 10_000_000_000)
"""Seconds since 1970 that are times of the years 2001 to 2286; in milliseconds a thousandfold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place at which the arguments differ."""

    path: str
    why: str
    """What the value looks like; empty if it is just another one."""


def differences(before: object, after: object) -> list[Difference]:
    """Where two sets of arguments differ."""
    then, now = dict(_leaves(before)), dict(_leaves(after))
    return [
        Difference(path=path, why=_why(then.get(path), now.get(path)))
        for path in sorted(then.keys() | now.keys())
        if path not in then or path not in now or then[path] != now[path]
    ]


def sentence(drift: Drift) -> str:
    """What happened, and what the people who wrote the agent should change."""
    found = differences(drift.before.args, drift.args)
    if not found:
        return _(
            "The arguments are the same, but the key is another one: key= or occurrence= of"
            " the call depends on chance, on time or on the order of things. Make it depend"
            " on the agent's saved state only."
        )
    suspicious = [each for each in found if each.why]
    if suspicious:
        each = suspicious[0]
        return _(
            "{path} {why}, and is made anew each time the step runs. Make it in a step of its"
            " own before, so that it is saved, or leave it out."
        ).format(path=each.path, why=each.why)
    return _(
        "The step asked for something else when it ran again: it depends on more than the"
        " agent's saved state, such as what a model said or what another system held at that"
        " time."
    )


def _why(before: object, after: object) -> str:
    if _both(_UUID, before, after) or _both(_RANDOM, before, after):
        return _("looks random")
    if _both(_TIME, before, after) or (_is_epoch(before) and _is_epoch(after)):
        return _("looks like the time of the call")
    return ""


def _both(pattern: re.Pattern[str], before: object, after: object) -> bool:
    return all(isinstance(value, str) and pattern.search(value) for value in (before, after))


def _is_epoch(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return int(value) in EPOCH or int(value / 1000) in EPOCH


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """(path, value) of everything in a JSON document that has no parts."""
    if isinstance(value, Mapping) and value:
        for name, item in value.items():
            yield from _leaves(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]")
    elif path:
        yield path, value
