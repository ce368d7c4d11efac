"""A message as the handler of its destination gets it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One message that is to be sent now."""

    id: UUID
    """The same at every try: give it to the receiver."""
    destination: str
    payload: object
    written_at: datetime
    tries: int
    """This one included."""


Handler = Callable[[Letter], object]
"""Sends a letter and returns an Outcome, or the answer of httpx. Whatever it raises is a try that
failed. It must come to an end well within LEDGER_OUTBOX_CLAIM."""
