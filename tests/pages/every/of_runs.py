"""Runs in every state, with workers, and what has been done to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accounts.actors import Actor
from approvals.models import Request
from runs.models import Erasure, Intervention, Pulse, Run, Worker
from runs.operations import footing, ordering
from runs.operations.ordering import Order
from runs.status import Outcome, Park, Status
from tests.approvals.conftest import ours
from tests.pages.test_runs import waiting
from tests.support import standing as make

if TYPE_CHECKING:
    from tests.pages.every.world import World

CHECKPOINT = "1f000002-0000-6000-8000-000000000000"


def add(world: World) -> None:
    _workers()
    ada = world.people["Ada"]
    main = waiting(by=ada)
    Request.objects.filter(run=main).update(payload=ours("Refund order 10382?"))
    world.put("waiting", main.pk)
    world.put("checkpoint", main.pk, CHECKPOINT)
    world.put("effects of waiting", main.pk, "effects")
    world.put("approvals of waiting", main.pk, "approvals")
    for name, run in _every_state().items():
        world.put(name, run.pk)
    for park in Park:
        world.put(f"parked {park}", make.parked(park, f"Parked for {park.label}").pk)
    for kind in Intervention.Kind:
        Intervention.objects.create(
            run=main, kind=kind, user=ada, label=ada.label, reason="The customer called."
        )
    _operations(world)


def _operations(world: World) -> None:
    """One that workers have still to begin, and one that has been stopped."""
    actor = Actor.person(world.people["Ada"], entry="bulk")
    names = ("queued", "stalled", "running")
    runs = [make.again(Run.objects.get(pk=world.of[name][0])) for name in names]
    for name in ("operation done", "operation"):
        wanted = Order(
            kind="cancel",
            runs=[(run.pk, footing.of("cancel", run, run.lease.fence)) for run in runs],
            reason="A wave of fraud.",
            token=name,
            query="",
            matched=None,
        )
        made = ordering.order(wanted, actor=actor)
        world.put(name, made.pk)
        if name == "operation done":
            ordering.stop(made.pk, actor=actor)


def _every_state() -> dict[str, Run]:
    long = "Reconcile invoices " + "and so on " * 12
    ended: dict[str, Any] = {"created_at": make.ago(hours=2), "first_started_at": make.ago(hours=2)}
    erased = make.run("Erased", status=Status.SUCCEEDED, input={"erased": True}, **ended)
    for kind in ("history", "states", "payloads"):
        Erasure.objects.create(run=erased, kind=kind, rows=3, bytes=4096, told=True)
    failed = make.run("Failed", status=Status.FAILED, error_class="Timeout", error="no answer")
    make.attempt(failed, outcome=Outcome.RAISED, error_class="Timeout")
    return {
        "queued": make.run("Queued"),
        "retrying": make.run("Retrying", due_at=make.soon(minutes=1)),
        "running": make.running("Digest the mails"),
        "cancelling": make.running(
            "Cancelling",
            cancel_asked_at=make.ago(seconds=1),
            cancelled_by="Ada Marsh",
            cancel_reason="Twice.",
            read_only=True,
        ),
        "stuck": make.stuck("Close stale tickets"),
        "stalled": make.stalled(long),
        "succeeded": make.run("Succeeded", status=Status.SUCCEEDED, output={"ok": 1}, **ended),
        "failed": failed,
        "cancelled": make.run("Cancelled", status=Status.CANCELLED, **ended),
        "erased": erased,
    }


def _workers() -> None:
    for name, agents, seen in (
        ("worker@alpha", {"refund_desk": "1.0"}, make.ago(seconds=2)),
        ("worker@beta", {}, make.ago(hours=1)),
    ):
        Worker.objects.create(
            name=name, hostname=name[7:], pid=1, agents=agents, seen_at=seen, draining=not agents
        )
    Pulse.objects.create(name="sweeper", note={"rang": 1, "failed": []})
