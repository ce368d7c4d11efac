"""Questions of every shape from real agents, and requests in every state."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

from accounts import clock
from accounts.actors import Actor
from accounts.models import User
from approvals import policy
from approvals.aftermath import mishaps
from approvals.models import Decision, Delegation, PolicyVersion, Request
from approvals.status import Severity
from runs import admission
from runs.models import Lease, Run
from tests.approvals.conftest import approve, ask, ours, pending, reject
from tests.support import driven

if TYPE_CHECKING:
    from tests.pages.every.world import World

REFUND = {"order_id": "10382", "amount_cents": 1290, "currency": "EUR"}
HOSTILE = '<img src=x onerror="alert(1)"></script>\u202eelbisivni\u202c' + "y" * 200


def add(world: World, shapes: Iterable[str]) -> None:
    _policies(world)
    for name in shapes:
        run = admission.start(name, {}, actor=Actor.command("test"))
        driven.drive(run)
        world.put(f"asked {name}", Request.objects.filter(run=run).latest("created_at").pk)
    for name, request in _every_state(world).items():
        world.put(f"request {name}", request.pk)
    _mishaps(world)


def _refund(by: User, order: str = "10382", **parts: object) -> Request:
    run = Run.objects.create(
        agent="refund_desk",
        agent_version="1.0",
        title=f"Refund order {order}",
        input={"order_id": order},
        status="waiting",
        started_by=by,
        starter=by.label,
    )
    Lease.objects.create(run=run, fence=1)
    body = ours(
        f"Refund order {order}",
        **{"args": REFUND | {"order_id": order}, "why": "It arrived damaged (2 photos)."} | parts,
    )
    request: Request = ask(run, pending(body))
    return request


def _every_state(world: World) -> dict[str, Request]:
    ada, ben, eve = (world.people[name] for name in ("Ada", "Ben", "Eve"))
    made = {
        "pending": _refund(ada),
        "masked": _refund(ada, "10383", args=REFUND | {"iban": "DE02120300000000202051"}),
        "hostile": _refund(ada, "10384", facts={"Says": HOSTILE}, why=HOSTILE),
        "too long": _refund(ada, "10385", args={"rows": ["x" * 100] * 700}),
        "approved": _refund(ada, "10386"),
        "rejected": _refund(ada, "10387"),
        "expired": _refund(ada, "10388"),
        "withdrawn": _refund(ada, "10389"),
        "superseded": _refund(ada, "10390"),
        "took effect": _refund(ada, "10391"),
        "not delivered": _refund(ada, "10392"),
    }
    for name in ("approved", "took effect", "not delivered"):
        approve(made[name], ben)
    reject(made["rejected"], eve, comment="No receipt.", reason="No receipt")
    for name in ("expired", "withdrawn"):
        closed = {"status": name, "closed_at": clock.now(), "close_reason": "the run moved on"}
        Request.objects.filter(pk=made[name].pk).update(**closed)
    made["after superseded"] = ask(
        made["superseded"].run, pending(ours("Refund order 10390 in full", args=REFUND))
    )
    delivered = {"deliveries": 1, "delivered_at": clock.now()}
    of = Decision.objects.filter
    of(request=made["took effect"]).update(delivery="took_effect", **delivered)
    of(request=made["not delivered"]).update(
        delivery="not_delivered", delivery_detail="The run was cancelled.", **delivered
    )
    return made


def _mishaps(world: World) -> None:
    (request_id,) = world.of["request took effect"]
    cy = Actor.person(world.people["Cy"], entry="page")
    told = mishaps.report(
        request_id, actor=cy, severity=Severity.HIGH, note="The customer called.", token="t" * 32
    )
    world.put("mishap", told.pk)
    decision = Decision.objects.get(request=request_id)
    world.put("decision", decision.pk)


def _policies(world: World) -> None:
    ben, eve, now = world.people["Ben"], world.people["Eve"], clock.now()
    standing = Delegation.objects.create(
        absent=ben,
        stand_in=eve,
        agents=["refund_*"],
        starts_at=now - timedelta(hours=1),
        ends_at=now + timedelta(days=3),
        reason="Holiday",
        made_by=ben,
    )
    world.put("delegation", standing.pk)
    book = policy.in_force()
    for number in (1, 2):
        PolicyVersion.objects.create(
            number=number,
            policies=[each.stored() | {"quorum": 1} for each in book.policies],
            what="changed small refunds",
            reason="Audit finding 12",
            by_label="Rut",
            at=now,
        )
    world.put("policy", "small refunds")
    world.put("policy version", 2)
