"""Messages to others, and how fast they are sent."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from audit.models import ClockTimestamp
from ledger import status
from runs.models import Run, new_id


class Message(models.Model):
    """Something to be told to somebody outside, written where it became true and sent later."""

    seq = models.BigAutoField(primary_key=True)
    """The order in which messages of one `order_key` go out."""
    uid = models.UUIDField(unique=True, default=new_id, editable=False)
    """The receiver gets it, and knows a repeat by it."""
    destination = models.CharField(max_length=100)
    payload = models.JSONField()
    dedupe = models.CharField(max_length=400)
    """One message per destination and key, however often it is added."""
    order_key = models.CharField(max_length=200, blank=True, default="")
    """Messages with the same one go out one after another; empty: in any order."""
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.PROTECT, related_name="messages"
    )
    """The run whose agent added it; empty if Signalbox itself did."""
    status = models.CharField(
        max_length=10, choices=status.MessageStatus.choices, default=status.MessageStatus.PENDING
    )
    due_at = models.DateTimeField(db_default=ClockTimestamp())
    """Not sent before."""
    tries = models.IntegerField(default=0)
    """Claims since it was added or queued again."""
    claim = models.UUIDField(null=True, blank=True)
    """Guards what its dispatcher says of it: only who claimed it last may say that it failed."""
    claimed_by = models.CharField(max_length=200, blank=True, default="")
    claimed_until = models.DateTimeField(null=True, blank=True)
    """After that, whoever comes may send it: its dispatcher is taken for dead."""
    error = models.CharField(max_length=500, blank=True, default="")
    """Why it was not sent the last time."""
    created_at = models.DateTimeField(db_default=ClockTimestamp())
    closed_at = models.DateTimeField(null=True, blank=True)
    """When it was sent or given up."""

    class Meta:
        default_permissions = ("view",)
        permissions = (("retry_message", "Can queue a message again that was given up"),)
        constraints = (
            models.UniqueConstraint(
                fields=("destination", "dedupe"), name="ledger_message_once_per_key"
            ),
            models.CheckConstraint(
                name="ledger_message_pending_or_closed",
                condition=Q(status=status.MessageStatus.PENDING, closed_at__isnull=True)
                | (~Q(status=status.MessageStatus.PENDING) & Q(closed_at__isnull=False)),
            ),
        )
        indexes = (
            models.Index(
                fields=("due_at", "seq"),
                name="ledger_message_due",
                condition=Q(status=status.MessageStatus.PENDING),
            ),
            models.Index(
                fields=("destination", "order_key", "seq"),
                name="ledger_message_in_order",
                condition=Q(status=status.MessageStatus.PENDING) & ~Q(order_key=""),
            ),
            models.Index(fields=("status", "-closed_at", "-seq"), name="ledger_message_closed"),
        )

    def __str__(self) -> str:
        return f"{self.destination} {self.uid}"


class Pace(models.Model):
    """A destination of the outbox that is served at a pace, or wants to be left alone."""

    destination = models.CharField(primary_key=True, max_length=100)
    next_at = models.DateTimeField()
    """Nothing is sent there before."""

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.destination
