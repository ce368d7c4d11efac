"""Characters by which a text deceives its reader: hidden ones, and those that turn words around.

Pages show each of them as a mark (`signalbox.visible`). Here is what counts as one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from audit import hidden

LONG_BLANK = 8
"""Blanks in a row that no prose needs."""
LONG_GAP = 4
"""Line ends in a row that no prose needs."""
STACKED = 4
"""Marks on one letter that no script needs."""

LINE_ENDS = re.compile(r"\r\n?")
_BLANKS = r"[ \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]"
ODD = re.compile(
    rf"[{hidden.CHARACTERS}]"
    rf"|{_BLANKS}{{{LONG_BLANK},}}|\n(?:{_BLANKS}*\n){{{LONG_GAP - 1},}}"
    rf"|(?<=[\u0300-\u036f\u0483-\u0489\u20d0-\u20ff]{{{STACKED}}})[\u0300-\u036f\u20d0-\u20ff]+"
)


def deceives(value: object) -> bool:
    """Whether any text in `value`, which is plain JSON, has such a character."""
    if isinstance(value, str):
        return ODD.search(LINE_ENDS.sub("\n", value)) is not None
    if isinstance(value, Mapping):
        return any(deceives(key) or deceives(held) for key, held in value.items())
    return isinstance(value, list | tuple) and any(map(deceives, value))
