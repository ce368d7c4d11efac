"""Acts by hand that break a safety rule, told to the others who could have done them.

1. Told in the transaction that acts: if it does not commit, nobody is told.
2. The functions that RUNS_WATCHERS names do the telling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from accounts.actors import Actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """One such act."""

    key: str
    """Names it, so that it is told once."""
    did: str
    """What was done, as words behind the name of who did it: "forced a run to resume"."""
    permission: str
    """Who has it is told, besides who acted."""
    run_id: UUID
    about: str
    """The title of the run; empty where it was done to several."""
    actor: Actor
    reason: str
    url: str
    """Path of the page that shows it."""


def tell(override: Override) -> None:
    watchers: list[Callable[[Override], object]] = [
        import_string(name) for name in settings.RUNS_WATCHERS
    ]
    for watcher in watchers:
        watcher(override)
