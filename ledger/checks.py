"""Start-up checks: what must hold of the LEDGER_* settings."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.utils.module_loading import import_string


def settings_fit(**_: Any) -> list[CheckMessage]:
    """Values without which no effect could be performed."""
    zero = timedelta(0)
    problems: list[CheckMessage] = []
    if zero >= settings.LEDGER_CALL_TIMEOUT:
        problems.append(Error("LEDGER_CALL_TIMEOUT must be above zero.", id="ledger.E001"))
    problems += [
        Error(f"{name} must be at least 1.", id="ledger.E002")
        for name in ("LEDGER_TRIES", "LEDGER_REFUSALS")
        if getattr(settings, name) < 1
    ]
    if zero >= settings.LEDGER_BACKOFF:
        problems.append(Error("LEDGER_BACKOFF must be above zero.", id="ledger.E003"))
    if settings.LEDGER_RESULT_LIMIT < 1024:
        problems.append(Error("LEDGER_RESULT_LIMIT must be at least 1024.", id="ledger.E004"))
    return problems


def permits_fit(**_: Any) -> list[CheckMessage]:
    """The class behind LEDGER_PERMITS has the method that the ledger calls."""
    named = settings.LEDGER_PERMITS
    try:
        found = import_string(named)
    except ImportError as exc:
        return [Error(f"LEDGER_PERMITS = {named!r}: {exc}", id="ledger.E005")]
    if not callable(getattr(found, "find", None)):
        return [Error(f"{named} lacks find.", id="ledger.E006")]
    return []
