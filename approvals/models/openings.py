"""That somebody who may decide a request has opened its page."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from approvals.models.requests import Request


class Opening(models.Model):
    """The first time that one person was shown the page of one open request they may decide."""

    request = models.ForeignKey(Request, on_delete=models.PROTECT, related_name="openings")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="openings"
    )
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        permissions = (("view_statistics", "Can see the statistics of approvers"),)
        constraints = (
            models.UniqueConstraint(fields=("request", "user"), name="approvals_opening_first"),
        )

    def __str__(self) -> str:
        return f"{self.user_id} opened {self.request_id}"
