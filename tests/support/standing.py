"""Runs in any state, made straight from their rows, for tests of what pages say about them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import User
from runs import status
from runs.models import Attempt, Lease, Run

HOLDER = "worker@alpha:4711"


def ago(**parts: float) -> datetime:
    return timezone.now() - timedelta(**parts)


def soon(**parts: float) -> datetime:
    return timezone.now() + timedelta(**parts)


def run(title: str = "Refund order 1", *, by: User | None = None, **fields: Any) -> Run:
    """A run and its free lease; ended states get an end. Times not given are a minute ago."""
    made = {"agent": "refund_desk", "agent_version": "1.0", "input": {"order_id": "1"}} | fields
    created = made.pop("created_at", ago(minutes=1))
    if made.get("status") in status.ENDED:
        made.setdefault("ended_at", created + timedelta(seconds=30))
    made.setdefault("starter", by.label if by else "api")
    run = Run.objects.create(title=title, started_by=by, **made)
    Run.objects.filter(pk=run.pk).update(created_at=created)
    Lease.objects.create(run=run)
    return Run.objects.select_related("lease").get(pk=run.pk)


def attempt(run: Run, fence: int = 1, **fields: Any) -> Attempt:
    """One holding of the lease that began a minute ago; open unless it says how it ended."""
    made = {"holder": HOLDER, "cause": "started", "started_at": ago(minutes=1)} | fields
    if made.get("outcome", status.Outcome.OPEN) != status.Outcome.OPEN:
        made.setdefault("ended_at", ago(seconds=5))
    return Attempt.objects.create(run=run, fence=fence, **made)


def lease(run: Run, **fields: Any) -> None:
    Lease.objects.filter(pk=run.pk).update(**fields)


def running(title: str = "Running", **fields: Any) -> Run:
    """A run that a live worker drives."""
    usual: dict[str, Any] = {"status": status.Status.RUNNING, "first_started_at": ago(minutes=1)}
    made = run(title, **usual | fields)
    attempt(made)
    lease(
        made,
        fence=1,
        holder=HOLDER,
        expires_at=soon(seconds=25),
        renewed_at=ago(seconds=3),
        progress_at=ago(seconds=8),
    )
    return again(made)


def stuck(title: str = "Stuck", **fields: Any) -> Run:
    """A run whose worker has gone quiet six minutes ago."""
    made = running(title, **fields)
    lease(made, expires_at=ago(minutes=6), renewed_at=ago(minutes=7))
    return again(made)


def stalled(title: str = "Stalled", **fields: Any) -> Run:
    """A run whose lease is renewed while nothing moves."""
    made = running(title, **fields)
    Attempt.objects.filter(run=made).update(started_at=ago(hours=2))
    lease(made, progress_at=ago(hours=1))
    return again(made)


def parked(reason: status.Park, title: str = "Parked", **fields: Any) -> Run:
    made = run(title, status=status.Status.PARKED, park_reason=reason, **fields)
    attempt(made, outcome=status.Outcome.PARKED)
    lease(made, fence=1)
    return again(made)


def again(run: Run) -> Run:
    return Run.objects.select_related("lease").get(pk=run.pk)


def checkpoint(run: Run, number: int, *, at: datetime, **fields: Any) -> str:
    """A row of LangGraph's as `node` saved it: `updated` channels say what runs next."""
    id_ = f"1f0{number:05x}-0000-6000-8000-000000000000"
    parent = f"1f0{number - 1:05x}-0000-6000-8000-000000000000" if number else None
    ns, updated = fields.get("ns", ""), fields.get("updated", ())
    metadata = {"step": number - 1, "source": "loop", "fence": fields.get("fence", 1)}
    saved = {
        "v": 4,
        "id": id_,
        "ts": at.isoformat(),
        "channel_values": fields.get("values", {}),
        "channel_versions": {},
        "versions_seen": {name: {} for name in fields.get("sent", ())}
        | {name: {"x": number} for name in fields.get("seen", ())},
        "updated_channels": list(updated),
    }
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id,"
            " parent_checkpoint_id, checkpoint, metadata)"
            " VALUES (%s, %s, %s, %s, %s::jsonb, %s::jsonb)",
            (str(run.pk), ns, id_, parent, json.dumps(saved), json.dumps(metadata)),
        )
    for index, path in enumerate(fields.get("paths", ())):
        write(run, id_, f"task-{index}", path, ns=ns)
    return id_


def write(
    run: Run,
    checkpoint_id: str,
    task: str,
    path: str,
    *,
    channel: str = "x",
    at: datetime | None = None,
    ns: str = "",
    index: int = 0,
) -> None:
    """What a task saved on a checkpoint, at this time or now."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id,"
            " idx, channel, type, blob, task_path, signalbox_at)"
            " VALUES (%s, %s, %s, %s, %s, %s, 'null', '', %s, %s)",
            (str(run.pk), ns, checkpoint_id, task, index, channel, path, at or timezone.now()),
        )
