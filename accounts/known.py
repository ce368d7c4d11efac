"""Somebody who was read from the database a moment ago, and who is still the same there.

Whoever says so has looked: see `signalbox.sharing`. What they may goes with them
(`accounts.rights`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from accounts.models import User

_KNOWN: ContextVar[User | None] = ContextVar("known", default=None)


@contextmanager
def person(user: User | None) -> Iterator[None]:
    """Within, this person is not read again to know who is signed in."""
    token = _KNOWN.set(user)
    try:
        yield
    finally:
        _KNOWN.reset(token)


def find(user_id: object) -> User | None:
    user = _KNOWN.get()
    return user if user is not None and user.pk == user_id else None
