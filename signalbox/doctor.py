"""Is everything in order? One finding per part, each with what to do if it is not.

Reads only. A part that cannot be asked is a finding, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import kombu
from django.conf import settings
from django.core import checks
from django.db import OperationalError, connection
from kombu.exceptions import KombuError
from psycopg import Error as PostgresError

from accounts import clock
from audit import queries
from audit.models import ClockTimestamp
from ledger.inventory import findings
from ledger.models import Effect, Message
from ledger.status import MessageStatus
from ledger.status import Status as EffectStatus
from runs import checkpoints, errors, graphs, registry, sweeper, workers
from runs.fitness import checkpoints_are_data, strict_resume_works
from runs.models import Lease, Pulse, Run, Worker
from runs.status import Status
from signalbox import words

LATE = timedelta(minutes=5)
"""Messages that are due for longer say that no dispatcher is at work."""
OLDEST_SERVER = 140000
BROKER_TIMEOUT = 3
"""Seconds."""
MANAGE = ".venv/bin/python manage.py"
CELERY = ".venv/bin/celery -A signalbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What is the matter with one part; `todo` is empty if it is in order."""

    part: str
    says: str
    todo: str = ""

    @property
    def ok(self) -> bool:
        return not self.todo


def examine() -> Iterator[Finding]:
    """Every part in turn; the database first, without which the rest cannot be asked."""
    first = _asked("database", _database)
    yield first
    parts: list[tuple[str, Callable[[], Finding]]] = [
        ("settings", _settings),
        ("strict resume", _strict_resume),
        ("checkpoints", _checkpoints),
        ("agents", _agents),
        ("tools", _tools),
        ("broker", _broker),
    ]
    if first.ok:
        parts += [
            ("saver tables", _saver),
            ("workers", _workers),
            ("beat", _beat),
            ("leases", _leases),
            ("effects", _effects),
            ("outbox", _outbox),
            ("audit log", _audit),
        ]
    for part, ask in parts:
        yield _asked(part, ask)


def _asked(part: str, ask: Callable[[], Finding]) -> Finding:
    try:
        return ask()
    except Exception as exc:
        return Finding(
            part=part, says=_first_line(exc), todo="Look at the error and at the settings."
        )


def _first_line(exc: Exception) -> str:
    return str(exc).partition("\n")[0] or type(exc).__name__


def _database() -> Finding:
    part = "database"
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version_num")
            version = int(cursor.fetchone()[0])
    except OperationalError as exc:
        where = "Start PostgreSQL, or correct DATABASE_URL"
        return Finding(
            part=part,
            says=_first_line(exc),
            todo=f"{where}." if settings.DATABASE_URL else f"{where}: it is not set.",
        )
    if version < OLDEST_SERVER:
        return Finding(part=part, says=f"version {version}", todo="Use PostgreSQL 14 or newer.")
    return Finding(part=part, says=f"PostgreSQL {version // 10000}.{version % 10000}")


def _settings() -> Finding:
    part = "settings"
    found = [message for message in checks.run_checks() if message.level >= checks.WARNING]
    if found:
        return Finding(part=part, says=str(found[0].msg), todo=found[0].hint or "Correct it.")
    return Finding(part=part, says="no complaint")


def _strict_resume() -> Finding:
    part = "strict resume"
    if strict_resume_works():
        return Finding(part=part, says="an answer to no question is refused")
    return Finding(
        part=part,
        says="LangGraph accepts an answer to a question that nobody asks",
        todo="Install the version of LangGraph that Signalbox pins.",
    )


def _checkpoints() -> Finding:
    part = "checkpoints"
    if checkpoints_are_data():
        return Finding(part=part, says="make nothing but data and the classes of the graphs")
    return Finding(
        part=part,
        says="may make objects of any class, for whoever can write to their tables",
        todo="Set LANGGRAPH_STRICT_MSGPACK=true, or do not set it, for workers and web.",
    )


def _agents() -> Finding:
    part = "agents"
    try:
        names = [graphs.load(name).declared.name for name in registry.declarations()]
    except errors.RunsError as exc:
        return Finding(part=part, says=str(exc), todo="Correct the graph or RUNS_AGENTS.")
    return Finding(part=part, says=", ".join(names) or "none registered")


def _tools() -> Finding:
    part = "tools"
    found = findings.survey()
    silent = findings.undeclared(found)
    if silent:
        named = ", ".join(f"{each.name} ({each.place})" for each in silent)
        return Finding(
            part=part,
            says=f"neither @effect nor @reads: {named}",
            todo="Declare them, or name those that only read in LEDGER_READS.",
        )
    return Finding(part=part, says=f"{_counted(len(found), 'tool')}, all declared")


def _broker() -> Finding:
    part = "broker"
    try:
        with kombu.Connection(settings.CELERY_BROKER_URL, connect_timeout=BROKER_TIMEOUT) as broker:
            broker.ensure_connection(max_retries=1, timeout=BROKER_TIMEOUT)
    except (OSError, KombuError) as exc:
        return Finding(
            part=part,
            says=_first_line(exc),
            todo="Start the broker, or correct BROKER_URL. Runs are safe.",
        )
    return Finding(part=part, says="answers")


