"""Addresses of the list of runs: where it is on, which filters, and which rows are shown."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from uuid import UUID

from django.http import QueryDict

CURSORS = ("after", "before", "shown")
"""Where a page begins, or which rows a poll asks for; not what is asked for."""
SIZE = 16
"""Bytes of an id."""


def here(query: QueryDict, **changes: str | None) -> str:
    """The address of the same list with these parameters; None takes one away."""
    made = query.copy()
    for name in (*CURSORS, *changes):
        made.pop(name, None)
    for name in [name for name in made if not made[name]]:
        made.pop(name)  # what a form sent empty
    for name, value in changes.items():
        if value is not None:
            made[name] = value
    return f"?{made.urlencode()}"


def pack(ids: Iterable[UUID]) -> str:
    """Many ids in as few characters as an address may have: those of 75 rows in 1,600."""
    return base64.urlsafe_b64encode(b"".join(each.bytes for each in ids)).decode().rstrip("=")


def unpack(text: str, most: int) -> list[UUID]:
    """What `pack` has made, up to `most`; nothing of anything else."""
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return []
    whole = range(0, min(len(packed) - len(packed) % SIZE, most * SIZE), SIZE)
    return [UUID(bytes=packed[start : start + SIZE]) for start in whole]
