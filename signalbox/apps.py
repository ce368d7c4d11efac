"""Django's entry for the project package: after every migration, the groups get their rights."""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps
from django.core import checks
from django.db.models.signals import post_migrate
from django.utils.module_loading import import_string

from signalbox.celery import app as celery_app
from signalbox.checks import (
    all_machines_sign_with_one_key,
    the_webhook_of_the_audit_log_exists,
    variables_are_known,
)

__all__ = ["SignalboxConfig", "celery_app"]  # imported so that every process sends with our app


class SignalboxConfig(AppConfig):
    name = "signalbox"

    def ready(self) -> None:
        checks.register(variables_are_known)
        checks.register(the_webhook_of_the_audit_log_exists)
        checks.register(all_machines_sign_with_one_key, deploy=True)
        # post_migrate is sent once per app that has models, in the order of INSTALLED_APPS; each
        # time Django makes that app's permissions. The last app's turn is when all of them exist.
        last = [config for config in apps.get_app_configs() if config.models_module is not None][-1]
        post_migrate.connect(ensure_groups, sender=last, dispatch_uid="signalbox.ensure_groups")


def ensure_groups(*, using: str, **_: Any) -> None:
    # By name, because models cannot be imported while Django loads this file.
    import_string("accounts.groups.ensure")(using)
