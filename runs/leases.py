"""Leases: who may drive a run, until when.

1. Only the database's clock decides, read after the row is locked.
2. Taking raises the fence, sets the run running, closes the former attempt as lost and opens a new
   one, in one transaction.
3. A lease is never stolen back: renewing needs the same fence and an unexpired lease.
4. A taker waits at most half a second for a writer that blocks an expired lease, then ends that
   writer's connection: a process frozen in a transaction must not make a run unreachable.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import OperationalError, connection, connections, transaction
from django.utils.translation import gettext_noop as noop
from psycopg import errors as pg

from accounts.actors import Actor
from audit import canonical, trail
from audit.models import ClockTimestamp
from runs import errors, killpoints, models, statements, status
from runs.authority import Lease
from runs.moves import Failure

logger = logging.getLogger(__name__)

PATIENCE = 0.5
"""Seconds that a taker waits before it ends whoever blocks an expired lease."""
TAKEN_OVER = noop("taken over")
"""The cause that `take_lease.sql` and `take_ended.sql` write where a lease was lost."""
LONGEST_WAIT = "2s"
"""How long a taker waits at all. A busy machine may take a second to end somebody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a driver sees before it reads the head."""

    held: bool
    wakes: int
    cancel_asked: bool
    ask_again: bool
    asked: bool
    """It has waited for a person at some time."""
    saved: bool
    """A checkpoint of this run was saved at some time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A lease just taken, and what the taker learned on the way."""

    lease: Lease
    agent: str
    version: str
    look: Look
    due_at: datetime | None
    """When the retry of an error is due that was not due yet."""
    taken_at: float
    """On this process's monotonic clock, just before the lease was taken."""
    lost_fence: int | None
    """The fence of the attempt that was found open, so its worker is lost."""
    input: object
    """What the run starts with; None once a checkpoint was saved."""


def take(run_id: UUID, *, holder: str, cause: str) -> Taken | None:
    """Take the lease if the run has something to do and nobody drives it; None otherwise."""
    try:
        return statements.fresh(lambda: _take_at_once(run_id, holder, cause))
    except OperationalError as exc:
        if not isinstance(exc.__cause__, pg.LockNotAvailable):
            raise
    return statements.fresh(lambda: _take_over(run_id, holder, cause))


def _take_at_once(run_id: UUID, holder: str, cause: str) -> Taken | None:
    with transaction.atomic():
        return _take(run_id, holder, cause, nowait=True)


def _take(run_id: UUID, holder: str, cause: str, *, nowait: bool) -> Taken | None:
    lock = statements.read("runs", "lock_due") + ("NOWAIT" if nowait else "")
    found = statements.one(lock, {"run_id": run_id})
    if found is None:
        return None
    agent, version, granted, due_at, wakes, cancel_asked, ask_again, asked = found
    before = time.monotonic()  # after the wait for the locks: the lease runs from here
    row = statements.one(
        statements.read("runs", "take_lease"),
        {
            "run_id": run_id,
            "holder": holder,
            "cause": cause,
            "ttl": settings.RUNS_LEASE,
            "granted_fence": granted,
        },
    )
    if row is None:
        raise AssertionError("a run that is locked has a lease")
    fence, saved, lost_fence, given = row
    if lost_fence is not None:
        _record_takeover(run_id, holder, lost_fence)
    return Taken(
        lease=Lease(run_id=run_id, fence=fence, holder=holder),
        agent=agent,
        version=version,
        look=Look(
            held=True,
            wakes=wakes,
            cancel_asked=cancel_asked,
            ask_again=ask_again,
            asked=asked,
            saved=saved,
        ),
        due_at=due_at,
        taken_at=before,
        lost_fence=lost_fence,
        input=None if given is None else json.loads(given),
    )


def _record_takeover(run_id: UUID, holder: str, lost_fence: int) -> None:
    lost = models.Attempt.objects.filter(run_id=run_id, fence=lost_fence).values_list("holder")
    trail.record(
        "run.taken_over",
        actor=Actor.system(holder),
        target=("run", str(run_id)),
        run_id=run_id,
        data={"from": lost[0][0], "lost_fence": lost_fence},
    )


