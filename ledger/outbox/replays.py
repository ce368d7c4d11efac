"""Queueing messages again that were given up. A person does it, with a reason, and it is recorded.

The receiver gets the same id as before: it may have taken the message although nobody heard so.
"""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from accounts import actors
from accounts import errors as people
from accounts.actors import Actor
from audit import canonical, trail
from audit.models import ClockTimestamp
from ledger import errors
from ledger.models import Message
from ledger.outbox import adding
from ledger.status import MessageStatus
from runs import dispatch

PERMISSION = "ledger.retry_message"
MOST = 1000
"""Messages of one destination that are queued again at once, the oldest first."""


def replay(uid: UUID, *, actor: Actor, reason: str) -> None:
    """Queue one message again.

    Raises NotPermitted, ReasonMissing, NoSuchMessage, NotGivenUp. A refusal is recorded.
    """
    try:
        with transaction.atomic():
            message = Message.objects.select_for_update(no_key=True).filter(uid=uid).first()
            if message is None:
                raise errors.NoSuchMessage
            _replay([message], actor, reason)
    except (errors.LedgerError, people.AccountsError) as refusal:
        _refused(str(uid), actor, refusal)
        raise


def replay_all(destination: str, *, actor: Actor, reason: str) -> int:
    """Queue again all that was given up for one destination, such as after an outage; how many.

    Raises NotPermitted, ReasonMissing. A refusal is recorded.
    """
    try:
        with transaction.atomic():
            found = Message.objects.select_for_update(no_key=True, skip_locked=True).filter(
                status=MessageStatus.DEAD, destination=destination
            )
            return _replay(list(found.order_by("seq")[:MOST]), actor, reason)
    except (errors.LedgerError, people.AccountsError) as refusal:
        _refused(destination, actor, refusal)
        raise


def _replay(messages: list[Message], actor: Actor, reason: str) -> int:
    actors.require(actor, PERMISSION)
    if not reason.strip():
        raise errors.ReasonMissing
    for message in messages:
        if message.status != MessageStatus.DEAD:
            raise errors.NotGivenUp
        Message.objects.filter(pk=message.pk).update(
            status=MessageStatus.PENDING,
            closed_at=None,
            tries=0,
            claim=None,
            claimed_until=None,
            due_at=ClockTimestamp(),
        )
        trail.record(
            "message.retried",
            actor=actor,
            target=("message", str(message.uid)),
            run_id=message.run_id,
            reason=canonical.text(reason.strip()),
            data={"destination": message.destination, "error": message.error},
        )
    dispatch.call(adding.TASK)
    return len(messages)


def _refused(target: str, actor: Actor, refusal: Exception) -> None:
    trail.record_refused(
        "message.retry_refused", actor=actor, target=("message", target), reason=str(refusal)
    )
