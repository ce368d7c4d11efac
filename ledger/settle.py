"""Settling by hand: a person says how an effect in doubt ended.

1. Only what is in doubt can be settled, and only once; of two people the first one counts.
2. "It happened" needs the provider's reference. "It did not" allows exactly one further attempt,
   with a key that the provider has not seen.
3. Permission, a recent sign-in and a reason are required inside the transaction that settles. Every
   attempt is recorded, refused ones too.
4. No timer and no rule ever does this.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop as noop

from accounts import actors, clock
from accounts import errors as people
from accounts.actors import Actor
from audit import canonical, trail
from audit.canonical import Json
from ledger import errors, facts, rows, status
from ledger.models import Effect
from runs import overrides

PERMISSION = "ledger.settle_effect"
FRESH = timedelta(minutes=5)
"""How recent a sign-in must be."""

Verdict = Literal["happened", "did_not_happen"]
VERDICTS: tuple[Verdict, ...] = ("happened", "did_not_happen")


def settle(  # noqa: PLR0913 (a settlement has that many sides)
    uid: UUID,
    verdict: Verdict,
    *,
    actor: Actor,
    reason: str,
    reference: str = "",
    result: object = None,
    evidence: str = "",
) -> Effect:
    """Record what a person found out about the effect with this uid, and wake its run.

    happened: it becomes confirmed; the node gets `result`, or {"reference": …} without one.
    did_not_happen: it becomes pending, and one attempt is allowed.
    `evidence` is where others can see for themselves: an address, or a note.

    Raises NotPermitted, ReauthenticationNeeded, NoSuchEffect, NotInDoubt, ReasonMissing,
    ReferenceMissing, BadResult, UnknownVerdict.
    """
    try:
        with transaction.atomic():
            actors.require(actor, PERMISSION)
            if actor.kind == "user" and not actors.fresh(actor, FRESH):
                raise people.ReauthenticationNeeded
            return _settle(
                uid,
                _Said(
                    verdict=verdict,
                    reason=reason,
                    reference=reference,
                    result=result,
                    evidence=evidence,
                ),
                actor,
            )
    except (errors.LedgerError, people.AccountsError) as refusal:
        trail.record_refused(
            "effect.settle_refused",
            actor=actor,
            target=("effect", str(uid)),
            run_id=Effect.objects.filter(uid=uid).values_list("run_id", flat=True).first(),
            reason=str(refusal),
            data={"verdict": verdict, "reference": reference},
        )
        raise


class _Said:
    """What the person said, checked. Raises ReasonMissing, ReferenceMissing, BadResult, …"""

    def __init__(
        self, *, verdict: str, reason: str, reference: str, result: object, evidence: str
    ) -> None:
        if verdict not in VERDICTS:
            raise errors.UnknownVerdict
        self.verdict = verdict
        self.reason = canonical.text(reason.strip())
        if not self.reason:
            raise errors.ReasonMissing
        self.reference = canonical.text(reference.strip())
        self.evidence = rows.text(evidence.strip())
        if verdict == "happened" and not 0 < len(self.reference) <= rows.LONGEST_REFERENCE:
            raise errors.ReferenceMissing
        self.result = _checked(result) if result is not None else {"reference": self.reference}


def _checked(result: object) -> Json:
    shown = canonical.visible(result)
    size = len(json.dumps(shown, ensure_ascii=False).encode())
    if shown != result or size > settings.LEDGER_RESULT_LIMIT:
        raise errors.BadResult
    return shown


def _settle(uid: UUID, said: _Said, actor: Actor) -> Effect:
    found = Effect.objects.filter(uid=uid).values_list("pk", "run_id").first()
    if found is None:
        raise errors.NoSuchEffect
    key, run_id = found
    rows.lock_run(run_id)
    effect = rows.lock_effect(key)
    if effect.status != status.Status.IN_DOUBT:
        raise _not_in_doubt(effect)
    signed = {
        "settled_by": actor.label,
        "settle_reason": said.reason,
        "settle_evidence": said.evidence,
        "settled_at": clock.now(),
    }
    if said.verdict == "happened":
        rows.change(
            effect,
            status=status.Status.CONFIRMED,
            provider_ref=said.reference,
            result=said.result,
            result_cut=False,
            error="",
            **signed,
        )
    else:
        why = f"{actor.label} found out that it did not happen."
        facts.rule_out(effect, upto=effect.attempts, why=why)
        rows.change(effect, status=status.Status.PENDING, retry_allowed=True, error=why, **signed)
    trail.record(
        "effect.settled",
        actor=actor,
        target=("effect", str(effect.uid)),
        run_id=run_id,
        reason=said.reason,
        data={
            "key": effect.idempotency_key,
            "tool": effect.tool,
            "verdict": said.verdict,
            "reference": said.reference,
            "evidence": said.evidence,
        },
    )
    _tell(effect, actor, said.reason)
    rows.wake(run_id, cause=noop("effect settled"))
    return effect


def _tell(effect: Effect, actor: Actor, reason: str) -> None:
    overrides.tell(
        overrides.Override(
            key=f"settled {effect.uid} {effect.attempts}",
            did=_("settled an effect by hand"),
            permission=PERMISSION,
            run_id=effect.run_id,
            about=f"{effect.tool}, {effect.run.title}",
            actor=actor,
            reason=reason,
            url=reverse("ledger:effect", args=[effect.uid]),
        )
    )


def _not_in_doubt(effect: Effect) -> errors.NotInDoubt:
    label = status.STATES[effect.status].label
    if not effect.settled_by or effect.settled_at is None:
        return errors.NotInDoubt(
            noop(
                "The effect is not in doubt any more: {state}. Nothing has changed. Reload"
                " the page."
            ),
            state=label,
        )
    return errors.NotInDoubt(
        noop(
            "{person} has settled this effect on {at:%Y-%m-%d %H:%M} UTC ({reason}). It is"
            " now: {state}. Nothing has changed. Reload the page."
        ),
        person=effect.settled_by,
        at=effect.settled_at,
        reason=effect.settle_reason,
        state=label,
    )
