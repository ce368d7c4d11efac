"""What the ledger has of each tool: counts over a time, who used it, and when it was used last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import Count

from audit.models import ClockTimestamp
from ledger.models import Effect
from ledger.status import Status
from runs import statements
from runs.status import LIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One tool over a time. The counts are of effects reserved within it."""

    done: int = 0
    failed: int = 0
    in_doubt: int = 0
    pending: int = 0
    agents: tuple[str, ...] = ()
    """Whose runs have used it."""
    wanted: bool = False
    """A run that has not ended has effects of it."""
    last: datetime | None = None
    """When its newest effect was reserved, however long ago."""

    @property
    def count(self) -> int:
        return self.done + self.failed + self.in_doubt + self.pending

    @property
    def failure(self) -> float | None:
        """The part of the decided that failed, in percent; None: nothing was decided."""
        decided = self.done + self.failed
        return 100 * self.failed / decided if decided else None


NOTHING = Usage()


def over(period: timedelta) -> dict[str, Usage]:
    """Every tool that has any effect, by name. Three queries."""
    ended = _not_done(period)
    live = Effect.objects.filter(run__status__in=LIVE).order_by().values_list("tool", flat=True)
    wanted = set(live)
    with connection.cursor() as cursor:
        cursor.execute(statements.read("ledger", "usage"), {"seconds": period.total_seconds()})
        found = cursor.fetchall()
    return {
        tool: _usage(ended.get(tool, {}), count, agents, last=last, wanted=tool in wanted)
        for tool, count, agents, last in found
    }


def _usage(
    ended: dict[str, int], count: int, agents: list[str], *, last: datetime, wanted: bool
) -> Usage:
    return Usage(
        done=max(count - sum(ended.values()), 0),
        failed=ended.get(Status.FAILED, 0),
        in_doubt=ended.get(Status.IN_DOUBT, 0),
        pending=ended.get(Status.PENDING, 0),
        agents=tuple(agents),
        wanted=wanted,
        last=last,
    )


def _not_done(period: timedelta) -> dict[str, dict[str, int]]:
    """How many are in each other state, by tool: few, and each state has its index."""
    counted = (
        Effect.objects.filter(created_at__gt=ClockTimestamp() - period)
        .filter(status__in=(Status.FAILED, Status.IN_DOUBT, Status.PENDING))
        .values_list("tool", "status")
        .annotate(Count("pk"))
        .order_by()
    )
    found: dict[str, dict[str, int]] = {}
    for tool, state, count in counted:
        found.setdefault(tool, {})[state] = count
    return found
