"""Recording what is known about calls: facts are never refused, whoever holds the lease.

1. A fact is guarded by the token of its attempt, which only the starter of the call knows. It may
   come late: from a worker that lost its lease, after a look-up, after a person's word.
2. Knowing beats not knowing: "unknown" never replaces a known end, a success replaces everything.
3. The first success makes the effect; any further one stays on its attempt and opens an incident,
   unless it is the same event told twice. A success of what had been ruled out opens one as well.
4. A refusal ends the effect only if no other call of it may have happened.
5. Whatever may change the run's next move wakes the run, in the same transaction.
6. How an effect ends is an entry of the audit log, in the same transaction. Losing an entry never
   loses the fact: entries are written behind a savepoint, and tried again after the commit.
7. Neither does anything that a provider said: what cannot be stored of it is left out. The log
   names what was not recorded, and holds no result, no reason and no arguments.

Locks: run, then effect; both before anything is read that decides.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import takewhile
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.utils.translation import gettext_noop as noop

from accounts.actors import Actor
from audit import canonical
from audit.canonical import Json
from ledger import redaction, rows, status
from ledger.models import Effect, EffectAttempt, Idempotency, Incident
from ledger.outcomes import Found, Kind, Outcome
from ledger.seen import OPEN_ENDED
from runs.models import Erasure

logger = logging.getLogger(__name__)

NOT_STORED = "The provider's answer could not be stored."
TOLD_TOO_LATE = "Its result is not kept: what its run did was erased before."
FOR_NOW = (status.Outcome.RETRYABLE, status.Outcome.ABSENT)
"""Attempts that did not happen, though a further one may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Where an effect stands, as the node that wants it must know it."""

    status: str
    tool: str
    uid: UUID
    reference: str
    result: Json
    result_cut: bool
    error: str
    http_status: int | None = None


def standing(effect: Effect) -> Standing:
    last = None
    if effect.status == status.Status.FAILED:
        last = effect.calls.order_by("-number").first()
    return Standing(
        status=effect.status,
        tool=effect.tool,
        uid=effect.uid,
        reference=effect.provider_ref,
        result=effect.result,
        result_cut=effect.result_cut,
        error=effect.error,
        http_status=last.http_status if last else None,
    )


# --- facts about calls ---------------------------------------------------------------------------


def record(token: UUID, outcome: Outcome) -> Standing:
    """Record how a call ended, and return where its effect stands then.

    Tried for `rows.PATIENCE` seconds; after that raises the database's error, and the attempt stays
    open, which every reader takes for "nobody knows".
    """
    try:
        return rows.surely(partial(_record, token, outcome))
    except (OperationalError, InterfaceError) as exc:
        _log("could not be recorded", token, outcome, exc)
        raise
    except Exception as exc:
        # Whatever it has in it that cannot be stored: how the call ended must be.
        _log("could not be stored whole", token, outcome, exc)
        return rows.surely(partial(_record, token, _bare(outcome), cut=NOT_STORED))


def _bare(outcome: Outcome) -> Outcome:
    """The same outcome without anything that a stranger wrote, but for its reference."""
    happened = outcome.kind is Kind.SUCCESS
    return replace(outcome, result=None, reason="" if happened else NOT_STORED)


def _log(what: str, token: UUID, outcome: Outcome, exc: Exception) -> None:
    kind, reference = outcome.kind.name, outcome.reference
    logger.error("attempt %s (%s %r) %s: %s", token, kind, reference, what, rows.where(exc))


def not_started(token: UUID) -> None:
    """Close an attempt whose call never left this process."""
    rows.surely(partial(_not_started, token))


def _record(token: UUID, outcome: Outcome, cut: str = "") -> Standing:
    with transaction.atomic(durable=True):
        effect, attempt = _locked(token)
        outcome = _redacted(effect, outcome)
        match outcome.kind:
            case Kind.SUCCESS:
                _succeeded(effect, attempt, outcome, cut)
            case Kind.REFUSED:
                _refused(effect, attempt, outcome)
            case Kind.UNKNOWN:
                _unknown(effect, attempt, outcome)
        effect.refresh_from_db()  # what the node gets is what is stored, the first time too
        return standing(effect)


def _locked(token: UUID) -> tuple[Effect, EffectAttempt]:
    key, run_id = EffectAttempt.objects.values_list("effect_id", "effect__run_id").get(token=token)
    rows.lock_run(run_id)
    effect = rows.lock_effect(key)
    return effect, EffectAttempt.objects.get(token=token)


def _redacted(effect: Effect, outcome: Outcome) -> Outcome:
    return replace(outcome, reason=redaction.in_text(outcome.reason, effect.redact))


def _succeeded(effect: Effect, attempt: EffectAttempt, outcome: Outcome, cut: str) -> None:
    reference = canonical.text(outcome.reference)[: rows.LONGEST_REFERENCE]
    before = status.Outcome(attempt.outcome)
    told_again = before is status.Outcome.SUCCEEDED
    if told_again and attempt.provider_ref == reference:
        return
    result, too_big = rows.storable(outcome.result, effect.redact)
    cut = cut or too_big
    if not told_again:
        rows.close(
            attempt,
            status.Outcome.SUCCEEDED,
            outcome,
            provider_ref=reference,
            response=result,
        )
    if effect.status in status.DONE:
        if told_again or not _same_event(effect, attempt, reference):
            _second_success(effect, attempt, reference)
        return
    late = before is not status.Outcome.OPEN or effect.status != status.Status.PENDING
    ruled_out = before in (status.Outcome.ABSENT, status.Outcome.REFUSED, status.Outcome.RETRYABLE)
    contradiction = ruled_out or effect.status == status.Status.FAILED
    was = effect.status
    rows.change(
        effect,
        status=status.Status.SENT,
        provider_ref=reference,
        result=result,
        result_cut=bool(cut),
        error=cut,
        retry_allowed=False,
        retry_at=None,
    )
    facts = {"attempt": attempt.number, "reference": reference, "arguments": effect.args_hash}
    if late:
        rows.wake(effect.run_id, cause=noop("late answer"))
        rows.tell("effect.late_success", effect, data=facts | {"was": was})
    else:
        rows.tell("effect.sent", effect, data=facts)
    if contradiction:
        _incident(Incident.Kind.CONTRADICTION, effect, attempt, reference)


def _same_event(effect: Effect, attempt: EffectAttempt, reference: str) -> bool:
    """Whether a second success tells of what the first one told."""
    if reference and effect.provider_ref:
        return reference == effect.provider_ref
    # Without references to compare, the provider's promise to deduplicate by key has to do.
    promised = effect.idempotency == Idempotency.PROVIDER
    return promised and attempt.provider_key == effect.provider_key


def _second_success(effect: Effect, attempt: EffectAttempt, reference: str) -> None:
    _incident(Incident.Kind.DUPLICATE, effect, attempt, reference)
    facts = {"attempt": attempt.number, "reference": reference, "first": effect.provider_ref}
    rows.tell("effect.duplicate", effect, data=facts)


def _incident(kind: Incident.Kind, effect: Effect, attempt: EffectAttempt, reference: str) -> None:
    Incident.objects.create(
        kind=kind,
        run_id=effect.run_id,
        effect=effect,
        facts={
            "attempt": attempt.number,
            "provider_key": attempt.provider_key,
            "reference": reference,
            "first": effect.provider_ref,
        },
    )


def _refused(effect: Effect, attempt: EffectAttempt, outcome: Outcome) -> None:
    if attempt.outcome not in OPEN_ENDED:
        return
    ended = status.Outcome.RETRYABLE if outcome.retryable else status.Outcome.REFUSED
    rows.close(attempt, ended, outcome)
    if effect.status not in (status.Status.PENDING, status.Status.IN_DOUBT):
        return
    if outcome.decisive:
        rule_out(effect, upto=attempt.number, provider_key=attempt.provider_key, why=outcome.reason)
    if not conclude(effect, outcome.retry_after) and effect.status == status.Status.PENDING:
        wait = _pause_after(effect, attempt, outcome) if outcome.retryable else None
        rows.change(effect, retry_at=wait, error=rows.text(outcome.reason))


def _unknown(effect: Effect, attempt: EffectAttempt, outcome: Outcome) -> None:
    if attempt.outcome != status.Outcome.OPEN:
        return
    rows.close(attempt, status.Outcome.UNKNOWN, outcome)
    if effect.status != status.Status.PENDING:
        return
    if effect.idempotency == Idempotency.LEDGER:
        doubt(effect, f"A call was started, and nobody heard how it ended: {outcome.reason}")
        return
    wait = None
    if effect.idempotency == Idempotency.PROVIDER:
        wait = _pause_after(effect, attempt, outcome)
    rows.change(effect, retry_at=wait, error=rows.text(outcome.reason))


def _not_started(token: UUID) -> None:
    with transaction.atomic(durable=True):
        effect, attempt = _locked(token)
        if attempt.outcome not in OPEN_ENDED:
            return
        rows.close(attempt, status.Outcome.ABSENT, Outcome.unknown("not started"))
        if effect.status in (status.Status.PENDING, status.Status.IN_DOUBT):
            conclude(effect, failing=False)


def refused(effect: Effect, attempt: EffectAttempt, outcome: Outcome) -> None:
    """In a transaction, run and effect locked: the provider told unasked that nothing happened."""
    _refused(effect, attempt, _redacted(effect, outcome))


# --- facts from look-ups -------------------------------------------------------------------------


def found(effect: Effect, look: Found, *, actor: Actor | None = None) -> None:
    """In a transaction, run and effect locked: the provider says that it happened."""
    if effect.status in status.DONE:
        return
    was = effect.status
    result, cut = rows.storable(look.result, effect.redact)
    if Erasure.objects.filter(run=effect.run_id, kind="effects").exists():
        result, cut = None, TOLD_TOO_LATE  # what was taken away does not come back
    rows.change(
        effect,
        status=status.Status.CONFIRMED,
        provider_ref=canonical.text(look.reference)[: rows.LONGEST_REFERENCE],
        result=result,
        result_cut=bool(cut),
        error=cut,
        retry_allowed=False,
        retry_at=None,
    )
    facts: dict[str, object] = {
        "reference": effect.provider_ref,
        "arguments": effect.args_hash,
        "was": was,
    }
    rows.tell("effect.confirmed", effect, data=facts, actor=actor)
    if was != status.Status.PENDING:
        rows.wake(effect.run_id, cause=noop("found by a look-up"))


def absent(effect: Effect, *, upto: int) -> None:
    """In a transaction, run and effect locked: the provider's late enough "no" to all attempts."""
    rule_out(
        effect, upto=upto, provider_key=effect.provider_key, why="The provider knows of nothing."
    )
    if effect.status == status.Status.PENDING:
        conclude(effect)


