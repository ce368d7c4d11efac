"""What a list of runs is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from runs.listing.search import Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """An empty field asks for nothing."""

    status: str = ""
    """A stored state, or "stuck", "stalled", "driven"."""
    attention: bool = False
    agent: str = ""
    version: str = ""
    owner: str = ""
    """The primary key of the person who started it."""
    error: str = ""
    """The whole class of the error with which it failed."""
    since: timedelta | None = None
    """Started this long ago, or later."""
    started_from: datetime | None = None
    started_until: datetime | None = None
    """Not included, as with the end."""
    ended_from: datetime | None = None
    ended_until: datetime | None = None
    search: Search = field(default_factory=Search)
