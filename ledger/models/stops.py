"""Emergency stops."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from accounts.speech import later as _


class Stop(models.Model):
    """An emergency stop: no effect is started while it is on."""

    class Scope(models.TextChoices):
        EVERYTHING = "everything", _("Everything")
        AGENT = "agent", _("One agent")
        TOOL = "tool", _("One tool")

    scope = models.CharField(max_length=12, choices=Scope.choices)
    name = models.CharField(max_length=200, blank=True, default="")
    reason = models.TextField()
    set_by = models.CharField(max_length=200)
    set_by_user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    set_at = models.DateTimeField(db_default=Now())
    lifted_by = models.CharField(max_length=200, blank=True, default="")
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_reason = models.TextField(blank=True, default="")

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(
                fields=("scope", "name"),
                condition=Q(lifted_at__isnull=True),
                name="ledger_stop_one_on",
            ),
        )

    def __str__(self) -> str:
        return f"{self.scope} {self.name}".strip()
