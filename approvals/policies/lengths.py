"""Lengths of time as people write them: `90s`, `15m`, `4h`, `2d`, or several: `1d 12h`."""

from __future__ import annotations

import re
from datetime import timedelta

from django.utils.translation import gettext as _

from accounts.speech import later

SHORTEST, LONGEST = timedelta(seconds=1), timedelta(days=3650)
_UNITS = {"d": timedelta(days=1), "h": timedelta(hours=1), "m": timedelta(minutes=1)}
_UNITS["s"] = timedelta(seconds=1)
_PART = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([dhms])")
HOW = later("a length of time such as 30m, 4h or 2d")


def parse(text: str) -> timedelta:
    """Raises ValueError for anything else, and for less than a second or more than ten years."""
    rest = text.strip().lower()
    total = timedelta()
    while rest:
        found = _PART.match(rest)
        if found is None:
            raise ValueError(later("“{value}” is not {how}.", value=text.strip(), how=HOW))
        total += float(found[1]) * _UNITS[found[2]]
        rest = rest[found.end() :].lstrip()
    if not SHORTEST <= total <= LONGEST:
        raise ValueError(
            later("“{value}” must be from one second to ten years.", value=text.strip())
        )
    return total


def told(length: timedelta) -> str:
    """The same as `written`, in the reader's words."""
    words = {"d": _("{d}d"), "h": _("{h}h"), "m": _("{m}m"), "s": _("{s}s")}
    parts = written(length).split()
    return " ".join(words[part[-1]].format(**{part[-1]: part[:-1]}) for part in parts)


def written(length: timedelta) -> str:
    """What `parse` reads back as the same length."""
    parts = []
    rest = length
    for unit, size in _UNITS.items():
        if unit == "s":
            break
        whole, rest = divmod(rest, size)
        if whole:
            parts.append(f"{whole}{unit}")
    if rest or not parts:
        seconds = f"{rest.total_seconds():.6f}".rstrip("0").rstrip(".")
        parts.append(f"{seconds}s")
    return " ".join(parts)
