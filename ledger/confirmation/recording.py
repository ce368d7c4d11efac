"""What a provider's word means for an effect. Run and effect are locked by the caller.

1. That something happened is a fact: it counts in every state, and before our own call has
   answered. If it had been ruled out, an incident opens.
2. That nothing happened ends the calls that may have happened, as a refusal of the call itself
   would. While one is under way it is too early: the call's own answer is about to come.
3. What happened and was taken back stays done: the node was told so and has acted on it. Unless we
   had it taken back ourselves, an incident opens, and a person looks.
4. Two references for one key are two performances: an incident.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as noop

from accounts import clock
from accounts.actors import Actor
from audit import canonical
from ledger import facts, rows, status
from ledger.models import Effect, EffectAttempt, Incident
from ledger.outcomes import Found, Outcome
from ledger.seen import OPEN_ENDED
from ledger.status import Heard, Status


class TooEarly(Exception):
    """A call of this effect is under way, and its own answer is about to come."""


def happened(effect: Effect, found: Found, *, actor: Actor) -> Heard:
    """It happened, the provider says."""
    reference = canonical.text(found.reference)[: rows.LONGEST_REFERENCE]
    if effect.status in status.DONE:
        return _once_more(effect, reference, actor)
    ruled_out = effect.status == Status.FAILED or (
        effect.status == Status.PENDING and not _open_ended(effect)
    )
    was = effect.status
    facts.found(effect, found, actor=actor)
    if was == Status.PENDING:
        rows.wake(effect.run_id, cause=noop("confirmed"))
    if not ruled_out:
        return Heard.CONFIRMED
    return incident(Incident.Kind.CONTRADICTION, effect, reference)


def _once_more(effect: Effect, reference: str, actor: Actor) -> Heard:
    if reference and effect.provider_ref and reference != effect.provider_ref:
        heard = incident(Incident.Kind.DUPLICATE, effect, reference)
        if heard is Heard.INCIDENT:
            data: dict[str, object] = {"reference": reference, "first": effect.provider_ref}
            rows.tell("effect.duplicate", effect, data=data, actor=actor)
        return heard
    if effect.status == Status.CONFIRMED:
        return Heard.KNOWN
    was = effect.status
    rows.change(
        effect, status=Status.CONFIRMED, provider_ref=effect.provider_ref or reference, look_at=None
    )
    told: dict[str, object] = {
        "reference": effect.provider_ref,
        "arguments": effect.args_hash,
        "was": was,
    }
    rows.tell("effect.confirmed", effect, data=told, actor=actor)
    return Heard.CONFIRMED


def refused(effect: Effect, *, key: str, why: str, actor: Actor) -> Heard:
    """Nothing happened, the provider says. Raises TooEarly."""
    if effect.status in status.DONE:
        if key and key != effect.provider_key:
            return Heard.KNOWN  # of a call before the one that succeeded
        return reversed_(effect, why=why, actor=actor)
    attempts = effect.calls.filter(outcome__in=OPEN_ENDED)
    if key:
        attempts = attempts.filter(provider_key=key)
    last = attempts.order_by("-number").first()
    if last is None:
        return Heard.KNOWN
    if _under_way(last):
        raise TooEarly
    facts.refused(effect, last, Outcome.refused(why, decisive=True))
    return Heard.REFUSED


def reversed_(effect: Effect, *, why: str, actor: Actor) -> Heard:
    """It happened and was taken back, the provider says. Raises TooEarly."""
    if effect.status not in status.DONE:
        return refused(effect, key="", why=why, actor=actor)
    if Effect.objects.filter(undoes=effect).exists():
        return Heard.EXPECTED
    heard = incident(Incident.Kind.REVERSED, effect, effect.provider_ref, why=canonical.text(why))
    if heard is Heard.INCIDENT:
        rows.tell("effect.reversed", effect, reason=canonical.text(why), actor=actor)
    return heard


def incident(kind: Incident.Kind, effect: Effect, reference: str, **more: str) -> Heard:
    """Open an incident, once for each reference."""
    known = effect.incidents.filter(kind=kind, facts__reference=reference)
    if known.exists():
        return Heard.KNOWN
    facts_ = {"reference": reference, "first": effect.provider_ref, "attempt": effect.attempts}
    Incident.objects.create(
        kind=kind, run_id=effect.run_id, effect=effect, facts={**facts_, **more}
    )
    return Heard.INCIDENT


def _open_ended(effect: Effect) -> bool:
    return effect.calls.filter(outcome__in=OPEN_ENDED).exists()


def _under_way(attempt: EffectAttempt) -> bool:
    return attempt.outcome == status.Outcome.OPEN and attempt.timeout_at > clock.now()
