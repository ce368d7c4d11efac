"""Who drives: workers, the leases they hold, what waits for them, and the parts that must run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, QuerySet

from accounts.models import User
from audit import queries as audit
from audit.models import ClockTimestamp
from runs import sweeper, visible, workers
from runs.models import Lease, Pulse, Run, Worker
from runs.status import State

MOST = 200
LATE = timedelta(minutes=1)
"""The sweeper, which runs every few seconds, is taken for dead when it is quiet for longer."""


ALIVE = State(
    value="alive",
    label="Alive",
    tone="ok",
    icon="check",
    sentence="The worker says regularly that it is there.",
)
DRAINING = State(
    value="draining",
    label="Draining",
    tone="neutral",
    icon="hourglass",
    sentence="The worker was asked to stop; its runs end at their next step.",
)
GONE = State(
    value="gone",
    label="Gone",
    tone="warn",
    icon="triangle",
    sentence="The worker stopped without saying so. Its runs are handed to others.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crew:
    """One worker as a page shows it."""

    worker: Worker
    state: State
    leases: int


def crews() -> list[Crew]:
    """Every worker that has not stopped in order, the longest serving first."""
    held = dict(
        Lease.objects.filter(expires_at__gt=ClockTimestamp())
        .values_list("holder")
        .annotate(Count("pk"))
    )
    found = Worker.objects.annotate(now=ClockTimestamp()).order_by("started_at")
    return [
        Crew(
            worker=worker,
            state=_state(worker, alive=worker.now - worker.seen_at < workers.alive_for()),
            leases=sum(count for holder, count in held.items() if _of(holder, worker)),
        )
        for worker in found[:MOST]
    ]


def _state(worker: Worker, *, alive: bool) -> State:
    if not alive:
        return GONE
    return DRAINING if worker.draining else ALIVE


def _of(holder: str, worker: Worker) -> bool:
    return holder.rpartition(":")[0] == worker.name


def alive() -> int:
    """How many workers said lately that they are there and take runs."""
    return _alive().filter(draining=False).exclude(agents={}).count()


def offered() -> set[str]:
    """The names of the agents that some live worker knows."""
    return {name for agents in _alive().values_list("agents", flat=True) for name in agents}


def _alive() -> QuerySet[Worker]:
    return Worker.objects.filter(seen_at__gt=ClockTimestamp() - workers.alive_for())


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A lease that somebody holds now."""

    lease: Lease
    left: timedelta


def held(user: User) -> list[Held]:
    """Live leases of runs that this person may see, the next to end first."""
    found = (
        Lease.objects.filter(visible.within(user, "run"), expires_at__gt=ClockTimestamp())
        .annotate(now=ClockTimestamp())
        .select_related("run")
        .order_by("expires_at")
    )
    return [
        Held(lease=lease, left=lease.expires_at - lease.now)
        for lease in found[:MOST]
        if lease.expires_at
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Runs that have something to do and that nobody drives."""

    depth: int
    capped: bool
    """There are more than `depth`."""
    oldest: datetime | None
    """Since when the one that waits longest has been due, or a little before."""


def queue() -> Queue:
    due = sweeper.find_due()
    oldest = Run.objects.filter(pk__in=due).aggregate(oldest=Min("updated_at"))["oldest"]
    return Queue(depth=len(due), capped=len(due) >= sweeper.MOST, oldest=oldest)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """Whether a part that must run by itself does so, and since when it has been quiet."""

    name: str
    at: datetime | None
    """When it last did something; None: never."""
    well: bool
    note: str = ""


def sweeper_sign() -> Sign:
    pulse = Pulse.objects.filter(name="sweeper").annotate(now=ClockTimestamp()).first()
    if pulse is None:
        return Sign(name="Sweeper", at=None, well=False, note="has never run")
    rang, failed = pulse.note.get("rang", 0), pulse.note.get("failed", [])
    note = f"rang for {rang} run{'' if rang == 1 else 's'}" if rang else "found nothing to ring for"
    if failed:
        note = f"these rules failed: {', '.join(failed)}. See the log of the sweep worker."
    return Sign(
        name="Sweeper",
        at=pulse.at,
        well=not failed and pulse.now - pulse.at < LATE,
        note=note,
    )


def sealer_sign() -> Sign:
    """The sealer does nothing in quiet times, so it is judged by what waits for it."""
    log = audit.standing()
    entries = "entry waits" if log.unsealed == 1 else "entries wait"
    return Sign(
        name="Sealer",
        at=log.newest.sealed_at if log.newest else None,
        well=not log.late,
        note=f"{log.unsealed} {entries} for a seal" if log.unsealed else "every entry is sealed",
    )
