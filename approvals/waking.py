"""Telling the driver that something was decided: the run wakes, and somebody is asked to look."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import F

from accounts.actors import ClockTimestamp
from runs import dispatch, killpoints
from runs.models import Run


def wake(run_id: UUID, *, cause: str, **changes: object) -> None:
    """With the run locked, in the transaction that changed something: wake the run, and ring."""
    Run.objects.filter(pk=run_id).update(
        wakes=F("wakes") + 1, updated_at=ClockTimestamp(), **changes
    )
    transaction.on_commit(partial(killpoints.reach, f"{cause}.committed", run_id))
    dispatch.ring(run_id, cause=cause)
