"""How the person who reads a page wants its times: on for one request, as the time zone is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    absolute: bool = False
    """Date and time also where others read "3 min ago"."""
    twelve: bool = False
    """Hours are counted to twelve."""


_now: ContextVar[Style] = ContextVar("style of times", default=Style())  # noqa: B039  # frozen


def style() -> Style:
    return _now.get()


@contextmanager
def override(style: Style) -> Iterator[None]:
    token = _now.set(style)
    try:
        yield
    finally:
        _now.reset(token)
