"""One effect with everything that is known about it, and what is counted of all of them.

Lists of effects, their filters and searches are in `ledger.browse`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db import connection
from django.db.models import Count, Max, Prefetch, Q, QuerySet

from accounts import once
from accounts.models import User
from audit.models import ClockTimestamp
from ledger import errors, status
from ledger.models import Effect, EffectAttempt, Incident, Look
from runs import planner, statements, visible
from runs.models import Lease
from runs.status import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """One effect with everything that is known about it."""

    effect: Effect
    calls: list[EffectAttempt]
    looks: list[Look]
    incidents: list[Incident]
    calling: bool
    """A call is under way, as far as anybody knows."""
    holder_lives: bool
    """The worker that made the last call still holds the lease: its answer may still come."""

    @property
    def state(self) -> State:
        if self.calling:
            return status.CALLING
        return status.shown(
            self.effect.status,
            calling=False,
            unheard=any(call.outcome == status.Outcome.UNKNOWN for call in self.calls),
            ended=self.effect.left_alone,
        )

    @property
    def may_be_settled(self) -> bool:
        return self.effect.status == status.Status.IN_DOUBT


def effect(uid: UUID, user: User) -> Detail:
    """One effect, its calls, look-ups and incidents, oldest first.

    Raises NoSuchEffect, also for one of a run that this person may not see.
    """
    found = (
        Effect.objects.filter(visible.within(user, "run"), uid=uid)
        .select_related("run")
        .prefetch_related(
            Prefetch("calls", EffectAttempt.objects.order_by("number")),
            Prefetch("looks", Look.objects.order_by("at", "id")),
            Prefetch("incidents", Incident.objects.order_by("at", "id")),
        )
        .first()
    )
    if found is None:
        raise errors.NoSuchEffect
    calls = list(found.calls.all())
    last = calls[-1] if calls else None
    return Detail(
        effect=found,
        calls=calls,
        looks=list(found.looks.all()),
        incidents=list(found.incidents.all()),
        calling=any(call.outcome == status.Outcome.OPEN for call in calls),
        holder_lives=last is not None and _drives(found.run_id, last.fence),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OfRun:
    """The effects of one run, in short."""

    count: int
    doubtful: UUID | None
    """The oldest that is in doubt."""
    tool: str
    """Of one that is in doubt."""


@once.a_page
def of_runs(run_ids: tuple[UUID, ...]) -> dict[UUID, OfRun]:
    """Of those of these runs that have effects."""
    doubtful = Q(status=status.Status.IN_DOUBT)
    counted = (
        Effect.objects.filter(planner.among("run_id", planner.Ids.of(run_ids)))
        .values("run_id")
        .annotate(
            count=Count("pk"),
            tool=Max("tool", filter=doubtful, default=""),
            doubtful=ArrayAgg("uid", filter=doubtful, order_by="created_at", default=[]),
        )
    )
    return {
        each["run_id"]: OfRun(
            count=each["count"], tool=each["tool"], doubtful=next(iter(each["doubtful"]), None)
        )
        for each in counted
    }


def in_doubt(user: User) -> int:
    """How many effects that `user` may see are in doubt."""
    found = Effect.objects.filter(visible.within(user, "run"), status=status.Status.IN_DOUBT)
    return found.count()


def incidents(*, limit: int = 50, kinds: Collection[str] = ()) -> QuerySet[Incident]:
    """The newest incidents, with run and effect."""
    found = Incident.objects.select_related("run", "effect").order_by("-at", "-id")
    return (found.filter(kind__in=kinds) if kinds else found)[:limit]


def tools() -> list[str]:
    """The tools that have effects, by name."""
    with connection.cursor() as cursor:
        cursor.execute(statements.read("ledger", "tools"))
        return [name for (name,) in cursor.fetchall()]


def _drives(run_id: UUID, fence: int) -> bool:
    from_now = Lease.objects.filter(pk=run_id, fence=fence, expires_at__gt=ClockTimestamp())
    return from_now.exists()
