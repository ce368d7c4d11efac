"""The dispatcher's sign of life: see `runs.signs`."""

from __future__ import annotations

from datetime import timedelta

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from audit.models import ClockTimestamp
from ledger.models import Message
from ledger.outbox import pages
from ledger.status import MessageStatus
from runs.signs import CELERY, Sign

LATE = timedelta(minutes=2)
"""A message that nobody has tried by then says that no dispatcher is at work."""


def dispatcher() -> Sign:
    """It does nothing while nothing is due, so it is judged by what waits for it."""
    waiting = Message.objects.filter(status=MessageStatus.PENDING)
    late = waiting.filter(due_at__lt=ClockTimestamp() - LATE, tries=0).exists()
    sent = Message.objects.filter(status=MessageStatus.SENT).order_by("-closed_at", "-seq")
    return Sign(
        key="dispatcher",
        name=_("Outbox"),
        at=sent.values_list("closed_at", flat=True).first(),
        well=not late,
        lack=_("Late"),
        note=_waits(waiting.count()),
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
