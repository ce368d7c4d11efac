"""Which ended runs are due, what would go, and one pass that takes it away."""

from __future__ import annotations

import logging
import math
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import Max, Min, QuerySet

from accounts.actors import Actor
from audit import trail
from audit.models import ClockTimestamp
from runs import killpoints, ports
from runs.models import Erasure, Lease, Run
from runs.ports import Amount, Keeper
from runs.status import ENDED

logger = logging.getLogger(__name__)
BATCH = 500
"""Runs whose ids are read at once."""
EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What one class would lose now."""

    kind: str
    label: str
    days: float
    runs: int
    rows: int
    bytes: int
    oldest: datetime | None
    """When the first of these runs ended."""
    newest: datetime | None
    examples: tuple[str, ...]
    """Ids of some of the runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What one class has lost."""

    runs: int = 0
    rows: int = 0
    bytes: int = 0

    def plus(self, more: Amount, *, runs: int = 1) -> Done:
        return Done(
            runs=self.runs + runs, rows=self.rows + more.rows, bytes=self.bytes + more.bytes
        )


def configured(only: str = "") -> list[Keeper]:
    """The classes for which settings give an age; with `only`, that one."""
    return [each for each in ports.keepers() if each.age() is not None and only in ("", each.kind)]


def due(only: str = "") -> list[Due]:
    """What a pass would take away now. Reads only."""
    return [_due(keeper) for keeper in configured(only)]


def apply(*, actor: Actor, only: str = "", seconds: float = math.inf) -> dict[str, Done]:
    """Take away what is due, run by run, for so long; returns what went, by class.

    Can be killed at any time and started again, also twice at once. A run that cannot be erased is
    logged and left for the next pass.
    """
    until = time.monotonic() + seconds
    for keeper in configured(only):
        for run_id in _ids(keeper):
            if time.monotonic() > until:
                break
            try:
                erase(keeper, run_id)
            except DatabaseError:
                logger.exception("%s of run %s could not be erased", keeper.label, run_id)
    return tell(actor)


def erase(keeper: Keeper, run_id: UUID) -> Amount | None:
    """Erase one class of one run; None if it is not due any more, or somebody else is at it."""
    with transaction.atomic():
        found = Run.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=run_id)
        run = found.first()
        if run is None or not candidates(keeper).filter(pk=run_id).exists():
            return None
        lease = Lease.objects.select_for_update(no_key=True).annotate(now=ClockTimestamp())
        held = lease.get(pk=run_id)
        if held.expires_at is not None and held.expires_at > held.now:
            return None
        gone = keeper.measure([run_id])
        keeper.erase(run)
        killpoints.reach("retention.erased", run_id)
        Erasure.objects.create(run=run, kind=keeper.kind, rows=gone.rows, bytes=gone.bytes)
    killpoints.reach("retention.committed", run_id)
    return gone


def candidates(keeper: Keeper) -> QuerySet[Run]:
    """Ended runs that are old enough for this class, not held by any, and not erased yet."""
    age = keeper.age()
    if age is None:
        return Run.objects.none()
    found = Run.objects.filter(status__in=ENDED, ended_at__lt=ClockTimestamp() - age).exclude(
        pk__in=Erasure.objects.filter(kind=keeper.kind).values("run_id")
    )
    for each in ports.keepers():
        held = each.held()
        if held is not None:
            found = found.exclude(pk__in=held)
    return found


def tell(actor: Actor) -> dict[str, Done]:
    """Record in the audit log what was erased and is not told there yet, and return it."""
    with transaction.atomic():
        untold = list(Erasure.objects.select_for_update(skip_locked=True).filter(told=False))
        if not untold:
            return {}
        gone: dict[str, Done] = defaultdict(Done)
        for each in untold:
            gone[each.kind] = gone[each.kind].plus(Amount(rows=each.rows, bytes=each.bytes))
        Erasure.objects.filter(pk__in=[each.pk for each in untold]).update(told=True)
        trail.record(
            "retention.applied",
            actor=actor,
            target=("retention", ""),
            data={kind: asdict(done) for kind, done in sorted(gone.items())},
        )
    return dict(gone)


def _due(keeper: Keeper) -> Due:
    found, total = candidates(keeper), Amount()
    for batch in _batches(found):
        total += keeper.measure(batch)
    ends = found.aggregate(oldest=Min("ended_at"), newest=Max("ended_at"))
    oldest = found.order_by("ended_at", "pk").values_list("pk", flat=True)[:EXAMPLES]
    age = keeper.age()
    return Due(
        kind=keeper.kind,
        label=keeper.label,
        days=age.total_seconds() / 86_400 if age else 0.0,
        runs=found.count(),
        rows=total.rows,
        bytes=total.bytes,
        oldest=ends["oldest"],
        newest=ends["newest"],
        examples=tuple(map(str, oldest)),
    )


def _ids(keeper: Keeper) -> Iterator[UUID]:
    for batch in _batches(candidates(keeper)):
        yield from batch


def _batches(found: QuerySet[Run]) -> Iterator[list[UUID]]:
    """Ids by when they were made; each is met once, whatever becomes of it."""
    after: UUID | None = None
    while True:
        rest = found.filter(pk__gt=after) if after else found
        batch = list(rest.order_by("pk").values_list("pk", flat=True)[:BATCH])
        if not batch:
            return
        yield batch
        after = batch[-1]
