"""The queue of effects in doubt, and what providers have told, as people see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Count, Max, Prefetch, Q
from django.db.models.functions import Now

from accounts import clock
from accounts.models import User
from ledger import shown, suspect
from ledger.confirmation import hooks
from ledger.models import Effect, EffectAttempt, HookEvent, HookRefusals, Idempotency, Look
from ledger.status import HEARD, Heard, Status
from runs import masking, ports, visible
from runs.models import Worker
from runs.status import State

RECENTLY = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a page ends: its last row."""

    updated_at: datetime
    uid: UUID

    @classmethod
    def of(cls, effect: Effect) -> Place:
        return cls(updated_at=effect.updated_at, uid=effect.uid)


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """One effect in doubt, with all that helps to find out."""

    effect: Effect
    preview: str
    call: EffectAttempt | None
    """The last one."""
    worker: State | None
    """What is known of the worker that made it."""
    looks: int
    last: shown.Asked | None
    can_be_asked: bool
    """As far as this process can tell, which has no agents' code."""


def doubts(user: User, *, after: Place | None = None, limit: int = 50) -> list[Doubt]:
    """Up to `limit` effects in doubt that `user` may see, in doubt longest first."""
    found = Effect.objects.filter(visible.within(user, "run"), status=Status.IN_DOUBT)
    if after is not None:
        found = found.filter(
            Q(updated_at__gt=after.updated_at) | Q(updated_at=after.updated_at, uid__gt=after.uid)
        )
    effects = found.select_related("run", "run__lease").prefetch_related(
        Prefetch("calls", EffectAttempt.objects.order_by("number")),
        Prefetch("looks", Look.objects.order_by("at", "id")),
    )
    listed = list(effects.order_by("updated_at", "uid")[:limit])
    now, workers = clock.now(), _workers(listed)
    cloaks = ports.masks().of_runs({effect.run_id for effect in listed}, user)
    return [
        _doubt(effect, workers, now, cloaks.get(effect.run_id, masking.BARE)) for effect in listed
    ]


def _workers(effects: Sequence[Effect]) -> dict[str, Worker]:
    names = {suspect.worker_of(call) for effect in effects for call in effect.calls.all()}
    return Worker.objects.in_bulk(names)


def _doubt(
    effect: Effect, workers: dict[str, Worker], now: datetime, cloak: masking.Cloak
) -> Doubt:
    calls, looks = list(effect.calls.all()), list(effect.looks.all())
    call = calls[-1] if calls else None
    worker = None
    if call is not None:
        known = workers.get(suspect.worker_of(call))
        worker = suspect.judge(call, effect.run.lease, known, now)
    return Doubt(
        effect=effect,
        preview=shown.preview(effect.args, cloak),
        call=call,
        worker=worker,
        looks=len(looks),
        last=shown.Asked.of(looks[-1]) if looks else None,
        can_be_asked=effect.idempotency != Idempotency.LEDGER,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """What one provider has told lately."""

    provider: str
    last_at: datetime | None
    counts: list[tuple[State, int]]
    refused: HookRefusals | None


def tellings() -> list[Telling]:
    """Every provider that may tell us something, in the order of their names."""
    names = hooks.names()
    lately = HookEvent.objects.filter(provider__in=names, at__gt=Now() - RECENTLY)
    counted: dict[str, dict[str, int]] = {name: {} for name in names}
    for provider, heard, count in lately.values_list("provider", "heard").annotate(Count("pk")):
        counted[provider][heard] = count
    last = dict(
        HookEvent.objects.filter(provider__in=names).values_list("provider").annotate(Max("at"))
    )
    refused = HookRefusals.objects.in_bulk(names)
    return [
        Telling(
            provider=name,
            last_at=last.get(name),
            counts=[(HEARD[each], counted[name][each]) for each in Heard if each in counted[name]],
            refused=refused.get(name),
        )
        for name in names
    ]