def _take_over(run_id: UUID, holder: str, cause: str) -> Taken | None:
    """Somebody has the rows locked: wait for them, and end them if the lease has expired."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('lock_timeout', %s, true), pg_backend_pid()", [LONGEST_WAIT]
            )
            waiting = cursor.fetchone()[1]
            with _watch(run_id, waiting):
                return _take(run_id, holder, cause, nowait=False)
    except OperationalError as exc:
        if not isinstance(exc.__cause__, pg.LockNotAvailable):
            raise
    return None


@contextmanager
def _watch(run_id: UUID, waiting: int) -> Iterator[None]:
    """Each time PATIENCE has passed, end whoever blocks backend `waiting` from an expired lease."""
    done = threading.Event()

    def watch() -> None:
        try:
            while not done.wait(PATIENCE):
                try:
                    _end_blockers(run_id, waiting)
                except OperationalError as exc:  # a migration holds the leases, say
                    logger.warning("run %s: cannot look who blocks its lease: %s", run_id, exc)
        finally:
            connections.close_all()  # this thread's own

    watcher = threading.Thread(target=watch, name="lease-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _end_blockers(run_id: UUID, waiting: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "end_blockers"), {"run_id": run_id, "waiting": waiting}
        )
        for pid, ended in cursor.fetchall():
            logger.warning(
                "run %s: ended backend %s (%s) that blocked an expired lease", run_id, pid, ended
            )


def lock(lease: Lease) -> int:
    """Inside a transaction: lock run and lease for their present driver and return the run's wakes.

    Raises LeaseLost if the fence has moved on or the lease has expired.
    """
    killpoints.reach("lease.locking", lease.run_id)
    found = statements.one(
        statements.read("runs", "lock_held"), {"run_id": lease.run_id, "fence": lease.fence}
    )
    killpoints.reach("lease.locked", lease.run_id)
    if found is None:
        raise errors.LeaseLost
    wakes: int = found[0]
    return wakes


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an attempt ends, and how the run rests then."""

    outcome: status.Outcome
    rests_as: status.Status
    """What the run is then."""
    seen_wakes: int
    """Of the run's wakes, those that the attempt has looked at."""
    head: str = ""
    detail: str = ""
    failure: Failure | None = None
    park: status.Park | None = None
    park_detail: str = ""
    due_at: datetime | None = None
    due_in: timedelta | None = None
    """When the run is looked at again; at most one of the two."""
    wait_until: datetime | None = None
    output: object = None


def give_back(lease: Lease, ending: Ending) -> None:
    """Inside the transaction that has called `lock`: rest, free the lease, close the attempt."""
    failure = ending.failure
    error_class, error = (failure.error_class[:200], failure.error) if failure else ("", "")
    failed = ending.rests_as is status.Status.FAILED
    due_in = None if ending.due_in is None else ending.due_in.total_seconds()
    statements.one(
        statements.read("runs", "give_back"),
        {
            "run_id": lease.run_id,
            "fence": lease.fence,
            "outcome": ending.outcome.value,
            "detail": canonical.text(ending.detail)[:300],
            "head": ending.head,
            "error_class": error_class,
            "error": error,
            "failure": json.dumps(failure.stored()) if failure else None,
            "status": ending.rests_as.value,
            "ended": ending.rests_as in status.ENDED,
            "asked": ending.rests_as is status.Status.WAITING,
            "seen_wakes": ending.seen_wakes,
            "park": ending.park.value if ending.park else "",
            "park_detail": canonical.text(ending.park_detail),
            "due_at": ending.due_at,
            "due_in": due_in,
            "wait_until": ending.wait_until,
            "output": None if ending.output is None else json.dumps(ending.output),
            "run_error_class": error_class if failed else "",
            "run_error": error if failed else "",
        },
    )


def live_holder(run_id: UUID) -> str:
    """Who holds an unexpired lease of the run now; empty if nobody does."""
    live = models.Lease.objects.filter(pk=run_id, expires_at__gt=ClockTimestamp())
    return live.values_list("holder", flat=True).first() or ""


def look(lease: Lease) -> Look:
    """Whether the lease is still held, and the facts of the run that may have changed meanwhile."""
    found = statements.one(
        statements.read("runs", "look"), {"run_id": lease.run_id, "fence": lease.fence}
    )
    if found is None:
        raise errors.LeaseLost
    held, wakes, cancel_asked, ask_again, asked, saved = found
    return Look(
        held=held,
        wakes=wakes,
        cancel_asked=cancel_asked,
        ask_again=ask_again,
        asked=asked,
        saved=saved,
    )
