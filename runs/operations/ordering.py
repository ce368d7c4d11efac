"""Ordering an operation, and stopping one: who may, and for which runs exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.http import QueryDict

from accounts import actors
from accounts import errors as people
from accounts.actors import Actor
from audit import canonical, trail
from audit.models import ClockTimestamp
from runs import controls, dispatch, errors, visible
from runs.listing import search
from runs.models import Operation, OperationItem
from runs.operations.kinds import KINDS

PERMISSION = "runs.order_operation"
TASK = "runs.tasks.operate"
MOST_CHOSEN = 50
"""Runs that may be chosen one by one."""
MOST = 1_000
"""Runs of one operation, however they were found."""
Outcome = OperationItem.Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a person wants done, to the runs that they were shown."""

    kind: str
    runs: Sequence[tuple[UUID, str]]
    """Each with its footing as it was shown."""
    reason: str
    token: str
    query: str = ""
    matched: int | None = None


def order(wanted: Order, *, actor: Actor) -> Operation:
    """Have it done in the background. The same token of the same person again: the first operation.

    Raises NotPermitted, ReauthenticationNeeded, ReasonMissing, NoRunChosen, TooManyRuns.
    """
    reason = canonical.text(wanted.reason.strip())
    try:
        with transaction.atomic():
            return _order(wanted, reason, actor)
    except (people.AccountsError, errors.RunsError) as refusal:
        trail.record_refused(
            "operation.refused",
            actor=actor,
            target=("operation", wanted.kind),
            reason=str(refusal),
            data={"given": reason, "runs": [str(run_id) for run_id, _ in wanted.runs]},
        )
        raise


def _order(wanted: Order, reason: str, actor: Actor) -> Operation:
    kind = KINDS[wanted.kind]
    user = actors.require(actor, PERMISSION)
    actors.require(actor, kind.control.permission)
    if user is None:
        raise AssertionError("operations are ordered by people")
    known = Operation.objects.filter(asked_by=user, token=wanted.token).first()
    if known is not None:
        return known
    if kind.fresh and not actors.fresh(actor, controls.FRESH):
        raise people.ReauthenticationNeeded
    if not reason:
        raise errors.ReasonMissing
    if len(wanted.runs) > (MOST if wanted.query else MOST_CHOSEN):
        raise errors.TooManyRuns
    seen = set(
        visible.to(user)
        .filter(pk__in=[run_id for run_id, _ in wanted.runs])
        .values_list("pk", flat=True)
    )
    runs = {run_id: footing for run_id, footing in wanted.runs if run_id in seen}
    if not runs:
        raise errors.NoRunChosen
    made = Operation.objects.create(
        kind=kind.value,
        reason=reason,
        asked_by=user,
        label=actor.label,
        authenticated_at=actor.authenticated_at,
        method=actor.method,
        query=wanted.query,
        matched=wanted.matched,
        token=wanted.token,
    )
    OperationItem.objects.bulk_create(
        OperationItem(operation=made, run_id=run_id, position=place, footing=footing)
        for place, (run_id, footing) in enumerate(runs.items(), start=1)
    )
    trail.record(
        "operation.ordered",
        actor=actor,
        target=("operation", str(made.pk)),
        reason=reason,
        data={
            "kind": made.kind,
            "filter": _told(made.query),
            "matched": made.matched,
            "runs": [str(run_id) for run_id in runs],
        },
    )
    dispatch.call(TASK)
    return made


def _told(query: str) -> str:
    """The filters for the audit log, whose readers may not see every value that was compared."""
    filters = QueryDict(query, mutable=True)
    if "q" in filters:
        filters["q"] = search.told(str(filters["q"])).strip()
    return filters.urlencode(safe=":*")


def stop(operation_id: UUID, *, actor: Actor) -> Operation:
    """Leave the runs alone that were not reached yet. What is being done right now is finished.

    Raises NotPermitted, NoSuchOperation, OperationEnded.
    """
    target = ("operation", str(operation_id))
    try:
        with transaction.atomic():
            actors.require(actor, PERMISSION)
            found = _lock(operation_id)
            left = found.items.filter(outcome=Outcome.PENDING)
            count = left.update(
                outcome=Outcome.STOPPED, at=ClockTimestamp(), why=f"Stopped by {actor.label}."
            )
            Operation.objects.filter(pk=found.pk).update(
                status=Operation.Status.STOPPED,
                stopped_by=actor.label[:200],
                ended_at=ClockTimestamp(),
                claimed_until=None,
            )
            trail.record("operation.stopped", actor=actor, target=target, data={"left": count})
    except (people.AccountsError, errors.RunsError) as refusal:
        trail.record_refused("operation.refused", actor=actor, target=target, reason=str(refusal))
        raise
    return Operation.objects.get(pk=operation_id)


def _lock(operation_id: UUID) -> Operation:
    found = Operation.objects.select_for_update(no_key=True).filter(pk=operation_id).first()
    if found is None:
        raise errors.NoSuchOperation
    if found.status != Operation.Status.WORKING:
        raise errors.OperationEnded
    return found
