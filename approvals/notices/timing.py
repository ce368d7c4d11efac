"""When somebody is told: gathered with what else there is, in waves, and not in quiet hours.

1. What comes within a person's window goes into one mail. The window starts with the first of it
   and is never moved, so a steady stream of news does not keep a mail from going out.
2. A group is not called all at once: waves of a few people, in another order for each request.
   All have been called before a quarter of the time for deciding is over.
3. Of a question everybody is told before half of the time for it is over, whatever the window.
4. What cannot wait for the end of quiet hours comes through, unless the person does not want that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from approvals.notices.quiet import Quiet

PART = 4
"""All are called within this part of the time for deciding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How one person wants to be told."""

    window: timedelta
    quiet: Quiet | None = None
    wakes: bool = True
    """What cannot wait until the quiet is over comes through."""

    def when(
        self,
        now: datetime,
        *,
        wave: timedelta = timedelta(0),
        deadline: datetime | None = None,
        under_way: datetime | None = None,
    ) -> datetime:
        """When something new is told.

        `under_way`: when the next mail goes out that is not closed yet; it takes this along.
        """
        at = now + wave + self.window
        if deadline is not None:
            at = min(at, now + max(deadline - now, timedelta(0)) / 2)
        ends = self.quiet.until(at) if self.quiet else None
        if ends is not None and not (self.wakes and deadline is not None and deadline <= ends):
            at = ends
        return min(at, under_way) if under_way is not None else at


def waves(request: object, people: Iterable[int], *, left: timedelta) -> dict[int, timedelta]:
    """How much later than the first each of these people is called for a request."""
    order = sorted(people, key=lambda user_id: _place(request, user_id))
    size = settings.APPROVALS_NOTICE_WAVE
    last = max(0, len(order) - 1) // size
    apart = settings.APPROVALS_NOTICE_WAVE_APART
    if last:
        apart = max(timedelta(0), min(apart, left / PART / last))
    return {user_id: apart * (place // size) for place, user_id in enumerate(order)}


def _place(request: object, user_id: int) -> bytes:
    return hashlib.sha256(f"{request}:{user_id}".encode()).digest()
