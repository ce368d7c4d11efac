"""The doorbell: tells workers to look at a run. Carries no work, may be lost or repeated.

What rings is never the only trace: the same transaction has changed the run, and the sweeper finds
it if the bell is not heard.
"""

from __future__ import annotations

import logging
from functools import partial
from uuid import UUID

from celery import current_app
from celery.utils.nodenames import worker_direct
from django.db import transaction
from kombu.exceptions import KombuError

from runs import killpoints

logger = logging.getLogger(__name__)

TASK = "runs.tasks.drive"
EXPIRES = 30
"""Seconds after which a message nobody took is worthless: the sweeper has rung again by then."""


def ring(run_id: UUID, *, cause: str, to: str = "") -> None:
    """After this transaction commits, ask any worker (or worker `to`) to look at the run."""

    def send() -> None:
        killpoints.reach("doorbell", run_id)
        ring_now(run_id, cause=cause, to=to)

    transaction.on_commit(send)


def call(task: str) -> None:
    """After this transaction commits, ask a worker for a task that takes nothing.

    As lossy as `ring`: a rule of the sweeper must find what the task would have found.
    """
    transaction.on_commit(partial(call_now, task))


def call_now(task: str) -> bool:
    """Ask at once. False, with a line in the log, if the broker cannot be reached."""
    try:
        current_app.send_task(task, expires=EXPIRES, retry=False)
    except (OSError, KombuError) as exc:
        logger.warning("%s not asked for, the sweeper will: %s", task, exc)
        return False
    return True


def ring_now(run_id: UUID, *, cause: str, to: str = "") -> bool:
    """Ring at once. False, with a line in the log, if the broker cannot be reached."""
    try:
        current_app.send_task(
            TASK,
            args=(str(run_id), cause),
            queue=worker_direct(to).name if to else None,
            expires=EXPIRES,
            retry=False,
        )
    except (OSError, KombuError) as exc:
        logger.warning("run %s: doorbell not heard, the sweeper will ring: %s", run_id, exc)
        return False
    return True
