"""The dispatcher's sign of life: see `runs.signs`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts import once
from ledger.outbox import pages
from runs import statements
from runs.signs import CELERY, Sign

LATE = timedelta(minutes=2)
"""A message that nobody has tried by then says that no dispatcher is at work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What was not sent, as numbers, and the last that was."""

    waiting: int
    late: int
    """Of these: nobody has tried them."""
    dead: int
    sent_at: datetime | None


@once.a_page
def left() -> Left:
    params: dict[str, Any] = {"late": LATE}  # Any: the stubs know no lengths of time
    with connection.cursor() as cursor:
        cursor.execute(statements.read("ledger", "left"), params)
        waiting, late, dead, sent_at = cursor.fetchone()
    return Left(waiting=waiting, late=late, dead=dead, sent_at=sent_at)


def dispatcher() -> Sign:
    """It does nothing while nothing is due, so it is judged by what waits for it."""
    found = left()
    late = bool(found.late)
    return Sign(
        key="dispatcher",
        name=_("Outbox"),
        at=found.sent_at,
        well=not late,
        lack=_("Late"),
        note=_waits(found.waiting),
        todo=_("Messages are late: nothing is sent. Start a worker on the queue sweep.")
        if late
        else "",
        command=f"{CELERY} worker -Q sweep -n sweeper@%h" if late else "",
        url=reverse("ledger:outbox"),
        permission=pages.SEE,
    )


def _waits(count: int) -> str:
    if not count:
        return _("nothing waits to be sent")
    return ngettext(
        "%(count)s message waits to be sent", "%(count)s messages wait to be sent", count
    ) % {"count": count}
