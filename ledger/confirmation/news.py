"""What a provider can say of an effect, unasked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class Meaning(Enum):
    """How the effect ended, as the provider has it now."""

    HAPPENED = "happened"
    FAILED = "failed"
    """Nothing happened, or what happened has come to nothing since."""
    UNDONE = "undone"
    """It happened, and was taken back."""


class BadEvent(ValueError):
    """The event cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """One event of a provider. It names the effect by our key, or by the provider's reference."""

    event: str
    """The provider's id of this event; the same whenever it is delivered."""
    kind: str
    """The provider's word for it."""
    meaning: Meaning | None = None
    """None: it says nothing about how an effect ended."""
    key: str = ""
    """The key that the provider got with the call."""
    reference: str = ""
    result: object = None
    """What the node gets if the call itself has not answered: best what the call answers with."""
    why: str = ""
    told_at: datetime | None = None
    """By the provider's clock: of two events, the later one is right."""
