"""Versions of the policies."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class PolicyVersion(models.Model):
    """All policies as somebody left them. Only grows: a trigger refuses UPDATE and DELETE."""

    number = models.IntegerField(primary_key=True)
    policies = models.JSONField()
    """In the order in which they are tried, the default last: see `policies.rule.Policy`."""
    what = models.CharField(max_length=300)
    """What was changed, in words."""
    reason = models.TextField(blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="policy_versions",
    )
    by_label = models.CharField(max_length=200)
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        permissions = (("change_policy", "Can change the policies of approvals"),)

    def __str__(self) -> str:
        return f"{self.number} {self.what}"
