"""What providers said when they were asked."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from ledger import status
from ledger.models.effects import Effect


class Look(models.Model):
    """One time the provider was asked whether an effect had happened, and what it said."""

    effect = models.ForeignKey(
        Effect, on_delete=models.PROTECT, related_name="looks", db_column="idempotency_key"
    )
    provider_key = models.CharField(max_length=520)
    attempt = models.IntegerField()
    """Number of the last attempt at that time."""
    answer = models.CharField(max_length=10, choices=status.Answer.choices)
    counts = models.BooleanField()
    """Late enough for a "no" to be believed: nothing can be on its way any more."""
    provider_ref = models.CharField(max_length=300, blank=True, default="")
    error = models.TextField(blank=True, default="")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = (models.Index(fields=("effect", "at"), name="ledger_look_by_effect"),)

    def __str__(self) -> str:
        return f"{self.effect_id} {self.answer}"
