"""Effects in every state, what was done about them, and the outbox."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.db import transaction

from accounts import clock
from audit.models import ClockTimestamp
from ledger import outbox
from ledger.inventory import boxes
from ledger.models import (
    Drift,
    Effect,
    HookEvent,
    HookRefusals,
    Incident,
    Message,
    Stop,
    UndoPlan,
)
from runs.models import Run
from tests.ledger.conftest import make_run
from tests.ledger.rows import ARGS, asked_in_vain, call, effect, in_doubt
from tests.pages.test_tools import TOOLS

if TYPE_CHECKING:
    from tests.pages.every.world import World

HOSTILE = '<img src=x onerror="alert(1)"><b hx-get="/x" hx-trigger="load">\u202e' + "y" * 200


def add(world: World) -> None:
    boxes.announce("worker@alpha", TOOLS)
    for name, one in _every_state().items():
        world.put(f"effect {name}", one.uid)
    world.put("drift", _drift().uid)
    world.put("ended with effects", _ended(world).pk)
    for scope, name, lifted in (("tool", "carrier.book", False), ("agent", "triage", True)):
        stop = Stop.objects.create(scope=scope, name=name, reason=HOSTILE, set_by="Ada")
        if lifted:
            lift = {"lifted_at": clock.now(), "lifted_by": "Ada"}
            Stop.objects.filter(pk=stop.pk).update(**lift)
        else:
            world.put("stop", stop.pk)
    _outbox(world)


def _every_state() -> dict[str, Effect]:
    made = {
        "sent": effect(provider_ref="re_1", result={"id": "re_1", "email": "eve@example.org"}),
        "confirmed": effect(status="confirmed", provider_ref="re_2"),
        "in doubt": in_doubt(tool="carrier.book", look_at=clock.now() + timedelta(minutes=4)),
        "calling": effect(status="pending"),
        "pending": effect(status="pending", attempts=0),
        "failed": effect(status="failed", error=HOSTILE, args={"memo": HOSTILE}),
        "settled": effect(provider_ref=HOSTILE, settled_by="Ada", settle_reason=HOSTILE),
    }
    call(made["sent"], provider_ref="re_1", http_status=201)
    call(made["calling"], "open")
    call(made["failed"], "refused", error=HOSTILE, response={"detail": HOSTILE})
    twice, doubtful = made["settled"], made["in doubt"]
    Incident.objects.create(
        kind="duplicate", run=twice.run, effect=twice, facts={"second": HOSTILE}
    )
    asked_in_vain(doubtful)
    HookEvent.objects.create(
        provider="fakepay", event="evt_1", kind="refund.updated", heard="incident", effect=doubtful
    )
    HookRefusals.objects.create(provider="fakepay", count=12, why="no signature fits")
    return made


def _drift() -> Drift:
    before = effect(provider_ref="re_3", args=ARGS | {"request_id": "one"})
    call(before, provider_ref="re_3", http_status=201)
    Run.objects.filter(pk=before.run_id).update(status="parked", park_reason="drift")
    return Drift.objects.create(
        run_id=before.run_id,
        step=before.step,
        tool=before.tool,
        before=before,
        fence_before=1,
        key=f"{before.idempotency_key[:-8]}{'f' * 8}",
        args=ARGS | {"request_id": "another", "note": HOSTILE},
        args_hash="f" * 64,
        fence=2,
        stopped=True,
    )


def _ended(world: World) -> Run:
    """A run that was cancelled after it had refunded and written a mail."""
    run, now = make_run("refund_desk"), clock.now()
    ended = {"status": "cancelled", "ended_at": now, "started_by": world.people["Ada"]}
    Run.objects.filter(pk=run.pk).update(**ended)
    call(effect(run, undo="payments.cancel", provider_ref="re_9", first_started_at=now))
    call(effect(run, tool="mail.send", provider_ref="ml_1", first_started_at=now))
    done = effect(run, provider_ref="re_10", first_started_at=now)
    UndoPlan.objects.create(
        run=run, effects=[str(done.uid)], status="done", reason="Twice.", asked_by="Ada",
        ended_at=now,
    )  # fmt: skip
    return run


def _outbox(world: World) -> None:
    with transaction.atomic():
        for n in range(2):
            outbox.add("crm", {"order": n}, dedupe=str(n))
        outbox.add("mail", {"order": 9}, dedupe="9")
    Message.objects.filter(destination="crm").update(
        status="dead", closed_at=ClockTimestamp() - timedelta(hours=1), tries=12, error="HTTP 503"
    )
    Message.objects.filter(destination="mail").update(
        tries=1, error="away", due_at=ClockTimestamp() + timedelta(hours=1)
    )
    world.put("dead message", Message.objects.filter(destination="crm").latest("seq").uid)
    world.put("destination", "crm")
