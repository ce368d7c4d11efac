"""Dispatchers: they claim messages of the outbox that are due, and hand each to its destination.

1. Any number of them may run at once. A claim is taken by status, due time and SKIP LOCKED, never
   by a place in a sequence: what commits late is sent late, and not left out.
2. A claim expires. The message of a dispatcher that died or froze is taken by the next one, so the
   receiver may get it twice, with the same id.
3. That it was sent is a fact, and never refused. That it was not may be said only by who claimed it
   last.
4. A destination may be served at a pace (`ledger.outbox.pace`); waiting for its turn is no try.
5. A message that fails again and again, or is refused for certain, is given up: kept, shown, and
   queued again by hand (`ledger.outbox.replays`).
"""

from __future__ import annotations

import logging
import random
import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils.module_loading import import_string

from accounts.actors import Actor
from audit import canonical, trail
from audit.models import ClockTimestamp
from ledger import errors, rows, stops
from ledger.models import Message
from ledger.outbox import adding, pace
from ledger.outbox.letters import Handler, Letter
from ledger.outcomes import Kind, Outcome, from_exception, of_returned
from ledger.status import MessageStatus
from runs import dispatch as doorbell
from runs import killpoints, statements, workers

logger = logging.getLogger(__name__)

DISPATCHER = Actor.system("dispatcher")
WEBHOOK = "ledger.outbox.webhooks.post"
TURN = timedelta(seconds=10)
"""How long one dispatcher works before others of its queue have their turn."""
STOPPED = timedelta(seconds=15)
"""Until a message that an emergency stop holds back is looked at again."""
BUSY = frozenset({429, 503})
"""Answers whose Retry-After is about the receiver, not about this message."""
OLD = 500
"""Messages forgotten in one pass."""


def dispatch(turn: timedelta = TURN) -> int:
    """Send what is due, one after another, until nothing is or the turn is over; how many tries.

    Call it outside of transactions.
    """
    end = time.monotonic() + turn.total_seconds()
    tries = 0
    while time.monotonic() < end:
        message = claim()
        if message is not None:
            tries += deliver(message)
        elif not _await_turn(end):
            return tries
    doorbell.call_now(adding.TASK)
    return tries


def sweep() -> int:
    """The rule of the sweeper: ask for a dispatcher if something is due; whether it is."""
    _forget()
    if not due():
        return 0
    doorbell.call_now(adding.TASK)
    return 1


def due() -> bool:
    """Whether a message could be sent now, or its dispatcher is taken for dead."""
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=ClockTimestamp())
    return Message.objects.filter(
        free, status=MessageStatus.PENDING, due_at__lte=ClockTimestamp()
    ).exists()


def claim() -> Message | None:
    """Claim the message that is due longest; None if there is none that nobody else has."""
    given: dict[str, Any] = {  # Any: cursors know no intervals
        "claim": uuid4(),
        "holder": workers.holder()[:200],
        "ttl": settings.LEDGER_OUTBOX_CLAIM,
    }
    with connection.cursor() as cursor:
        cursor.execute(statements.read("ledger", "claim_message"), given)
        found = cursor.fetchone()
    return Message.objects.select_related("run").get(pk=found[0]) if found else None


def deliver(message: Message) -> bool:
    """Try to send a message that was claimed, and write down what became of it; whether it tried.

    It does not where an emergency stop holds the message back, or its destination wants a pause.
    """
    killpoints.reach("outbox.claimed", message.uid)
    if message.tries > settings.LEDGER_OUTBOX_TRIES:
        _give_up(message, "whoever tried to send it died at every try")
        return True
    if message.run and stops.applies(message.destination, message.run.agent):
        _put_back(message, STOPPED, "held back by an emergency stop")
        return False
    if not pace.take_turn(message.destination):
        _put_back(message, timedelta(0), message.error)
        return False
    outcome = _send(message)
    killpoints.reach("outbox.called", message.uid)
    _settle(message, outcome)
    return True


