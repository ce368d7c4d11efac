"""How a database that is away is told from other errors. What is answered: `signalbox.errors`."""

from __future__ import annotations

from django.db import InterfaceError, OperationalError

AGAIN = 10
"""Seconds after which a client may try again."""
AWAY = ("08", "57P", "53300")
"""Beginnings of SQLSTATE: connection exceptions, a server that stops, too many connections."""


def database_away(error: BaseException | None) -> bool:
    """Whether `error` says that the database cannot be reached. A lock that took too long does not.

    An error without a SQLSTATE comes from the driver: no server has answered.
    """
    if isinstance(error, InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or str(state).startswith(AWAY)
