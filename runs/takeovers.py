"""How often a run has been taken from a worker before, and who forced that: to know before a
takeover by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Max

from runs.models import Attempt, Intervention
from runs.status import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """Of one run."""

    lost: int
    """Attempts whose worker disappeared."""
    last_lost: datetime | None
    forced: int
    """Times that a person forced it to resume."""
    last: Intervention | None
    """The last of those."""


def of(run_id: UUID) -> Past:
    lost = Attempt.objects.filter(run_id=run_id, outcome=Outcome.LOST).aggregate(
        count=Count("pk"), last=Max("ended_at")
    )
    by_hand = Intervention.objects.filter(run_id=run_id, kind=Intervention.Kind.FORCE_RESUME)
    return Past(
        lost=lost["count"],
        last_lost=lost["last"],
        forced=by_hand.count(),
        last=by_hand.order_by("-at", "-pk").first(),
    )
