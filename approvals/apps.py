"""Django's entry for this app: it registers the check of the policies."""

from __future__ import annotations

from django.apps import AppConfig
from django.core import checks

from approvals.policies import declared


class ApprovalsConfig(AppConfig):
    name = "approvals"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        checks.register(declared.check)
