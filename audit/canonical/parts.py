"""What values that are no plain JSON say or consist of, for who shows them or compares them."""

from __future__ import annotations

import dataclasses
import re
import uuid
from datetime import date, time, timedelta
from decimal import Decimal

VALUES = 500_000
"""Values in one tree that are shown and compared: a bound on work, not on honest payloads."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def text(value: str) -> str:
    r"""`value` as PostgreSQL can store it: NUL becomes `\u{0}`, a lone surrogate `\u{D800}`."""
    plain = str.__str__(value)  # not a member of an enumeration, say
    return _UNSTORABLE.sub(lambda found: rf"\u{{{ord(found[0]):X}}}", plain)


def written(value: object) -> str | None:
    """The usual text of a time, a decimal, a UUID or bytes, else None."""
    if isinstance(value, (date, time)):  # a datetime is a date
        return value.isoformat()
    if isinstance(value, (timedelta, Decimal, uuid.UUID)):
        return str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"0x{bytes(value).hex()}"
    return None


def fields(value: object) -> dict[str, object] | None:
    """The fields of a dataclass instance or a pydantic model, else None."""
    if isinstance(value, type):
        return None
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(type(value), "__pydantic_fields__"):
        return {**vars(value), **(getattr(value, "__pydantic_extra__", None) or {})}
    return None
