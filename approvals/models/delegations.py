"""Delegations: who stands in for whom."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Delegation(models.Model):
    """For a time, somebody stands in for somebody else who may decide."""

    absent = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="delegations"
    )
    stand_in = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="stands_in"
    )
    agents = ArrayField(models.CharField(max_length=200), default=list)
    """Patterns (`fnmatch`) of agents."""
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    reason = models.TextField()
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="delegations_made"
    )
    made_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)
    """Before its time."""
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="delegations_ended",
    )

    class Meta:
        default_permissions = ()
        permissions = (("delegate_request", "Can delegate decisions for somebody absent"),)
        constraints = (
            models.CheckConstraint(
                name="approvals_delegation_to_somebody_else",
                condition=~Q(absent=models.F("stand_in")),
            ),
            models.CheckConstraint(
                name="approvals_delegation_ends_after_it_starts",
                condition=Q(ends_at__gt=models.F("starts_at")),
            ),
        )
        indexes = (models.Index(fields=("stand_in", "ends_at"), name="approvals_delegation_for"),)

    def __str__(self) -> str:
        return f"{self.stand_in_id} for {self.absent_id}"
