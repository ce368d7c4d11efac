"""Noticing drift when an effect is reserved: in its transaction, with the run locked."""

from __future__ import annotations

from django.conf import settings
from django.db.models import Exists, OuterRef

from accounts.actors import Actor
from audit import trail
from audit.models import ClockTimestamp
from ledger import refusals
from ledger.drift.states import UNDECIDED
from ledger.keys import Intent
from ledger.models import Drift, Effect
from ledger.registry import Tool
from ledger.status import Status

STOP = "stop"


def reached(effect: Effect, intent: Intent) -> None:
    """This driver's attempt has asked for an effect that is there; what it seemed to miss it did
    not.
    """
    if intent.resolving or effect.reached_fence == intent.fence:
        return
    Effect.objects.filter(pk=effect.pk).update(reached_fence=intent.fence)
    effect.drifts.filter(fence=intent.fence, withdrawn_at=None, accepted_at=None).update(
        withdrawn_at=ClockTimestamp()
    )


def stopped(intent: Intent) -> refusals.Drifted | None:
    """What this run was stopped for, if nobody has accepted it yet."""
    drift = Drift.objects.filter(UNDECIDED, run_id=intent.run_id).first()
    return _refusal(drift) if drift is not None else None


def notice(intent: Intent, tool: Tool) -> refusals.Drifted | None:
    """Before an effect that is not there is made: write down what it drifts from, if it does.

    Returns what stops it, if it may not be started.
    """
    known = Drift.objects.filter(before=OuterRef("pk"), withdrawn_at=None)
    missed = (
        Effect.objects.filter(
            ~Exists(known),
            run_id=intent.run_id,
            step=intent.step,
            tool=intent.tool_name,
            reached_fence__lt=intent.fence,
        )
        .order_by("created_at", "uid")
        .first()
    )
    if missed is None:
        return None
    drift = Drift.objects.create(
        run_id=intent.run_id,
        step=intent.step,
        tool=intent.tool_name,
        before=missed,
        fence_before=missed.reached_fence,
        key=intent.key,
        args=intent.args,
        args_hash=intent.args_hash,
        fence=intent.fence,
        stopped=_stops(tool, missed),
    )
    _record(drift, intent)
    return _refusal(drift) if drift.stopped else None


def _stops(tool: Tool, missed: Effect) -> bool:
    """An earlier effect that certainly did not happen is no reason to stop."""
    return (tool.drift or settings.LEDGER_DRIFT) == STOP and missed.status != Status.FAILED


def _record(drift: Drift, intent: Intent) -> None:
    trail.record(
        "effect.drifted",
        actor=Actor.system(intent.authority.lease.holder),
        target=("effect", str(drift.before.uid)),
        run_id=drift.run_id,
        allowed=not drift.stopped,
        data={
            "drift": str(drift.uid),
            "tool": drift.tool,
            "step": drift.step,
            "key": drift.before_id,
            "now": drift.key,
            "fence": drift.fence,
        },
    )


def _refusal(drift: Drift) -> refusals.Drifted:
    return refusals.Drifted(
        f"{drift.tool} was asked for with other arguments or another key than an earlier attempt of"
        " this step had. Nothing was sent. Look at both, and accept the new ones or cancel the run."
    )
