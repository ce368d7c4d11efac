"""Carrying out operations, one run after the other, in whatever worker has the claim.

1. The claim is renewed before each run. Who cannot renew it stops: it was lost, or the operation
   was stopped. What a late worker does besides is refused by the item itself, which is locked with
   its run and is done once.
2. What refuses a run is its outcome and stops nothing. It is written with the entry of the audit
   log, so both are there once. A run whose row is locked for long is left for a later pass.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.db.models import Count, Q
from django.utils.translation import gettext_noop as noop

from accounts import errors as people
from accounts.actors import Actor
from audit import canonical, trail
from audit.models import ClockTimestamp
from runs import dispatch, errors, killpoints, statements, workers
from runs.models import Lease, Operation, OperationItem, Run
from runs.operations import footing, ordering
from runs.operations.kinds import KINDS

logger = logging.getLogger(__name__)

TURN = timedelta(seconds=5)
"""How long one worker goes on before others of its queue have their turn."""
LATER = timedelta(seconds=5)
"""Until runs are tried again whose rows were locked."""
LEFT_ALONE = (errors.StateChanged, errors.RunEnded, errors.NothingToDo)
"""What refuses a run because it does not stand any more as it was shown."""
Outcome = OperationItem.Outcome


def work(turn: timedelta = TURN) -> int:
    """Go on with what is ordered until nothing is or the turn is over; how many runs were reached.

    Call it outside of transactions.
    """
    end = time.monotonic() + turn.total_seconds()
    reached = 0
    while time.monotonic() < end:
        operation = claim()
        if operation is None:
            return reached
        reached += _go_on(operation, end)
    dispatch.call_now(ordering.TASK)
    return reached


def sweep() -> int:
    """The rule of the sweeper: ring for a worker if an operation waits; whether one does."""
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=ClockTimestamp())
    if not Operation.objects.filter(free, status=Operation.Status.WORKING).exists():
        return 0
    dispatch.call_now(ordering.TASK)
    return 1


def claim() -> Operation | None:
    """Claim the operation that has waited longest; None if there is none that nobody else has."""
    given: dict[str, Any] = {  # Any: cursors know no intervals
        "claim": uuid4(),
        "holder": workers.holder()[:200],
        "ttl": settings.RUNS_LEASE,
    }
    with connection.cursor() as cursor:
        cursor.execute(statements.read("runs", "claim_operation"), given)
        found = cursor.fetchone()
    return Operation.objects.select_related("asked_by").get(pk=found[0]) if found else None


def _go_on(operation: Operation, end: float) -> int:
    reached = 0
    pending = operation.items.filter(outcome=Outcome.PENDING).order_by("position")
    for item in list(pending):
        if time.monotonic() > end:
            _let_go(operation, timedelta(0))
            return reached
        if not _renew(operation):
            return reached
        reached += _reach(operation, item)
    if not _finish(operation):
        _let_go(operation, LATER)
    return reached


def _mine(operation: Operation) -> Q:
    return Q(pk=operation.pk, claim=operation.claim, status=Operation.Status.WORKING)


def _renew(operation: Operation) -> bool:
    until = ClockTimestamp() + settings.RUNS_LEASE
    return bool(Operation.objects.filter(_mine(operation)).update(claimed_until=until))


def _let_go(operation: Operation, wait: timedelta) -> None:
    """Others may go on with it, after a while."""
    until = ClockTimestamp() + wait if wait else None
    Operation.objects.filter(_mine(operation)).update(claimed_until=until)


def _finish(operation: Operation) -> bool:
    """End it if every run was reached; whether it has ended."""
    with transaction.atomic():
        mine = Operation.objects.select_for_update(no_key=True).filter(_mine(operation)).first()
        if mine is None:
            return True
        counts = dict(mine.items.values_list("outcome").annotate(Count("pk")))
        if counts.get(Outcome.PENDING):
            return False
        Operation.objects.filter(pk=mine.pk).update(
            status=Operation.Status.DONE, ended_at=ClockTimestamp(), claimed_until=None
        )
        trail.record(
            "operation.done",
            actor=Actor.system(workers.holder()),
            target=("operation", str(mine.pk)),
            data={"kind": mine.kind, "ordered_by": mine.label, "outcomes": counts},
        )
    return True


# --- one run --------------------------------------------------------------------------------------


class _DealtWith(Exception):
    """Another worker has done it, or it was stopped."""


@dataclass(slots=True)
class _Part:
    """One item, as `runs.controls` sees it."""

    item: OperationItem
    kind: str
    age: timedelta

    @property
    def operation(self) -> str:
        return str(self.item.operation_id)

    @property
    def runs(self) -> int:
        return OperationItem.objects.filter(operation=self.item.operation_id).count()

    def begin(self, run: Run) -> None:
        mine = OperationItem.objects.select_for_update(no_key=True).get(pk=self.item.pk)
        if mine.outcome != Outcome.PENDING:
            raise _DealtWith
        fence = Lease.objects.values_list("fence", flat=True).get(pk=run.pk)
        stands = footing.of(self.kind, run, fence)
        if stands == self.item.footing:
            return
        was, now = footing.words(self.item.footing), footing.words(stands)
        if was == now:
            raise errors.StateChanged(noop("A worker has taken it up since it was chosen."))
        raise errors.StateChanged(f"It was “{was}” when it was chosen, and is “{now}” now.")

    def done(self) -> None:
        killpoints.reach("operation.acted", self.item.run_id)
        OperationItem.objects.filter(pk=self.item.pk).update(
            outcome=Outcome.DONE, at=ClockTimestamp()
        )

    def refuse(self, refusal: Exception) -> None:
        outcome = Outcome.SKIPPED if isinstance(refusal, LEFT_ALONE) else Outcome.REFUSED
        pending = OperationItem.objects.filter(pk=self.item.pk, outcome=Outcome.PENDING)
        if not pending.update(
            outcome=outcome, why=canonical.text(str(refusal)), at=ClockTimestamp()
        ):
            raise _DealtWith


def _reach(operation: Operation, item: OperationItem) -> bool:
    """Whether there is an outcome now."""
    part = _Part(item=item, kind=operation.kind, age=_age(operation))
    actor = Actor.person(
        operation.asked_by,
        entry="bulk",
        authenticated_at=operation.authenticated_at,
        method=operation.method,
    )
    try:
        KINDS[operation.kind].act(item.run_id, actor=actor, reason=operation.reason, part=part)
    except _DealtWith:
        return False
    except (people.AccountsError, errors.RunsError) as refusal:
        logger.info("operation %s: run %s: %s", operation.pk, item.run_id, refusal)
    except OperationalError as exc:
        logger.warning("operation %s: run %s is left for later: %s", operation.pk, item.run_id, exc)
        return False
    killpoints.reach("operation.reached", item.run_id)
    return True


def _age(operation: Operation) -> timedelta:
    now = Operation.objects.filter(pk=operation.pk).values_list(ClockTimestamp(), flat=True)[0]
    age: timedelta = now - operation.created_at
    return age
