"""Worker processes: what they are called, which agents they know, whether they are alive.

A worker is one Celery node; its pool children drive. The node announces itself in a row, which says
which versions it offers, so that a run of another version is handed to a worker that can drive it.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import Error, connections
from django.db.models import Count, QuerySet
from django.db.models.functions import Now

from accounts import once
from audit.models import ClockTimestamp
from runs import registry
from runs.models import Lease, Worker

logger = logging.getLogger(__name__)

_name = f"process@{socket.gethostname()}"


def call_me(name: str) -> None:
    """Set this process's worker name: the Celery node name."""
    global _name
    _name = name


def holder() -> str:
    """Who holds a lease taken by this process: worker name and process id."""
    return f"{_name}:{os.getpid()}"


def of(holder: str) -> str:
    """The name of the worker to which a holder's process belongs."""
    return holder.rpartition(":")[0]


def alive_for() -> timedelta:
    """A worker that was not seen for longer is taken for gone."""
    return 4 * settings.RUNS_HEARTBEAT


def announce(name: str, *, drives: bool, slots: int = 0) -> None:
    """Write or renew this worker's row; a worker that does not drive offers no agents.

    `slots`: how many runs it drives at once, if that is known.
    """
    declared = registry.declarations().items() if drives else ()
    facts = {
        "hostname": socket.gethostname(),
        "pid": os.getpid(),
        "agents": {agent: declaration.version for agent, declaration in declared},
        "release": settings.RELEASE[:100],
        "slots": slots if drives else 0,
        "draining": False,
    }
    Worker.objects.update_or_create(
        name=name, defaults=facts | {"seen_at": Now(), "started_at": Now()}, create_defaults=facts
    )


def keep_announced(name: str, stop: threading.Event) -> None:
    """Until `stop`: say that this worker is alive, once per heartbeat. Runs in a thread."""
    while not stop.wait(settings.RUNS_HEARTBEAT.total_seconds()):
        try:
            Worker.objects.filter(name=name).update(seen_at=Now())
        except Error as exc:
            logger.warning("cannot say that worker %s is alive: %s", name, exc)
            connections.close_all()


def drain(name: str) -> None:
    """The worker stops: its children end their drives at the next step."""
    Worker.objects.filter(name=name).update(draining=True)


def is_draining() -> bool:
    """Whether this process's worker was asked to stop."""
    return Worker.objects.filter(name=_name, draining=True).exists()


def gone(name: str) -> None:
    """The worker has stopped in order."""
    Worker.objects.filter(name=name).delete()


def offering(agent: str, version: str) -> str:
    """The name of a live worker that has this very version of the agent; empty if there is none."""
    able = alive().filter(agents__contains={agent: version}).exclude(name=_name)
    return able.values_list("name", flat=True).order_by("?").first() or ""


@dataclass(frozen=True, slots=True)
class Offers:
    """Which version of which agent each live worker offers, as of one look."""

    by_worker: Mapping[str, Mapping[str, str]]

    @classmethod
    def now(cls) -> Offers:
        return cls({each.name: each.agents for each in driving()})

    def may_drive(self, agent: str, version: str) -> bool:
        """Whether some live worker may be able to drive such a run.

        What this process's own version of the agent continues, it knows; of others, it assumes so.
        """
        declared = registry.declarations().get(agent)
        unfit = declared.version if declared and not declared.fits(version) else None
        return any(has.get(agent, unfit) != unfit for has in self.by_worker.values())

    def only(self, agent: str, version: str) -> str:
        """Whom to ring for such a run where not every worker could drive it.

        Empty: anybody will do, or nobody has this very version.
        """
        able = [name for name, has in self.by_worker.items() if has.get(agent) == version]
        if len(able) in (0, len(self.by_worker)):
            return ""
        return random.choice(able)  # noqa: S311 (spreads load, guards nothing)


def alive() -> QuerySet[Worker]:
    """Workers that said lately that they are there and that were not asked to stop."""
    return Worker.objects.filter(draining=False, seen_at__gt=Now() - alive_for())


def taken() -> dict[str, int]:
    """How many runs the processes of each worker drive: live leases by the worker's name."""
    counted: dict[str, int] = {}
    live = Lease.objects.filter(expires_at__gt=ClockTimestamp())
    for holder, count in live.values_list("holder").annotate(Count("pk")):
        counted[of(holder)] = counted.get(of(holder), 0) + count
    return counted


@once.a_page
def driving() -> tuple[Worker, ...]:
    """Those of them that take runs."""
    return tuple(alive().exclude(agents={}))
