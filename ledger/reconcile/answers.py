"""What a provider's answer to a look means for an effect that is done or in doubt.

1. "Yes" is a fact and confirms, whatever the effect is by then.
2. "No" ends a doubt only if it is late enough (`ledger.looks`), and if the effect is still in doubt
   after the very attempt that was asked about. No lease is needed for that: as long as the doubt
   lasts, the latch starts nothing of its run.
3. "No" about what the provider has said itself may only be early. If it still says so at the last
   look, an incident opens; the effect stays done.
4. No answer changes nothing.
"""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import transaction

from accounts import clock
from accounts.actors import Actor
from audit import canonical
from ledger import facts, redaction, rows, status
from ledger.confirmation import recording
from ledger.models import Effect, Incident, Look
from ledger.outcomes import Found
from ledger.seen import Ask
from ledger.status import Status

LOOK_UP = Actor.system("look-up")
NOTHING = "The provider was asked, and knows of nothing under this key."


def found(effect: Effect, ask: Ask, answer: Found) -> None:
    """It happened."""
    with transaction.atomic(durable=True):
        effect = _locked(effect)
        _note(effect, ask, status.Answer.FOUND, reference=answer.reference)
        recording.happened(effect, answer, actor=LOOK_UP)
        Effect.objects.filter(pk=effect.pk).update(look_at=None)


def absent(effect: Effect, ask: Ask) -> None:
    """The provider knows of nothing."""
    with transaction.atomic(durable=True):
        effect = _locked(effect)
        _note(effect, ask, status.Answer.ABSENT)
        if effect.attempts != ask.number:
            return
        if effect.status == Status.IN_DOUBT and ask.quarantine <= 0:
            facts.rule_out(effect, upto=ask.number, why=NOTHING)
            facts.conclude(effect)
        elif effect.status == Status.SENT and ask.quarantine <= 0 and _is_last(effect, ask):
            recording.incident(Incident.Kind.UNKNOWN, effect, effect.provider_ref)
        _next(effect, ask, at_least=ask.quarantine)


def silent(effect: Effect, ask: Ask, why: str) -> None:
    """There was no answer."""
    with transaction.atomic(durable=True):
        effect = _locked(effect)
        _note(effect, ask, status.Answer.SILENT, error=why)
        _next(effect, ask)


def _locked(effect: Effect) -> Effect:
    rows.lock_run(effect.run_id)
    return rows.lock_effect(effect.pk)


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


def _next(effect: Effect, ask: Ask, *, at_least: float = 0.0) -> None:
    """When to look again; not at all if it was the last look at something done."""
    due = None
    if not (effect.status == Status.SENT and _is_last(effect, ask)):
        pause = settings.LEDGER_CONFIRM_AFTER * 2 ** min(_looks(effect, ask), 20)
        pause = min(pause, settings.LEDGER_LOOK_CAP)
        due = clock.now() + max(pause, timedelta(seconds=at_least))
    Effect.objects.filter(pk=effect.pk).update(look_at=due)


def _is_last(effect: Effect, ask: Ask) -> bool:
    return _looks(effect, ask) >= settings.LEDGER_CONFIRM_LOOKS


def _looks(effect: Effect, ask: Ask) -> int:
    return effect.looks.filter(attempt=ask.number).count()
