"""Acting for a run that has ended, such as taking its effects back.

The run itself stays as it ended. Its lease, which is never deleted, is held again: so one worker at
most acts for it, its heartbeat renews what it holds, and whoever wakes up late is refused by the
fence, as while the run was driven.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from runs import statements
from runs.authority import Authority, Lease
from runs.heartbeat import heart


@dataclass(slots=True)
class Control:
    """No graph is asked to drain here; who acts looks at the flags of its authority."""

    drain_requested: bool = False
    drain_reason: str | None = None

    def request_drain(self, reason: str = "shutdown") -> None:
        self.drain_requested, self.drain_reason = True, reason


@contextmanager
def holding(run_id: UUID, *, holder: str, cause: str) -> Iterator[Authority | None]:
    """Hold the lease of an ended run during the block; None if it goes on or somebody holds it."""
    before = time.monotonic()
    given = {"run_id": run_id, "holder": holder, "cause": cause, "ttl": settings.RUNS_LEASE}
    taken = statements.one(statements.read("runs", "take_ended"), given)
    if taken is None:
        yield None
        return
    fence, agent = taken
    margin = settings.RUNS_LEASE - settings.RUNS_LEASE_MARGIN
    mine = Authority(
        lease=Lease(run_id=run_id, fence=fence, holder=holder),
        agent=agent,
        deadline=before + margin.total_seconds(),
        control=Control(),
    )
    with heart.keep(mine, settings.RUNS_STALL_AFTER.total_seconds()):
        yield mine
    # Not in `finally`: what an error or a kill leaves open is for the next one to take over.
    statements.one(statements.read("runs", "give_back_ended"), {"run_id": run_id, "fence": fence})
