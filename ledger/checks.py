"""Start-up checks: what must hold of the LEDGER_* settings."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.utils.module_loading import import_string

SHORTEST_CLAIM = timedelta(seconds=30)


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
    problems += [
        Error(f"{name} must be at least 1024.", id="ledger.E004")
        for name in ("LEDGER_RESULT_LIMIT", "LEDGER_ARGS_LIMIT")
        if getattr(settings, name) < 1024
    ]
    if settings.LEDGER_OUTBOX_TRIES < 1 or zero >= settings.LEDGER_OUTBOX_BACKOFF:
        problems.append(
            Error(
                "LEDGER_OUTBOX_TRIES must be at least 1, LEDGER_OUTBOX_BACKOFF above zero.",
                id="ledger.E007",
            )
        )
    if settings.LEDGER_OUTBOX_CLAIM < SHORTEST_CLAIM:
        problems.append(
            Error(
                "LEDGER_OUTBOX_CLAIM must be longer than any receiver may take to answer:"
                f" at least {SHORTEST_CLAIM.total_seconds():.0f} seconds.",
                id="ledger.E008",
            )
        )
    return problems


def destinations_fit(**_: Any) -> list[CheckMessage]:
    """Every handler of LEDGER_DESTINATIONS can be imported, and no name is given twice."""
    problems: list[CheckMessage] = []
    for name, handler in settings.LEDGER_DESTINATIONS.items():
        try:
            import_string(handler)
        except ImportError as exc:
            problems.append(Error(f"LEDGER_DESTINATIONS, {name}: {exc}", id="ledger.E009"))
    problems += [
        Error(f"{name} is in LEDGER_DESTINATIONS and in LEDGER_WEBHOOKS.", id="ledger.E010")
        for name in sorted(set(settings.LEDGER_DESTINATIONS) & set(settings.LEDGER_WEBHOOKS))
    ]
    known = set(settings.LEDGER_DESTINATIONS) | set(settings.LEDGER_WEBHOOKS)
    problems += [
        Error(f"LEDGER_OUTBOX_PACES, {name}: there is no such destination.", id="ledger.E011")
        for name in sorted(set(settings.LEDGER_OUTBOX_PACES) - known)
    ]
    return problems


def hooks_fit(**_: Any) -> list[CheckMessage]:
    """Every reader of LEDGER_HOOKS can be imported, and no secret is for nobody."""
    problems: list[CheckMessage] = []
    for name, hook in settings.LEDGER_HOOKS.items():
        try:
            import_string(str(hook["read"]))
        except ImportError as exc:
            problems.append(Error(f"LEDGER_HOOKS, {name}: {exc}", id="ledger.E011"))
    problems += [
        Error(f"LEDGER_HOOK_SECRETS names {name}, which LEDGER_HOOKS lacks.", id="ledger.E012")
        for name in sorted(set(settings.LEDGER_HOOK_SECRETS) - set(settings.LEDGER_HOOKS))
    ]
    return problems


def ports_fit(**_: Any) -> list[CheckMessage]:
    """The classes behind the ports of the ledger have the methods that are called."""
    return [
        *_fits("LEDGER_PERMITS", settings.LEDGER_PERMITS, ("find",)),
        *_fits("LEDGER_SECRETS", settings.LEDGER_SECRETS, ("get",)),
        *_fits("LEDGER_GROUNDS", settings.LEDGER_GROUNDS, ("allowed_by", "of", "deciders")),
    ]


def _fits(setting: str, named: str, methods: tuple[str, ...]) -> list[CheckMessage]:
    try:
        found = import_string(named)
    except ImportError as exc:
        return [Error(f"{setting} = {named!r}: {exc}", id="ledger.E005")]
    missing = [name for name in methods if not callable(getattr(found, name, None))]
    return [Error(f"{named} lacks {', '.join(missing)}.", id="ledger.E006")] if missing else []
