"""What the ledger needs to know from the layer above it, without importing it.

The implementations are named in settings (LEDGER_PERMITS, LEDGER_GROUNDS) and verified by system
checks.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, cast
from uuid import UUID

from django.conf import settings
from django.db.models import Model, QuerySet
from django.utils.module_loading import import_string

from accounts.models import User
from runs.status import State


class Permits(Protocol):
    """Where permissions for single effects come from."""

    def find(self, run_id: UUID, tool: str, args_hash: str) -> UUID | None:
        """The id of a decision that approved exactly this call and that no effect has used.

        Called inside the transaction that reserves the effect, with the run locked. `args_hash` is
        `audit.canonical.digest` of the arguments by name, defaults included.
        """


class Secrets(Protocol):
    """Where arguments that are passed by reference have their values (LEDGER_SECRETS)."""

    def get(self, tool: str, name: str) -> str:
        """The secret of this name, for this tool; called in the worker, just before a call.

        Raises, if it cannot be had: then nothing is sent, and it is tried again later. Another
        value under the same name makes a repeated call another one for a provider.
        """


def secrets() -> Secrets:
    # The system check in ledger.checks has verified that the class has the protocol's method.
    return cast(Secrets, import_string(settings.LEDGER_SECRETS)())


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What one person said, or the clock."""

    who: str
    said: State
    at: datetime
    for_whom: str = ""
    """In whose place."""
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """The approval that an effect rests on, as one reader may see it."""

    url: str
    title: str
    state: State
    asked_of: str
    asked_at: datetime
    decided_at: datetime
    words: tuple[Word, ...]
    """Of everybody who had a say, the first one first."""
    digest: str
    """Of the payload that was shown."""
    payload: object
    """The question; what its policy hides from the reader is hidden, nothing else."""
    permit: bool
    """The effect could not have been performed without it."""
    request: str
    """The id of the request, as the audit log names it."""


class Grounds(Protocol):
    """What effects rest on, for pages. Reads only."""

    def allowed_by(self, people: Collection[int]) -> QuerySet[Model, UUID]:
        """The ids of the decisions that one of these people has approved, as a query."""

    def of(self, permit: UUID | None, call: tuple[UUID, str, str], user: User) -> Ground | None:
        """What the effect with this permit rests on; without one, the approval of the same call
        (run, tool, hash of the arguments). None: nothing that `user` may see. A constant number of
        queries.
        """

    def deciders(self, permits: Collection[UUID]) -> dict[UUID, str]:
        """Who gave each of these permits, in words. One query."""


def permits() -> Permits:
    # The system check in ledger.checks has verified that the class has the protocol's method.
    return cast(Permits, import_string(settings.LEDGER_PERMITS)())


def grounds() -> Grounds:
    # So has another one here.
    return cast(Grounds, import_string(settings.LEDGER_GROUNDS)())
