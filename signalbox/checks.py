"""What the environment says in vain, told by `manage.py check` and `manage.py doctor`."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import checks


def variables_are_known(**_: Any) -> list[checks.CheckMessage]:
    """A variable that begins like one of ours, and is none, is most likely misspelt."""
    return [
        checks.Warning(
            f"{name} is set in the environment, but nothing is called so",
            hint=f"Did you mean {near}? Rename it, or take it out."
            if near
            else "Take it out: signalbox/settings.py lists what there is.",
            id="signalbox.W001",
        )
        for name, near in settings.UNKNOWN_VARIABLES.items()
    ]


def the_webhook_of_the_audit_log_exists(**_: Any) -> list[checks.CheckMessage]:
    """AUDIT_WEBHOOK names a destination, not an address: addresses are secrets."""
    if not settings.AUDIT_WEBHOOK or settings.AUDIT_WEBHOOK in settings.LEDGER_WEBHOOKS:
        return []
    return [
        checks.Error(
            f"AUDIT_WEBHOOK is {settings.AUDIT_WEBHOOK}, but LEDGER_WEBHOOKS has no such name",
            hint="Add the name and its address there, or correct it.",
            id="signalbox.E001",
        )
    ]


def all_machines_sign_with_one_key(**_: Any) -> list[checks.CheckMessage]:
    """A database of its own may have several machines, and each would make itself a key."""
    if settings.AUDIT_KEY_IS_GIVEN or not settings.DATABASE_URL:
        return []
    return [
        checks.Warning(
            "AUDIT_SIGNING_KEY is not set, so each state folder has a key of its own, and what one"
            " machine signs is not proved on another",
            hint="Make one with manage.py audit_key --new, and give it to all processes.",
            id="signalbox.W002",
        )
    ]
