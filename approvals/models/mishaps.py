"""What went wrong after an approval, as somebody said later."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from approvals import status
from approvals.models.requests import Request


class Mishap(models.Model):
    """Somebody's word that what was approved went wrong. Only grows: a trigger refuses changes."""

    request = models.ForeignKey(Request, on_delete=models.PROTECT, related_name="mishaps")
    severity = models.CharField(max_length=6, choices=status.Severity.choices)
    note = models.TextField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="mishaps"
    )
    by_label = models.CharField(max_length=200)
    token = models.CharField(max_length=64)
    """Of the form that was sent: the same token of this person again is the same word."""
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        permissions = (("report_mishap", "Can say that something approved went wrong"),)
        constraints = (
            models.UniqueConstraint(fields=("by", "token"), name="approvals_mishap_token"),
        )

    def __str__(self) -> str:
        return f"{self.severity}: {self.note[:60]}"


class Withdrawal(models.Model):
    """That a mishap was none after all. Only grows as well."""

    mishap = models.OneToOneField(Mishap, on_delete=models.PROTECT, related_name="withdrawal")
    reason = models.TextField()
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="mishap_withdrawals"
    )
    by_label = models.CharField(max_length=200)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"withdrawn: {self.reason[:60]}"
