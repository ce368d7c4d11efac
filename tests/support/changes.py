"""A run that has asked and done something, and each change of what belongs to it."""

from __future__ import annotations

from collections.abc import Callable

from django.db import transaction

from accounts.actors import Actor
from approvals.models import (
    Claim,
    Decision,
    Firing,
    Mishap,
    Request,
    Vote,
    Withdrawal,
)
from audit import trail
from ledger.models import (
    Drift,
    Effect,
    EffectAttempt,
    HookEvent,
    Incident,
    Look,
    Message,
    UndoPlan,
)
from runs.models import Attempt, Erasure, Intervention, Lease, Operation, OperationItem, Run
from runs.status import Status
from signalbox import stamps
from tests.support import scenes
from tests.support import standing as make
from tests.support.people import person


def busy() -> Run:
    clock, made = scenes.Clock(hours=1), make.run(status=Status.WAITING)
    scenes.question(made, clock, "t", 5)
    scenes.effect(made, clock, "t", [(1, 2, "succeeded")])
    make.attempt(made)
    make.checkpoint(made, 0, at=clock.at(1))
    return made


def stamp(run: Run) -> str:
    return stamps.of(f"/runs/{run.pk}/")


def request(run: Run) -> Request:
    return Request.objects.get(run=run)


def effect(run: Run) -> Effect:
    return Effect.objects.get(run=run)


def status(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(status=Status.QUEUED)


def beat(run: Run) -> None:
    Lease.objects.filter(pk=run.pk).update(renewed_at=make.ago(seconds=1))


def told(run: Run) -> None:
    target = ("run", str(run.pk))
    trail.record("run.retried", actor=Actor.system("test"), target=target, run_id=run.pk)


def checkpoint(run: Run) -> None:
    make.checkpoint(run, 1, at=make.ago(seconds=1))


def checkpoint_write(run: Run) -> None:
    make.write(run, "1f000000-0000-6000-8000-000000000000", "task", "~__pregel_pull, pay")


def attempt(run: Run) -> None:
    Attempt.objects.filter(run=run).update(detail="Another")


def intervention(run: Run) -> None:
    ada = person("Ada")
    Intervention.objects.create(run=run, kind="retry", user=ada, label="Ada", reason="So")


def erasure(run: Run) -> None:
    Erasure.objects.create(run=run, kind="payloads", rows=1, bytes=1)


def operation(run: Run) -> None:
    ordered = Operation.objects.create(kind="cancel", reason="So", asked_by=person("Ada"))
    OperationItem.objects.create(operation=ordered, run=run, position=1, footing="")


def effect_settled(run: Run) -> None:
    Effect.objects.filter(run=run).update(status="in_doubt")


def call(run: Run) -> None:
    EffectAttempt.objects.filter(effect__run=run).update(outcome="unknown")


def webhook(run: Run) -> None:
    HookEvent.objects.create(provider="p", event="e", kind="k", heard="known", effect=effect(run))


def look(run: Run) -> None:
    Look.objects.create(
        effect=effect(run), provider_key="k", attempt=1, answer="found", counts=True
    )


def incident(run: Run) -> None:
    Incident.objects.create(kind="duplicate", run=run, effect=effect(run))


def drift(run: Run) -> None:
    step = {"step": "pay@t", "tool": "payments.refund", "key": "k", "args": {}, "args_hash": "h"}
    before = {"before": effect(run), "fence_before": 1, "fence": 2, "stopped": True}
    Drift.objects.create(run=run, **step, **before)


def message(run: Run) -> None:
    Message.objects.create(destination="d", payload={}, dedupe="k", run=run)


def undo(run: Run) -> None:
    UndoPlan.objects.create(run=run, effects=[], reason="So", asked_by="Ada")


def question(run: Run) -> None:
    Request.objects.filter(run=run).update(groups=["finance", "legal"])


def claim(run: Run) -> None:
    times = {"at": make.ago(seconds=1), "expires_at": make.soon(minutes=1)}
    Claim.objects.create(request=request(run), user=person("Ben"), **times)


def vote(run: Run) -> None:
    ben = person("Ben")
    Vote.objects.create(request=request(run), user=ben, verdict="approved", missing=1)


def decision(run: Run) -> None:
    Decision.objects.create(request=request(run), verdict="approved", decider="Ben", answer={})


def escalation(run: Run) -> None:
    Firing.objects.create(request=request(run), kind="escalation")


def mishap(run: Run) -> Mishap:
    ben = person("Ben")
    return Mishap.objects.create(
        request=request(run), severity="minor", note="So", by=ben, by_label="Ben", token="t"
    )


def withdrawal(run: Run) -> None:
    said = mishap(run)
    with transaction.atomic():
        Withdrawal.objects.create(mishap=said, reason="So", by=said.by, by_label="Ben")


def deadline(run: Run) -> None:
    """It passes: nothing is written then."""
    Request.objects.filter(run=run).update(deadline=make.ago(seconds=1))


CHANGES: tuple[Callable[[Run], object], ...] = (
    *(status, beat, told, checkpoint, checkpoint_write, attempt, intervention, erasure),
    *(operation, effect_settled, call, webhook, look, incident, drift, message, undo),
    *(question, claim, vote, decision, escalation, mishap, withdrawal, deadline),
)
