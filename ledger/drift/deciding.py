"""Accepting drift: a person has looked at both sides, and the run may do what it wants now."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction

from accounts import actors
from accounts import errors as people
from accounts.actors import Actor
from audit import canonical, trail
from audit.models import ClockTimestamp
from ledger import errors, rows
from ledger.models import Drift
from runs import controls

PERMISSION = "ledger.settle_effect"


def accept(uid: UUID, *, actor: Actor, reason: str) -> Drift:
    """Let the run go on with what it asks for now. What was done before stays done.

    Raises NotPermitted, ReasonMissing, NoSuchDrift, NothingToAccept. A refusal is recorded.
    """
    try:
        with transaction.atomic():
            actors.require(actor, PERMISSION)
            if not reason.strip():
                raise errors.ReasonMissing
            return _accept(uid, actor, canonical.text(reason.strip()))
    except (errors.LedgerError, people.AccountsError) as refusal:
        trail.record_refused(
            "effect.drift_refused",
            actor=actor,
            target=("drift", str(uid)),
            run_id=Drift.objects.filter(uid=uid).values_list("run_id", flat=True).first(),
            reason=str(refusal),
        )
        raise


def _accept(uid: UUID, actor: Actor, reason: str) -> Drift:
    found = Drift.objects.filter(uid=uid).select_related("before").first()
    if found is None:
        raise errors.NoSuchDrift
    rows.lock_run(found.run_id)
    undecided = Drift.objects.filter(pk=found.pk, withdrawn_at=None, accepted_at=None)
    accepted = undecided.filter(stopped=True).update(
        accepted_by=actor.label, accept_reason=reason, accepted_at=ClockTimestamp()
    )
    if not accepted:
        raise errors.NothingToAccept
    trail.record(
        "effect.drift_accepted",
        actor=actor,
        target=("effect", str(found.before.uid)),
        run_id=found.run_id,
        reason=reason,
        data={"drift": str(uid), "tool": found.tool, "key": found.before_id, "now": found.key},
    )
    controls.forgive_parked(found.run_id)
    found.refresh_from_db()
    return found