def rule_out(effect: Effect, *, upto: int, why: str, provider_key: str | None = None) -> None:
    """Close the attempts up to this number (with this key) that may have happened: they did not."""
    attempts = effect.calls.filter(outcome__in=OPEN_ENDED, number__lte=upto)
    if provider_key is not None:
        attempts = attempts.filter(provider_key=provider_key)
    for attempt in attempts:
        rows.close(attempt, status.Outcome.ABSENT, Outcome.unknown(why))


def conclude(effect: Effect, retry_after: float | None = None, *, failing: bool = True) -> bool:
    """If no call of this effect may have happened, say so. False if one may have.

    The effect failed if it was refused for good, or if calls with LEDGER_REFUSALS keys in a row
    did not happen; else it may be tried again.
    """
    attempts = list(effect.calls.order_by("-number"))
    if any(attempt.outcome in OPEN_ENDED for attempt in attempts):
        return False
    in_vain = takewhile(lambda attempt: attempt.outcome in FOR_NOW, attempts)
    last, row = attempts[0], len({attempt.provider_key for attempt in in_vain})
    was = effect.status
    spent = failing and row >= settings.LEDGER_REFUSALS
    if last.outcome == status.Outcome.REFUSED or spent:
        rows.change(effect, status=status.Status.FAILED, error=last.error, retry_at=None)
    else:
        wait = None
        if last.outcome == status.Outcome.RETRYABLE:
            wait = rows.later(retry_after, row)
        rows.change(effect, status=status.Status.PENDING, error=last.error, retry_at=wait)
    if was == status.Status.IN_DOUBT:
        rows.wake(effect.run_id, cause=noop("late answer"))
        rows.tell("effect.late_refusal", effect, data={"attempt": last.number}, reason=last.error)
    if effect.status == status.Status.FAILED:
        facts = {"attempt": last.number, "arguments": effect.args_hash}
        rows.tell("effect.failed", effect, data=facts, reason=last.error)
    return True


# --- in doubt ------------------------------------------------------------------------------------


def doubt(effect: Effect, reason: str, *, actor: Actor | None = None) -> None:
    """In a transaction, run and effect locked: nobody but a person can say how it ended."""
    for attempt in effect.calls.filter(outcome=status.Outcome.OPEN):
        rows.close(attempt, status.Outcome.UNKNOWN, Outcome.unknown(reason))
    rows.change(effect, status=status.Status.IN_DOUBT, error=rows.text(reason), retry_at=None)
    rows.wake(effect.run_id, cause=noop("effect in doubt"))
    rows.tell("effect.in_doubt", effect, reason=reason, actor=actor)


def give_up_on(attempt: EffectAttempt, why: str) -> None:
    """In a transaction, run and effect locked: nobody will hear the end of this open call."""
    rows.close(attempt, status.Outcome.UNKNOWN, Outcome.unknown(why))


def _pause_after(effect: Effect, attempt: EffectAttempt, outcome: Outcome) -> datetime:
    tried = effect.calls.filter(provider_key=attempt.provider_key).count()
    return rows.later(outcome.retry_after, tried)
