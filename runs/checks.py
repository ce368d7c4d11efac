"""Django's system checks of the runs app: the settings, and the classes that they name.

What a process that drives must prove besides is in `runs.fitness`.
"""

from __future__ import annotations

import inspect
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from runs import ports, registry


def settings_fit(**_: Any) -> list[CheckMessage]:
    """Relations between the RUNS_* settings."""
    problems: list[CheckMessage] = []
    lease, beat, margin = settings.RUNS_LEASE, settings.RUNS_HEARTBEAT, settings.RUNS_LEASE_MARGIN
    if beat > lease / 3:
        problems.append(
            Error(
                f"RUNS_HEARTBEAT ({beat}) is more than a third of RUNS_LEASE ({lease}).",
                hint="One lost heartbeat would cost the lease. Shorten the heartbeat.",
                id="runs.E001",
            )
        )
    if not lease * 0 < margin < lease - beat:
        problems.append(
            Error(
                f"RUNS_LEASE_MARGIN ({margin}) must be above zero and less than the lease minus"
                f" one heartbeat ({lease - beat}).",
                id="runs.E002",
            )
        )
    problems += [
        Error(f"{name} must be at least 1.", id="runs.E003")
        for name in ("RUNS_CRASH_LIMIT", "RUNS_TRIES", "RUNS_RECURSION_LIMIT")
        if getattr(settings, name) < 1
    ]
    options = settings.DATABASES["default"].get("OPTIONS", {}).get("options", "")
    problems += [
        Error(
            f"The database connection sets no {name}.",
            hint="Add it to OPTIONS['options'] of DATABASES['default'].",
            id="runs.E004",
        )
        for name in ("lock_timeout", "idle_in_transaction_session_timeout")
        if name not in options
    ]
    return problems


def ports_fit(**_: Any) -> list[CheckMessage]:
    """The classes named in settings have the methods that the driver and the pages call."""
    problems: list[CheckMessage] = []
    ports_named = [
        ("RUNS_APPROVALS", settings.RUNS_APPROVALS, ports.Approvals),
        ("RUNS_LEDGER", settings.RUNS_LEDGER, ports.Ledger),
        ("RUNS_MASKS", settings.RUNS_MASKS, ports.Masks),
        *(("RUNS_STORIES", named, ports.Story) for named in settings.RUNS_STORIES),
    ]
    for setting, named, protocol in ports_named:
        try:
            found = import_string(named)
        except ImportError as exc:
            problems.append(Error(f"{setting} = {named!r}: {exc}", id="runs.E005"))
            continue
        wanted = [name for name, _ in inspect.getmembers(protocol, inspect.isfunction)]
        missing = [
            name for name in wanted if name[0] != "_" and not callable(getattr(found, name, None))
        ]
        if missing:
            problems.append(Error(f"{named} lacks {', '.join(missing)}.", id="runs.E006"))
    return problems


def agents_declared(**_: Any) -> list[CheckMessage]:
    """RUNS_AGENTS can be read. The graphs themselves are loaded by workers only."""
    try:
        registry.declarations()
    except (ImproperlyConfigured, TypeError) as exc:
        return [Error(str(exc), id="runs.E007")]
    return []
