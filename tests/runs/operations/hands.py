"""Hands of the tests of operations: ordering one, and reading what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from uuid import uuid4

from django.utils import timezone

from accounts.actors import Actor
from accounts.models import User
from runs.models import Operation, Run
from runs.operations import footing, ordering, work
from runs.operations.ordering import Order
from tests.support import standing as make


def acting(user: User, *, at: datetime | None = None) -> Actor:
    """Somebody who proved a moment ago who they are."""
    return Actor.person(
        user, entry="bulk", authenticated_at=at or timezone.now(), method="password"
    )


def wanted(runs: Iterable[Run], kind: str = "cancel", **more: object) -> Order:
    seen = [make.again(run) for run in runs]
    shown = [(run.pk, footing.of(kind, run, run.lease.fence)) for run in seen]
    given = {"kind": kind, "runs": shown, "reason": "Twice.", "token": uuid4().hex} | more
    return Order(**given)  # type: ignore[arg-type]


def order(user: User, runs: Iterable[Run], kind: str = "cancel", **more: object) -> Operation:
    return ordering.order(wanted(runs, kind, **more), actor=acting(user))


def claimed() -> Operation:
    """As a worker claims it."""
    found = work.claim()
    assert found is not None
    return found


def outcomes(operation: Operation) -> list[str]:
    """In the order in which the runs were to be reached."""
    return list(operation.items.order_by("position").values_list("outcome", flat=True))


def reasons(operation: Operation) -> list[str]:
    return list(operation.items.order_by("position").values_list("why", flat=True))


def asked(run: Run) -> bool:
    """Somebody has asked to cancel it."""
    return Run.objects.get(pk=run.pk).cancel_asked_at is not None


def again(operation: Operation) -> Operation:
    return Operation.objects.get(pk=operation.pk)
