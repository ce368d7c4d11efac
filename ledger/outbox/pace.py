"""How fast a destination is served: a pause from one message to the next, over all dispatchers.

1. Turns are taken in the database and by its clock. Of two dispatchers with a message for the same
   destination one gets the turn; the other one puts its message back, which is no try.
2. A turn is used up when it is taken, whatever becomes of the message.
3. A receiver that asks to be left alone (Retry-After) is left alone with all its messages.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection

from runs import statements


def take_turn(destination: str) -> bool:
    """Whether a message may be sent there now; if so, the next one has to wait its pause."""
    apart = settings.LEDGER_OUTBOX_PACES.get(destination)
    if apart is None:
        return True
    return _said("take_turn", {"destination": destination, "apart": apart}) is not None


def rest(destination: str, wait: timedelta) -> None:
    """Send nothing there for so long; a longer rest that was asked for before stays."""
    _said("rest_destination", {"destination": destination, "wait": wait})


def next_turn() -> float | None:
    """Seconds until a destination that has something due may be served; None if none rests."""
    found = _said("next_turn", {})
    return None if found is None or found[0] is None else float(found[0])


def _said(name: str, given: dict[str, Any]) -> tuple[Any, ...] | None:  # Any: a row's columns
    with connection.cursor() as cursor:
        cursor.execute(statements.read("ledger", name), given)
        row: tuple[Any, ...] | None = cursor.fetchone()
    return row
