"""Ordering that effects of a run are taken back: who may, and for what exactly.

Permission, a recent sign-in and a reason are required inside the transaction that orders, and the
effects must be those that the person was shown. Every attempt is recorded, refused ones too.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction

from accounts import actors
from accounts import errors as people
from accounts.actors import Actor
from audit import canonical, trail
from ledger import errors, rows
from ledger.models import Effect, UndoPlan
from ledger.status import Status
from ledger.undo import plan
from runs import dispatch
from runs.models import Run

PERMISSION = "ledger.undo_effect"
TASK = "ledger.tasks.undo"
FRESH = timedelta(minutes=5)
"""How recent a sign-in must be."""


def order(
    run_id: UUID, seen: str, *, actor: Actor, reason: str, only: UUID | None = None
) -> UndoPlan:
    """Have the effects taken back that `seen` stands for (`plan.seen`); `only` one of them.

    The run has ended, or somebody has asked to cancel it: then it is done when it has.
    Raises NotPermitted, ReauthenticationNeeded, ReasonMissing, NoSuchRun, RunGoesOn,
    UndoUnderWay, SettleFirst, NothingToUndo, PlanChanged.
    """
    reason = canonical.text(reason.strip())
    try:
        with transaction.atomic():
            user = actors.require(actor, PERMISSION)
            if actor.kind == "user" and not actors.fresh(actor, FRESH):
                raise people.ReauthenticationNeeded
            if not reason:
                raise errors.ReasonMissing
            effects = _meant(run_id, seen, only)
            made = UndoPlan.objects.create(
                run_id=run_id,
                effects=[str(effect.uid) for effect in effects],
                reason=reason,
                asked_by=actor.label,
                asked_by_user=user,
            )
            _allow_again(effects)
            trail.record(
                "undo.ordered",
                actor=actor,
                target=("run", str(run_id)),
                run_id=run_id,
                reason=reason,
                data={"plan": str(made.uid), "effects": made.effects},
            )
            dispatch.call(TASK)
            return made
    except (errors.LedgerError, people.AccountsError) as refusal:
        trail.record_refused(
            "undo.refused",
            actor=actor,
            target=("run", str(run_id)),
            run_id=run_id,
            reason=str(refusal),
            data={"given": reason},
        )
        raise


def _meant(run_id: UUID, seen: str, only: UUID | None) -> list[Effect]:
    run = Run.objects.select_for_update(no_key=True).filter(pk=run_id).first()
    if run is None:
        raise errors.NoSuchEffect
    if not run.ended and run.cancel_asked_at is None:
        raise errors.RunGoesOn
    if plan.at_work(run_id) is not None:
        raise errors.UndoUnderWay
    steps = plan.steps(run_id)
    if only is None and any(step.doubtful for step in steps):
        raise errors.SettleFirst
    effects = plan.willing(steps)
    if only is not None:
        effects = [effect for effect in effects if effect.uid == only]
    if not effects:
        raise errors.NothingToUndo
    if plan.seen(effects) != seen:
        raise errors.PlanChanged
    return effects


def _allow_again(effects: list[Effect]) -> None:
    """An undo that was refused for certain may be tried once more, with a new key."""
    for effect in effects:
        by = plan.undo_of(effect)
        if by is not None and by.status == Status.FAILED:
            rows.change(rows.lock_effect(by.pk), status=Status.PENDING, retry_allowed=True)
