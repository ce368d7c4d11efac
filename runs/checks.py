"""Start-up checks: what must hold before a process may drive runs.

Settings are checked by Django's system checks in every command; `require_fit_to_drive` is called
by a worker before it takes its first run, and by the doctor.
"""

from __future__ import annotations

import inspect
from typing import Any, TypedDict

from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import UnknownInterruptError
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from runs import checkpoints, ports, registry
from runs.driver import STRICT


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
    """The classes behind RUNS_APPROVALS and RUNS_LEDGER have the methods that the driver calls."""
    problems: list[CheckMessage] = []
    for setting, protocol in (("RUNS_APPROVALS", ports.Approvals), ("RUNS_LEDGER", ports.Ledger)):
        named = getattr(settings, setting)
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


class _State(TypedDict):
    said: str


def _ask(state: _State) -> _State:
    return {"said": interrupt("?")}


def strict_resume_works() -> bool:
    """Whether the installed LangGraph refuses an answer to a question that nobody asks.

    The switch is private and older versions ignore it silently, so it is tried, not read.
    """
    builder = StateGraph(_State)
    builder.add_node("ask", _ask)
    builder.add_edge(START, "ask")
    graph = builder.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "strict", STRICT: True}}
    graph.invoke({"said": ""}, config)
    try:
        graph.invoke(Command(resume={"0" * 32: "nobody asked"}), config)
    except UnknownInterruptError:
        return True
    return False


def require_fit_to_drive() -> None:
    """Raise the reason why this process must not drive; load every agent's graph on the way.

    Raises UnfitGraph, SaverNotReady, ImproperlyConfigured.
    """
    if not strict_resume_works():
        raise ImproperlyConfigured(
            "The installed LangGraph ignores strict resume, so an answer could reach the wrong"
            " question. Install the version that Signalbox pins."
        )
    checkpoints.require_ready()
    for name in registry.declarations():
        registry.load(name)
