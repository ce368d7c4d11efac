"""Django's entry for the runs app: checkpoint tables at deploy, time-outs on every connection."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.core.checks import register
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate
from django.utils.module_loading import import_string


class RunsConfig(AppConfig):
    name = "runs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(set_up_checkpoints, sender=self, dispatch_uid="runs.checkpoints")
        connection_created.connect(limit_transactions, dispatch_uid="runs.limit_transactions")
        # By name, because models cannot be imported while Django loads this file.
        for check in ("settings_fit", "ports_fit", "agents_declared"):
            register(import_string(f"runs.checks.{check}"))


def set_up_checkpoints(**_: Any) -> None:
    import_string("runs.checkpoints.setup")()


def limit_transactions(*, connection: Any, **_: Any) -> None:
    """End transactions whose process is frozen: they hold locks that a taker needs."""
    if connection.vendor == "postgresql" and connection.pg_version >= 170000:
        with connection.cursor() as cursor:
            cursor.execute("SET transaction_timeout = '120s'")
