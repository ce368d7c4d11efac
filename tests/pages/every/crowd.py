"""The same world with many times more of everything, in lists and in single runs alike."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.db import transaction

from accounts import clock
from accounts.actors import Actor
from accounts.models import SavedView
from approvals.aftermath import mishaps
from approvals.models import Decision, Delegation, PolicyVersion, Request
from approvals.status import Severity
from audit import seal, trail
from audit.verbs import VERBS
from ledger import outbox
from ledger.inventory import boxes
from ledger.models import Drift, Effect, HookEvent, Incident, Message, Stop, UndoPlan
from runs.models import Intervention, Run, Worker
from runs.operations import footing, ordering
from runs.operations.ordering import Order
from runs.status import Outcome, Park, Status
from tests.approvals.conftest import approve, ask, ours, pending, reject
from tests.ledger.rows import ARGS, asked_in_vain, call, effect, in_doubt
from tests.pages.every.world import World
from tests.pages.test_runs import waiting
from tests.pages.test_tools import TOOLS
from tests.support import standing as make
from tests.support.people import person

REFUND = {"order_id": "10382", "amount_cents": 1290, "currency": "EUR"}


LOOKED_INTO = ("waiting", "ended with effects", "parked bad_answer", "stuck", "succeeded")
"""Runs of which everything becomes more."""


def grow(world: World, numbers: Iterable[int]) -> None:
    """One more of everything for each number."""
    for number in numbers:
        _requests(world, number)
        _effects(number)
        _around(world, number)
        for name in LOOKED_INTO:
            _within(Run.objects.get(pk=world.of[name][0]), world, number)
        _runs(world)
    seal.seal()


def _runs(world: World) -> None:
    """Of every state, some of people and some of programs; so new that lists begin with them."""
    for by in (world.people["Ada"], None):
        new: dict[str, Any] = {"by": by, "created_at": make.ago()}
        waiting(by=by)
        for park in Park:
            make.parked(park, **new)
        for made in (make.running, make.stuck, make.stalled):
            made(**new)
        make.run(**new)
        make.run(due_at=make.soon(minutes=1), **new)
        for status in (Status.WAITING, Status.SUCCEEDED, Status.FAILED, Status.CANCELLED):
            make.run(status=status, error_class="Timeout", error="no answer", **new)


def _asked(world: World, **parts: Any) -> Request:
    run = make.run(by=world.people["Ada"], status="waiting")
    make.lease(run, fence=1)
    request: Request = ask(run, pending(ours(**{"args": REFUND} | parts)))
    return request


def _requests(world: World, number: int) -> None:
    ben, eve, cy = (world.people[name] for name in ("Ben", "Eve", "Cy"))
    for _ in range(3):
        _asked(world)
    _asked(world, args=REFUND | {"iban": "DE02120300000000202051"})
    approved, rejected, over = (_asked(world) for _ in range(3))
    approve(approved, ben)
    reject(rejected, eve, comment="No receipt.", reason="No receipt")
    closed = {"status": "expired", "closed_at": clock.now(), "close_reason": "Nobody decided."}
    Request.objects.filter(pk=over.pk).update(**closed)
    Decision.objects.filter(request=approved).update(
        delivery="took_effect", deliveries=1, delivered_at=clock.now()
    )
    mishaps.report(
        approved.pk,
        actor=Actor.person(cy, entry="page"),
        severity=Severity.HIGH,
        note="The customer called.",
        token=uuid4().hex,
    )
    absent = person(f"Absent{number}", "finance", "approver")
    Delegation.objects.create(
        absent=absent,
        stand_in=ben,
        starts_at=clock.now() - timedelta(hours=1),
        ends_at=clock.now() + timedelta(days=3),
        reason="Holiday",
        made_by=absent,
    )
    newest = PolicyVersion.objects.latest("number")
    PolicyVersion.objects.create(
        number=newest.number + 1,
        policies=[*newest.policies, newest.policies[0] | {"name": f"refunds {number}"}],
        what="added a policy",
        reason="Audit finding 12",
        by_label="Rut",
        at=clock.now(),
    )


def _effects(number: int, run: Run | None = None) -> None:
    sent, doubtful = effect(run, provider_ref="re_1"), in_doubt(run=run, tool="carrier.book")
    call(sent, provider_ref="re_1", http_status=201)
    for status, outcome in (("confirmed", "succeeded"), ("pending", "open"), ("failed", "refused")):
        call(effect(run, status=status), outcome)
    by_hand = effect(run, settled_by="Ada", settle_reason="Seen.")
    Incident.objects.create(kind="duplicate", run=by_hand.run, effect=by_hand, facts={"n": 1})
    asked_in_vain(doubtful)
    HookEvent.objects.create(
        provider="fakepay", event=uuid4().hex, kind="refund", heard="incident", effect=doubtful
    )
    Drift.objects.create(
        run_id=sent.run_id,
        step=sent.step,
        tool=sent.tool,
        before=sent,
        fence_before=1,
        key=uuid4().hex,
        args=ARGS,
        args_hash=uuid4().hex,
        fence=2,
        stopped=True,
    )
    if run is None:
        Stop.objects.create(scope="tool", name=f"tool {number}", reason="Wrong.", set_by="Ada")
        effect(tool=f"tool.{number}")


def _around(world: World, number: int) -> None:
    """Workers, messages, orders to many runs, saved views, and entries of the log."""
    ada = world.people["Ada"]
    known = {"hostname": "h", "pid": 1, "agents": {"refund_desk": "1.0"}, "slots": 2}
    # It lives until the last page has been looked at.
    Worker.objects.create(name=f"worker@{number}", seen_at=make.soon(hours=1), **known)
    boxes.announce(f"worker@{number}", TOOLS)
    with transaction.atomic():
        for name in ("crm", "mail", f"crm {number}"):
            outbox.add(name, {"n": number}, dedupe=uuid4().hex)
    Message.objects.filter(destination=f"crm {number}").update(
        status="dead", closed_at=clock.now(), tries=12, error="HTTP 503"
    )
    actor = Actor.person(ada, entry="bulk")
    runs = [make.run(by=ada) for _ in range(2)]
    wanted = Order(
        kind="cancel",
        runs=[(run.pk, footing.of("cancel", run, 0)) for run in runs],
        reason="A wave of fraud.",
        token=uuid4().hex,
    )
    ordering.order(wanted, actor=actor)
    for owner in (ada, world.people["Rut"]):
        for path in ("/runs/", "/ledger/", "/audit/"):
            SavedView.objects.create(
                owner=owner, path=path, query="q=order_id:1", name=f"View {number}", shared=True
            )
    for verb in VERBS:
        trail.record(verb, actor=actor, target=(verb.partition(".")[0], str(runs[0].pk)))


def _within(run: Run, world: World, number: int) -> None:
    """What the pages of one run show."""
    ada = world.people["Ada"]
    make.attempt(run, 100 + number, outcome=Outcome.RAISED, error_class="Timeout")
    make.checkpoint(run, 100 + number, at=make.ago(seconds=30), updated=["branch:to:again"])
    Intervention.objects.create(
        run=run, kind="retry", user=ada, label=ada.label, reason="The customer called."
    )
    _effects(number, run)
    for verb in ("run.retried", "effect.sent"):
        actor = Actor.person(ada, entry="page")
        trail.record(verb, actor=actor, target=("run", str(run.pk)), run_id=run.pk)
    done = Effect.objects.filter(run=run, status="confirmed").first()
    plan = {"effects": [str(done.uid)] if done else [], "status": "done", "reason": "Twice."}
    UndoPlan.objects.create(run=run, asked_by="Ada", ended_at=clock.now(), **plan)
