"""What the ledger has of each tool: counts over a time, who used it, and when it was used last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Q

from audit.models import ClockTimestamp
from ledger.models import Effect
from ledger.status import DONE, Status
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
    counted = _counted(period)
    wanted = set(
        Effect.objects.filter(run__status__in=LIVE).order_by().values_list("tool", flat=True)
    )
    newest: Iterable[tuple[str, datetime]] = (
        Effect.objects.order_by("tool", "-created_at")
        .distinct("tool")
        .values_list("tool", "created_at")
    )
    return {
        tool: replace(counted.get(tool, NOTHING), last=last, wanted=tool in wanted)
        for tool, last in newest
    }


def _counted(period: timedelta) -> dict[str, Usage]:
    found = (
        Effect.objects.filter(created_at__gt=ClockTimestamp() - period)
        .values("tool")
        .annotate(
            done=Count("pk", filter=Q(status__in=DONE)),
            failed=Count("pk", filter=Q(status=Status.FAILED)),
            in_doubt=Count("pk", filter=Q(status=Status.IN_DOUBT)),
            pending=Count("pk", filter=Q(status=Status.PENDING)),
            agents=ArrayAgg("run__agent", distinct=True, order_by="run__agent"),
        )
        .order_by()
    )
    return {
        row["tool"]: Usage(
            done=row["done"],
            failed=row["failed"],
            in_doubt=row["in_doubt"],
            pending=row["pending"],
            agents=tuple(row["agents"]),
        )
        for row in found
    }
