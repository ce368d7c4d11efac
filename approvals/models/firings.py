"""Firings: what the clock did to an open request."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now

from accounts.speech import later as _
from approvals.models.requests import Request


class Firing(models.Model):
    """What the clock did to an open request, once: a reminder, an escalation, an alert."""

    class Kind(models.TextChoices):
        REMINDER = "reminder", _("Reminded")
        ESCALATION = "escalation", _("Escalated")
        NOBODY = "nobody", _("Nobody can decide")

    request = models.ForeignKey(Request, on_delete=models.PROTECT, related_name="firings")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    number = models.IntegerField(default=1)
    """Of the reminder or step in the policy as of then."""
    group = models.CharField(max_length=150, blank=True, default="")
    """That joined."""
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(
                fields=("request", "kind", "number"), name="approvals_firing_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.number}"
