"""Claims: who looks at a request now."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from approvals.models.requests import Request


class Claim(models.Model):
    """Somebody looks at a request. It informs others and expires; it keeps nobody from deciding."""

    request = models.ForeignKey(Request, on_delete=models.CASCADE, related_name="claims")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="claims"
    )
    at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = (
            models.UniqueConstraint(fields=("request", "user"), name="approvals_claim_one_each"),
        )

    def __str__(self) -> str:
        return f"{self.user_id} looks at {self.request_id}"