def _saver() -> Finding:
    part = "saver tables"
    try:
        checkpoints.require_ready()
    except (errors.SaverNotReady, PostgresError) as exc:
        return Finding(part=part, says=_first_line(exc), todo=f"Run {MANAGE} migrate")
    return Finding(part=part, says=f"version {checkpoints.VERSION}")


def _workers() -> Finding:
    part = "workers"
    alive = Worker.objects.filter(
        seen_at__gt=ClockTimestamp() - workers.alive_for(), draining=False
    )
    driving = [worker.name for worker in alive if worker.agents]
    if not driving:
        return Finding(
            part=part,
            says="none is alive",
            todo=f"Start one: {CELERY} worker -Q runs -n worker-1@%h",
        )
    return Finding(part=part, says=f"{len(driving)} alive: {', '.join(driving)}")


def _beat() -> Finding:
    part = "beat"
    pulse = Pulse.objects.filter(name="sweeper").annotate(now=ClockTimestamp()).first()
    todo = (
        "Without beat and a worker on the queue sweep nothing is found again. Start them:"
        f" {CELERY} beat & {CELERY} worker -Q sweep -c 1 -n sweeper@%h"
    )
    if pulse is None:
        return Finding(part=part, says="the sweeper has never run", todo=todo)
    age: timedelta = pulse.now - pulse.at
    if age.total_seconds() > 10 * settings.CELERY_BEAT_SCHEDULE["sweep"]["schedule"]:
        return Finding(part=part, says=_ran(pulse.at, pulse.now), todo=todo)
    if pulse.note.get("failed"):
        failed = ", ".join(pulse.note["failed"])
        return Finding(part=part, says=f"rules failed: {failed}", todo="See the sweeper's log.")
    return Finding(part=part, says=_ran(pulse.at, pulse.now))


def _ran(at: datetime, now: datetime) -> str:
    return f"the sweeper ran {words.relative(at, now)}"


def _leases() -> Finding:
    part = "leases"
    stuck = Run.objects.filter(status=Status.RUNNING).exclude(
        lease__in=Lease.objects.filter(expires_at__gt=ClockTimestamp())
    )
    count, due = stuck.count(), len(sweeper.find_due())
    if count:
        return Finding(
            part=part,
            says=f"{_counted(count, 'run')} {'is' if count == 1 else 'are'} stuck",
            todo="If they stay so, start workers; see the page Workers.",
        )
    wait = "waits" if due == 1 else "wait"
    return Finding(part=part, says=f"no run is stuck; {_counted(due, 'run')} {wait} for a worker")


def _counted(count: int, thing: str, things: str = "") -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {things or f'{thing}s'}"


def _effects() -> Finding:
    part = "effects"
    count = Effect.objects.filter(status=EffectStatus.IN_DOUBT).count()
    if count:
        return Finding(part=part, says=f"{count} in doubt", todo="Settle them on the page Ledger.")
    return Finding(part=part, says="none in doubt")


def _outbox() -> Finding:
    part = "outbox"
    waiting = Message.objects.filter(status=MessageStatus.PENDING)
    late = waiting.filter(due_at__lt=ClockTimestamp() - LATE, tries=0).count()
    if late:
        return Finding(
            part=part,
            says=f"{_counted(late, 'message')} {'is' if late == 1 else 'are'} late",
            todo=f"Start what sends them: {CELERY} worker -Q sweep -c 1 -n sweeper@%h",
        )
    dead = Message.objects.filter(status=MessageStatus.DEAD).count()
    if dead:
        return Finding(
            part=part,
            says=f"{_counted(dead, 'message')} given up",
            todo="See why on the page Ledger, Outbox, and send them again.",
        )
    count = waiting.count()
    wait = "waits" if count == 1 else "wait"
    return Finding(part=part, says=f"{_counted(count, 'message')} {wait}, none was given up")


def _audit() -> Finding:
    part, standing = "audit log", queries.standing()
    anchored = standing.anchored
    where = f"anchored at place {anchored.seq}" if anchored else "not anchored yet"
    if standing.late:
        return Finding(
            part=part,
            says=f"{_counted(standing.unsealed, 'entry', 'entries')} waited too long to be sealed",
            todo=f"Start beat, and {CELERY} worker -Q sweep -c 1 -n sweeper@%h",
        )
    if standing.disproved:
        found = f"Look with {MANAGE} verify_audit, and keep the database as it is."
        return Finding(part=part, says="the last proof found that it was changed", todo=found)
    if standing.overdue:
        return Finding(
            part=part,
            says=f"not proved for two days, {where}",
            todo=f"Start beat and a worker on the queue sweep, or run {MANAGE} verify_audit"
            " --record",
        )
    says = (
        f"proved {words.relative(standing.proof.at, clock.now())}"
        if standing.proof
        else "not proved yet"
    )
    return Finding(part=part, says=f"{says}, {where}")
