"""Writing the ledger's rows: locks, what is kept of an answer, who is told and woken.

Everything here runs inside a transaction that has locked the run and then the effect, but for
`surely`, which runs one.
"""

from __future__ import annotations

import json
import logging
import math
import time
import traceback
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F

from accounts import clock
from accounts.actors import Actor
from audit import canonical, trail
from audit.canonical import Json
from audit.models import ClockTimestamp
from ledger import redaction, rules, status
from ledger.models import Effect, EffectAttempt
from ledger.outcomes import LONGEST_WAIT, Outcome
from ledger.registry import Tool
from runs import dispatch
from runs.models import Run

logger = logging.getLogger(__name__)
T = TypeVar("T")

PATIENCE = 40.0
"""Seconds that a fact is tried to be recorded: longer than a frozen transaction may hold a lock."""
LONGEST_TEXT = 4000
LONGEST_REFERENCE = 300


def surely(write: Callable[[], T]) -> T:
    """Run `write` until the database takes it, for PATIENCE seconds. It may run more than once."""
    give_up, pause = time.monotonic() + PATIENCE, 0.05
    while True:
        try:
            return write()
        except (OperationalError, InterfaceError):
            if time.monotonic() + pause > give_up:
                raise
            if not connection.in_atomic_block:
                connection.close()  # a broken connection does not recover by itself
            time.sleep(pause)
            pause = min(pause * 2, 2.0)


def lock_run(run_id: UUID) -> None:
    """First of all locks, and for as long as the transaction."""
    Run.objects.select_for_update(no_key=True).values_list("pk").get(pk=run_id)


def lock_effect(key: str) -> Effect:
    return Effect.objects.select_for_update(no_key=True).get(pk=key)


def change(effect: Effect, **values: object) -> None:
    """Write these columns of an effect, which show on the object, and the time, which does not."""
    Effect.objects.filter(pk=effect.pk).update(updated_at=ClockTimestamp(), **values)
    for name, value in values.items():
        setattr(effect, name, value)


def first_look(tool: Tool) -> datetime | None:
    """When the provider is asked about a new effect of this tool, should nobody have confirmed it.

    None: it cannot be asked.
    """
    return clock.now() + settings.LEDGER_CONFIRM_AFTER if tool.lookup is not None else None


def wake(run_id: UUID, *, cause: str) -> None:
    """In a transaction, the run locked: somebody has to look at the run again."""
    Run.objects.filter(pk=run_id).update(wakes=F("wakes") + 1)
    dispatch.ring(run_id, cause=cause)


def tell(
    verb: str,
    effect: Effect,
    *,
    reason: str = "",
    data: dict[str, object] | None = None,
    actor: Actor | None = None,
) -> None:
    """Write the audit entry of a fact in its transaction, or after it if that does not work."""

    def write() -> None:
        trail.record(
            verb,
            actor=actor or Actor.system("ledger"),
            target=("effect", str(effect.uid)),
            run_id=effect.run_id,
            reason=reason,
            data={"key": effect.idempotency_key, "tool": effect.tool, **(data or {})},
        )

    try:
        with transaction.atomic():
            write()
    except (OperationalError, InterfaceError):
        raise  # the whole fact is tried again
    except Exception as exc:
        logger.error(
            "%s of effect %s was not written to the audit log yet: %s", verb, effect.uid, where(exc)
        )
        transaction.on_commit(write, robust=True)


def close(
    attempt: EffectAttempt,
    outcome: status.Outcome,
    said: Outcome,
    *,
    provider_ref: str = "",
    response: Json = None,
) -> None:
    """Write how an attempt ended."""
    attempt.outcome = outcome
    attempt.ended_at = clock.now()
    attempt.error = text(said.reason)
    if said.http_status is not None:
        attempt.http_status, attempt.replayed = said.http_status, said.replayed
    if provider_ref:
        attempt.provider_ref = provider_ref
    if response is not None:
        attempt.response = response
    attempt.save()


def storable(result: object, redact: Collection[str] = ()) -> tuple[Json, str]:
    """The result as it is kept, without these fields, and why it is not whole; empty if it is."""
    shown = redaction.of(canonical.visible(result), redact)
    size = len(json.dumps(shown, ensure_ascii=False).encode())
    if size <= settings.LEDGER_RESULT_LIMIT:
        return shown, ""
    start = json.dumps(shown, ensure_ascii=False)[:1000]
    return start, (
        f"The result has {size} bytes; more than {settings.LEDGER_RESULT_LIMIT} are not kept."
        " It happened all the same. Have the tool return only what the agent needs."
    )


def later(retry_after: float | None, tried: int) -> datetime:
    """When to call again: after the provider's wish, and not before the pause has passed."""
    asked = retry_after if retry_after is not None and math.isfinite(retry_after) else 0.0
    seconds = max(min(asked, LONGEST_WAIT), backoff(tried))
    return clock.now() + timedelta(seconds=seconds)


def backoff(tried: int) -> float:
    """Seconds to wait after so many attempts or questions."""
    return rules.backoff(settings.LEDGER_BACKOFF, settings.RUNS_BACKOFF_CAP, tried)


def where(exc: BaseException) -> str:
    """The class of an exception and the place that raised it, for the log.

    Not its message: the database's repeat what was to be stored.
    """
    frames = traceback.extract_tb(exc.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(exc).__name__}{place}"


def text(reason: str) -> str:
    """A reason as it can be stored."""
    return canonical.text(reason)[:LONGEST_TEXT]
