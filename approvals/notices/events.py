"""What people are told about, and the one call that has them told.

A notice names a request and what happened to it, never its payload: whoever is told follows the
link and sees what they may see.
"""

from __future__ import annotations

from collections.abc import Iterable

from django.db import models

from accounts.speech import later as _
from approvals.models import Request
from ledger import outbox

DESTINATION = "notices"


class Event(models.TextChoices):
    """Each is one line of the page on which people choose what they get."""

    NEEDS_YOU = "needs_you", _("A request waits for my decision")
    REMINDER = "reminder", _("A request still waits for my decision")
    ESCALATED = "escalated", _("A request was passed on to me because others did not decide")
    NOBODY_CAN_DECIDE = "nobody_can_decide", _("A request waits and nobody may decide it")
    DECIDED = "decided", _("A request of my run was decided")
    TOOK_EFFECT = "took_effect", _("A run went on with a decision")
    NOT_DELIVERED = "not_delivered", _("A decision did not reach its run")


QUESTIONS = frozenset({Event.NEEDS_YOU, Event.REMINDER, Event.ESCALATED, Event.NOBODY_CAN_DECIDE})
"""Worth telling only while the request is open."""


def notify(
    event: Event, request: Request, *, key: str = "", people: Iterable[int] | None = None
) -> None:
    """In the transaction in which it happened: have people told that `event` befell `request`.

    Once per request, event and `key`; a second reminder needs a key of its own. Who is told follows
    from the event: for a question those who may decide it at the time of sending, for an outcome
    the requester and who voted. `people` (ids of users) narrows a question down to some of them.
    """
    payload: dict[str, object] = {"event": event.value, "request": str(request.pk)}
    if people is not None:
        payload["people"] = sorted(people)
    outbox.add(DESTINATION, payload, dedupe=f"{request.pk}:{event.value}:{key}".rstrip(":"))
