"""Django's entry for the project package: after every migration, the groups get their permissions."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from accounts import groups


class SignalboxConfig(AppConfig):
    name = "signalbox"

    def ready(self) -> None:
        post_migrate.connect(self._ensure_groups, sender=self, dispatch_uid="signalbox-groups")

    def _ensure_groups(self, *, using: str, **_: Any) -> None:
        groups.ensure(using)
