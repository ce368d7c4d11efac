"""Refused verdicts, as the audit log keeps them: what was wrong, never what was typed."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from django.db import transaction

from accounts.actors import Actor
from approvals import errors
from audit import trail


def record(  # noqa: PLR0913 (an entry has that many sides)
    request_id: UUID,
    refusal: Exception,
    *,
    actor: Actor,
    verdict: str,
    run_id: UUID | None = None,
    more: Mapping[str, object] | None = None,
) -> None:
    """Keep that a verdict was refused. Call it outside of transactions.

    `more`: what was wrong, never with the values that were sent.
    """
    with transaction.atomic(durable=True):
        note(request_id, refusal, actor=actor, verdict=verdict, run_id=run_id, more=more)


def note(  # noqa: PLR0913 (an entry has that many sides)
    request_id: UUID,
    refusal: Exception,
    *,
    actor: Actor,
    verdict: str,
    run_id: UUID | None,
    more: Mapping[str, object] | None,
) -> None:
    """The same in the caller's transaction, which keeps something besides."""
    trail.record(
        "decision.refused",
        actor=actor,
        target=("request", str(request_id)),
        run_id=run_id,
        allowed=False,
        reason=refusal.told if isinstance(refusal, errors.BadValue) else str(refusal),
        data={
            "refusal": type(refusal).__name__,
            "why": getattr(refusal, "why", ""),
            "verdict": verdict,
            **(more or {}),
        },
    )
