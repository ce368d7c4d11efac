"""Django's entry for this app."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import register
from django.utils.module_loading import import_string


class LedgerConfig(AppConfig):
    name = "ledger"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # By name, because models cannot be imported while Django loads this file.
        for check in ("settings_fit", "ports_fit", "destinations_fit", "hooks_fit"):
            register(import_string(f"ledger.checks.{check}"))
