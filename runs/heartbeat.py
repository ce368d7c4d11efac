"""Heartbeats: one thread per process renews the leases of the drives that are alive in it.

1. It renews exactly what is registered; a drive unregisters in `finally`, so a dead drive expires.
2. A lease that cannot be renewed raises its authority's `lost` flag and drains the graph; so does a
   run that somebody asked to cancel, and a worker that is asked to stop.
3. A run without progress for longer than `stall_after` is drained; after twice that time it is
   given up: no longer renewed, and once its lease has run out the process ends itself, because a
   hung thread cannot be stopped in any other way.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from django.conf import settings
from django.db import Error, connection, connections
from django.utils.translation import gettext_noop as noop

from runs import statements, workers
from runs.authority import Authority

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Watched:
    authority: Authority
    stall_after: float
    given_up_at: float | None = None


@dataclass(slots=True)
class Heart:
    """The registered drives of this process and the thread that renews them."""

    watched: dict[tuple[UUID, int], _Watched] = field(default_factory=dict)
    guard: threading.Lock = field(default_factory=threading.Lock)
    wake: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None
    pid: int = 0
    draining: bool = False

    @contextmanager
    def keep(self, authority: Authority, stall_after: float) -> Iterator[None]:
        """Renew this authority's lease for as long as the block runs."""
        key = (authority.lease.run_id, authority.lease.fence)
        with self.guard:
            self.watched[key] = _Watched(authority, stall_after)
            self._ensure_thread()
        if self.draining:
            authority.drain(authority.draining, noop("the worker is stopping"))
        try:
            yield
        finally:
            with self.guard:
                self.watched.pop(key, None)

    def drain(self) -> None:
        """This process is asked to stop: every drive ends at its next step."""
        self.draining = True
        with self.guard:
            for watched in self.watched.values():
                watched.authority.drain(watched.authority.draining, noop("the worker is stopping"))

    def _ensure_thread(self) -> None:
        if self.thread is None or self.pid != os.getpid() or not self.thread.is_alive():
            self.pid = os.getpid()
            self.thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
            self.thread.start()

    def _beat(self) -> None:
        while True:
            self.wake.wait(settings.RUNS_HEARTBEAT.total_seconds())
            self.wake.clear()
            try:
                self.beat()
            except Error as exc:
                # Nothing to raise to: drives stop by their own deadline (Authority.may_start).
                logger.warning("heartbeat failed, will try again: %s", exc)
                connections.close_all()

    def beat(self) -> None:
        """Renew once. Raises the database's error if it cannot be asked."""
        with self.guard:
            watched = dict(self.watched)
        self._give_up(watched)
        if watched and not self.draining and workers.is_draining():
            self.drain()
        renewing = {key: w for key, w in watched.items() if w.given_up_at is None}
        if not renewing:
            return
        before = time.monotonic()
        ttl = settings.RUNS_LEASE
        with connection.cursor() as cursor:
            cursor.execute(
                statements.read("runs", "renew_leases"),
                {
                    "ttl": str(ttl),
                    "runs": [run for run, _ in renewing],
                    "fences": [fence for _, fence in renewing],
                },
            )
            renewed = {row[0]: row[1:] for row in cursor.fetchall()}
        deadline = before + (ttl - settings.RUNS_LEASE_MARGIN).total_seconds()
        for (run_id, _), watch in renewing.items():
            authority = watch.authority
            if run_id not in renewed:
                authority.drain(authority.lost, noop("the lease was taken over"))
                continue
            cancel_asked, quiet = renewed[run_id]
            authority.deadline = deadline
            if cancel_asked:
                authority.drain(authority.cancelled, noop("somebody asked to cancel"))
            if quiet > watch.stall_after:
                authority.control.request_drain(noop("no progress"))
            if quiet > 2 * watch.stall_after:
                logger.error("run %s: no progress for %.0f s, given up", run_id, quiet)
                watch.given_up_at = time.monotonic()
                authority.drain(authority.lost, "given up: no progress")

    def _give_up(self, watched: dict[tuple[UUID, int], _Watched]) -> None:
        ttl = settings.RUNS_LEASE.total_seconds()
        for (run_id, _), watch in watched.items():
            if watch.given_up_at is not None and time.monotonic() > watch.given_up_at + ttl:
                logger.error("run %s: ending process %s, its node hangs", run_id, os.getpid())
                os.kill(os.getpid(), signal.SIGKILL)


heart = Heart()
"""The one heart of this process."""
