"""The doorbell: tells workers to look at a run. Carries no work, may be lost or repeated.

What rings is never the only trace: the same transaction has changed the run, and the sweeper finds
it if the bell is not heard.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import Any
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
ASKED_EVERY = 5.0
"""Seconds for which a process believes what it heard of the broker."""
PATIENCE = 1.0
"""Seconds that the broker may take to answer somebody who only asks whether it is there."""

NOT_ASKED = (0.0, True)
_heard = NOT_ASKED
"""When this process asked last, and what it heard."""


def reachable() -> bool:
    """Whether the broker can be reached, as this process found a moment ago."""
    global _heard
    at, there = _heard
    if at and time.monotonic() - at < ASKED_EVERY:
        return there
    _heard = (time.monotonic(), _ask())
    return _heard[1]


def _ask() -> bool:
    patience = {"socket_connect_timeout": PATIENCE, "socket_timeout": PATIENCE}
    options = {**current_app.conf.broker_transport_options, **patience}
    try:
        with current_app.connection_for_write(
            connect_timeout=PATIENCE, transport_options=options
        ) as broker:
            broker.ensure_connection(max_retries=1, interval_start=0, interval_step=0)
    except (OSError, KombuError):
        return False
    return True


def _send(task: str, **options: Any) -> str:  # Any: options of Celery's send_task
    """Send at once; why that was not possible, empty if it was.

    Celery would try for seconds to reach a broker that is away, and somebody may wait for a page.
    """
    global _heard
    if not reachable():
        return "the broker cannot be reached"
    try:
        current_app.send_task(task, expires=EXPIRES, retry=False, **options)
    except (OSError, KombuError) as exc:
        _heard = NOT_ASKED
        return str(exc)
    return ""


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
    why = _send(task)
    if why:
        logger.warning("%s not asked for, the sweeper will: %s", task, why)
    return not why


def ring_now(run_id: UUID, *, cause: str, to: str = "") -> bool:
    """Ring at once. False, with a line in the log, if the broker cannot be reached."""
    queue = worker_direct(to).name if to else None
    why = _send(TASK, args=(str(run_id), cause), queue=queue)
    if why:
        logger.warning("run %s: doorbell not heard, the sweeper will ring: %s", run_id, why)
    return not why