def destinations() -> dict[str, str]:
    """Every destination and the dotted name of its handler."""
    webhooks = dict.fromkeys(settings.LEDGER_WEBHOOKS, WEBHOOK)
    return webhooks | dict(settings.LEDGER_DESTINATIONS)


def backoff(tries: int) -> timedelta:
    """How long to wait after so many tries: doubled each time, with jitter, up to the cap."""
    longest = settings.LEDGER_OUTBOX_BACKOFF * 2 ** min(tries - 1, 30)
    capped: timedelta = min(longest, settings.LEDGER_OUTBOX_BACKOFF_CAP)
    return capped * random.uniform(0.5, 1.0)  # noqa: S311 (spreads load, guards nothing)


def _await_turn(end: float) -> bool:
    """Whether a destination that rests may be served before `end`, after waiting until it may."""
    wait = pace.next_turn()
    if wait is None or time.monotonic() + wait > end:
        return False
    time.sleep(wait)
    return True


def _send(message: Message) -> Outcome:
    try:
        named = destinations().get(message.destination)
        if named is None:
            raise errors.NoSuchDestination(message.destination)
        handler: Handler = import_string(named)
        return of_returned(
            handler(
                Letter(
                    id=message.uid,
                    destination=message.destination,
                    payload=message.payload,
                    written_at=message.created_at,
                    tries=message.tries,
                )
            )
        )
    except Exception as exc:
        # Not the exception's own words: they may hold an address or an answer, which are secrets.
        where = rows.where(exc)
        logger.error("message %s to %s failed: %s", message.uid, message.destination, where)
        return from_exception(exc)


def _settle(message: Message, outcome: Outcome) -> None:
    if outcome.kind is Kind.SUCCESS:
        Message.objects.filter(pk=message.pk).exclude(status=MessageStatus.SENT).update(
            status=MessageStatus.SENT, closed_at=ClockTimestamp(), error="", claimed_until=None
        )
        return
    certain = outcome.kind is Kind.REFUSED and not outcome.retryable
    if certain or message.tries >= settings.LEDGER_OUTBOX_TRIES:
        _give_up(message, outcome.reason)
        return
    asked = timedelta(seconds=outcome.retry_after or 0)
    if asked and outcome.http_status in BUSY:
        pace.rest(message.destination, asked)
    wait = max(backoff(message.tries), asked)
    _mine(message).update(
        due_at=ClockTimestamp() + wait, claimed_until=None, error=_short(outcome.reason)
    )


def _put_back(message: Message, wait: timedelta, why: str) -> None:
    """Nothing was tried."""
    _mine(message).update(
        due_at=ClockTimestamp() + wait,
        tries=message.tries - 1,
        claimed_until=None,
        error=_short(why),
    )


def _give_up(message: Message, why: str) -> None:
    with transaction.atomic():
        given_up = _mine(message).update(
            status=MessageStatus.DEAD,
            closed_at=ClockTimestamp(),
            claimed_until=None,
            error=_short(why),
        )
        if given_up:
            trail.record(
                "message.given_up",
                actor=DISPATCHER,
                target=("message", str(message.uid)),
                run_id=message.run_id,
                reason=_short(why),
                data={"destination": message.destination, "tries": message.tries},
            )


def _mine(message: Message) -> QuerySet[Message]:
    """The message, if it is still claimed by whoever claimed it as it is here."""
    return Message.objects.filter(pk=message.pk, claim=message.claim, status=MessageStatus.PENDING)


def _short(why: str) -> str:
    return canonical.text(why)[:500]


def _forget() -> None:
    """Delete what was sent long ago. What was given up stays until somebody has looked at it."""
    old = Message.objects.filter(
        status=MessageStatus.SENT, closed_at__lt=ClockTimestamp() - settings.LEDGER_OUTBOX_KEEP
    )
    Message.objects.filter(pk__in=old.order_by("closed_at").values("pk")[:OLD]).delete()
