"""Settling an effect in doubt as one that happened and is not wanted: it is taken back.

First the run is asked to end, then the effect is settled, then its undo is ordered. Whoever dies in
between leaves what is safe: a run that does not go on with something that is not wanted.
"""

from __future__ import annotations

from uuid import UUID

from accounts import actors
from accounts import errors as people
from accounts.actors import Actor
from audit import trail
from ledger import errors, settle
from ledger.models import Effect, UndoPlan
from ledger.status import Status
from ledger.undo import ordering, plan
from runs import controls


def compensate(
    uid: UUID, *, actor: Actor, reason: str, reference: str, evidence: str = ""
) -> UndoPlan:
    """Settle the effect as done under this reference, end its run, and have the effect taken back.

    Raises what `settle.settle`, `controls.cancel` and `ordering.order` do, and NoUndo.
    """
    effect = Effect.objects.select_related("run").filter(uid=uid).first()
    _require(effect, uid, actor)
    if effect is None:
        raise errors.NoSuchEffect
    if not effect.run.ended and effect.run.cancel_asked_at is None:
        controls.cancel(effect.run_id, actor=actor, reason=reason)
    settle.settle(
        uid, "happened", actor=actor, reason=reason, reference=reference, evidence=evidence
    )
    return ordering.order(effect.run_id, plan.seen([effect]), actor=actor, reason=reason, only=uid)


def _require(effect: Effect | None, uid: UUID, actor: Actor) -> None:
    """Before anything is done: that every step of it will be allowed. A refusal is recorded."""
    try:
        actors.require(actor, settle.PERMISSION)
        actors.require(actor, ordering.PERMISSION)
        if actor.kind == "user" and not actors.fresh(actor, ordering.FRESH):
            raise people.ReauthenticationNeeded
        if effect is None:
            raise errors.NoSuchEffect
        if not effect.undo:
            raise errors.NoUndo
        if effect.status != Status.IN_DOUBT:
            raise errors.NotInDoubt
        if plan.at_work(effect.run_id) is not None:
            raise errors.UndoUnderWay
    except (errors.LedgerError, people.AccountsError) as refusal:
        trail.record_refused(
            "effect.settle_refused",
            actor=actor,
            target=("effect", str(uid)),
            run_id=effect.run_id if effect else None,
            reason=str(refusal),
            data={"verdict": "compensate"},
        )
        raise
