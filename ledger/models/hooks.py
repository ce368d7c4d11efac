"""What providers told unasked."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from audit.models import ClockTimestamp
from ledger import status
from ledger.models.effects import Effect


class HookEvent(models.Model):
    """Something that a provider has told by webhook, kept so that a repeat changes nothing."""

    provider = models.CharField(max_length=100)
    event = models.CharField(max_length=200)
    """The provider's id of it."""
    kind = models.CharField(max_length=100)
    """The provider's word for what it tells, such as refund.updated."""
    heard = models.CharField(max_length=10, choices=status.Heard.choices)
    """What it meant for the ledger."""
    meaning = models.CharField(max_length=10, blank=True, default="")
    """How the effect ended, as the provider had it; empty: it says nothing of that."""
    told_at = models.DateTimeField(null=True, blank=True)
    """By the provider's clock."""
    effect = models.ForeignKey(
        Effect,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="hook_events",
        db_column="idempotency_key",
    )
    provider_ref = models.CharField(max_length=300, blank=True, default="")
    digest = models.CharField(max_length=64)
    """SHA-256 of the signed body."""
    times = models.IntegerField(default=1)
    """How often it was delivered."""
    at = models.DateTimeField(db_default=ClockTimestamp())

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("provider", "event"), name="ledger_hookevent_once"),
        )
        indexes = (
            models.Index(fields=("provider", "-at"), name="ledger_hookevent_newest"),
            models.Index(
                fields=("at",),
                name="ledger_hookevent_unmatched",
                condition=Q(heard=status.Heard.UNMATCHED),
            ),
        )

    def __str__(self) -> str:
        return f"{self.provider} {self.event}"


class HookRefusals(models.Model):
    """How many webhooks in the name of a provider were refused: anybody can send some."""

    provider = models.CharField(max_length=100, primary_key=True)
    count = models.BigIntegerField(default=0)
    why = models.CharField(max_length=300, blank=True, default="")
    """Of the last one."""
    at = models.DateTimeField(db_default=ClockTimestamp())
    told_at = models.DateTimeField(null=True, blank=True)
    """When the audit log was told last."""

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.provider} {self.count}"
