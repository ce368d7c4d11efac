"""Values that survive the way to the agent and into the database and back."""

from __future__ import annotations

from collections.abc import Mapping

from audit import canonical


def deliverable(value: object) -> bool:
    """Whether LangGraph hands `value` to the agent as it is, and the database keeps it so.

    None crashes a resume. An object whose keys are all 32 hex digits is read as a map of interrupt
    ids, and so is an empty one.
    """
    if value is None or (isinstance(value, Mapping) and all(map(_looks_like_an_id, value))):
        return False
    return storable(value)


def storable(value: object) -> bool:
    """Whether `value` is JSON that is read back from the database as it was written."""
    try:
        canonical.dumps(value)
    except canonical.NotCanonical:
        return False
    return canonical.visible(value) == value


def _looks_like_an_id(key: object) -> bool:
    return isinstance(key, str) and len(key) == 32 and set(key) <= set("0123456789abcdefABCDEF")
