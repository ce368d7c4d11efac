"""The effects that a run's next step would meet again, and what the rules say of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import connection
from django.db.models import Prefetch

from audit.models import ClockTimestamp
from ledger import rules
from ledger.inventory.boxes import Offered
from ledger.models import Effect, EffectAttempt
from ledger.preview import kinds
from ledger.seen import Seen
from ledger.status import DONE, Status
from runs import statements
from runs.models import Lease, Run
from runs.status import State

MOST = 20
"""Effects that are shown one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One effect with what would become of it."""

    effect: Effect
    kind: State
    not_before: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meets:
    """What the next step would meet: the first MOST, and how many there are."""

    rows: tuple[Found, ...]
    count: int


def ahead(run: Run, offered: Offered) -> Meets:
    """Of the tasks that have not ended, and what nobody knows the end of."""
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("ledger", "ahead"),
            {"run_id": run.pk, "thread": run.thread_id, "most": MOST},
        )
        named = cursor.fetchall()
    lease = Lease.objects.annotate(now=ClockTimestamp()).get(pk=run.pk)
    effects = {each.pk: each for each in with_calls([key for key, _ in named])}
    return Meets(
        rows=tuple(
            of(effects[key], offered, lease, lease.now) for key, _ in named if key in effects
        ),
        count=named[0][1] if named else 0,
    )


def of(effect: Effect, offered: Offered, lease: Lease, now: datetime) -> Found:
    """What the next driver of its run, which holds `lease` now or will, would do about it."""
    if effect.status != Status.PENDING:
        return Found(effect=effect, kind=kinds.of_decided(effect.status, cut=effect.result_cut))
    known = offered.effect(effect.tool)
    if known is None:
        return Found(effect=effect, kind=kinds.UNKNOWN)
    calls = list(effect.calls.all())
    seen = Seen(effect=effect, calls=calls, tool=known.as_tool(), now=now)
    driven = lease.expires_at is not None and lease.expires_at > now
    found = seen.found(lease.fence if driven else lease.fence + 1)
    step = rules.next_step(replace(found, wait=0.0))
    return Found(
        effect=effect,
        kind=kinds.of_pending(step, allowed=effect.retry_allowed, unheard=bool(seen.open_ended)),
        not_before=effect.retry_at if found.wait > 0 else None,
    )


def with_calls(keys: Iterable[str]) -> list[Effect]:
    """Three queries."""
    return list(
        Effect.objects.filter(pk__in=list(keys)).prefetch_related(
            Prefetch("calls", EffectAttempt.objects.order_by("number")), "looks"
        )
    )


def at_the_end(run: Run) -> Meets:
    """All effects of the run, what is not done first, as they are once it has ended."""
    mine = Effect.objects.filter(run=run)
    count = mine.count()
    loose = list(mine.exclude(status__in=DONE).order_by("-created_at", "uid")[:MOST])
    done = list(mine.filter(status__in=DONE).order_by("-created_at", "uid")[: MOST - len(loose)])
    whole = {each.pk: each for each in with_calls(each.pk for each in loose)}
    rows = [whole.get(each.pk, each) for each in loose] + done
    return Meets(
        rows=tuple(
            Found(effect=each, kind=kinds.at_the_end(each.status, unheard=_unheard(each)))
            for each in rows
        ),
        count=count,
    )


def _unheard(effect: Effect) -> bool:
    if effect.status != Status.PENDING:
        return False
    return any(call.outcome in ("open", "unknown") for call in effect.calls.all())
