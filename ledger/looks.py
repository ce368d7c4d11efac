"""Asking the provider whether an effect happened, and what its answer means.

1. "Yes" is a fact: it counts at any time and whoever asked.
2. "No" frees the effect for another call, so it is fenced, it counts only once nothing can be on
   its way any more (start of the last call + its time limit + a lease + the tool's visibility
   delay, by the database's clock, before the question was put), and it says nothing about later
   attempts.
3. An exception, or anything but `Found` or None, is no answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import transaction

from accounts import clock
from audit import canonical
from ledger import facts, redaction, refusals, rows, status
from ledger.keys import Intent
from ledger.models import Effect, Look
from ledger.outcomes import Found
from ledger.seen import Ask
from runs import leases
from runs.errors import LeaseLost


def heard(intent: Intent, ask: Ask, answer: Found | None) -> None:
    """Record a "yes" or a "no". Raises LeaseGone for a "no" to a former driver."""
    if answer is not None:
        rows.surely(lambda: _yes(intent, ask, answer))
        return
    with _fenced(intent) as effect:
        _note(effect, ask, status.Answer.ABSENT)
        if not _still_asked(effect, ask):
            return
        if ask.quarantine <= 0:
            facts.absent(effect, upto=ask.number)
        else:
            _wait(effect, ask.quarantine)


def silent(intent: Intent, ask: Ask, why: str) -> None:
    """Record that there was no answer. Raises LeaseGone for a former driver."""
    with _fenced(intent) as effect:
        _note(effect, ask, status.Answer.SILENT, error=why)
        asked = effect.looks.filter(
            attempt=ask.number, answer=status.Answer.SILENT, counts=ask.quarantine <= 0
        ).count()
        if _still_asked(effect, ask):
            _wait(effect, rows.backoff(asked))


def _yes(intent: Intent, ask: Ask, answer: Found) -> None:
    with transaction.atomic(durable=True):
        rows.lock_run(intent.run_id)
        effect = rows.lock_effect(intent.key)
        _note(effect, ask, status.Answer.FOUND, reference=answer.reference)
        facts.found(effect, answer)


@contextmanager
def _fenced(intent: Intent) -> Iterator[Effect]:
    """A transaction of the present driver, with the effect locked. Raises LeaseGone."""
    try:
        with transaction.atomic(durable=True):
            leases.lock(intent.authority.lease)
            yield rows.lock_effect(intent.key)
    except LeaseLost as exc:
        raise refusals.LeaseGone from exc


def _still_asked(effect: Effect, ask: Ask) -> bool:
    return effect.attempts == ask.number and effect.status == status.Status.PENDING


def _note(
    effect: Effect, ask: Ask, answer: status.Answer, *, reference: str = "", error: str = ""
) -> None:
    Look.objects.create(
        effect=effect,
        provider_key=ask.provider_key,
        attempt=ask.number,
        answer=answer,
        counts=ask.quarantine <= 0,
        provider_ref=canonical.text(reference)[: rows.LONGEST_REFERENCE],
        error=rows.text(redaction.in_text(error, effect.redact)),
    )


def _wait(effect: Effect, seconds: float) -> None:
    rows.change(effect, retry_at=clock.now() + timedelta(seconds=seconds))
