"""The runs that are really driven, in this process, one for each way in which a run can stand."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID, uuid4

from django.utils import timezone

from accounts.actors import Actor
from accounts.errors import NotPermitted
from accounts.models import User
from approvals import decisions
from approvals.models import Request
from audit.models import ClockTimestamp
from ledger import settle
from ledger.models import Effect
from ledger.status import Status
from runs import admission, controls, driver, leases
from runs.models import Lease
from signalbox.seed.people import Cast

HOLDER = "seed@localhost:1"
ORDER = "10382"
"""The order number of every original; each copy has one of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """One driven run, and how large a part of all runs are its copies."""

    run_id: UUID
    share: float
    ended: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    share: float
    agent: str
    ended: bool = True
    given: dict[str, object]
    then: Callable[[UUID], None]
    """What is done after admission."""


def drive(cast: Cast, *, steps: int) -> list[Original]:
    """Start and drive one run of each kind; the longest has so many steps."""
    return [_make(kind, cast.requester) for kind in _kinds(cast.approver, cast.operator, steps)]


def _kinds(approver: User, operator: User, steps: int) -> list[_Kind]:
    def decided(verdict: str) -> Callable[[UUID], None]:
        return lambda run_id: _decide(run_id, verdict, approver)

    def cancelled(run_id: UUID) -> None:
        _drive(run_id)
        reason = "The customer has called it off."
        with suppress(NotPermitted):
            controls.cancel(run_id, actor=Actor.person(approver, entry="page"), reason=reason)
        controls.cancel(run_id, actor=Actor.person(operator, entry="page"), reason=reason)
        _drive(run_id)

    def settled(run_id: UUID) -> None:
        _drive(run_id)
        _settle(run_id, operator)
        _drive(run_id)

    def order(how: str) -> dict[str, object]:
        return {"order_id": ORDER, "how": how}

    def pages(size: int) -> dict[str, object]:
        return {"order_id": ORDER, "size": size}

    desk, returns = "refund_desk", "returns_desk"
    return [
        _Kind(share=0.515, agent=desk, given=order("small"), then=_drive),
        _Kind(share=0.120, agent=returns, given=order("small"), then=_drive),
        _Kind(share=0.080, agent=desk, given=order("asked"), then=decided("approved")),
        _Kind(share=0.020, agent=desk, given=order("asked"), then=decided("rejected")),
        _Kind(share=0.020, agent=desk, given=order("failed"), then=_drive),
        _Kind(share=0.008, agent=desk, given=order("asked"), then=cancelled),
        _Kind(share=0.004, agent=desk, given=order("asked"), then=_drive, ended=False),
        _Kind(share=0.001, agent=returns, given=order("doubted"), then=_drive, ended=False),
        _Kind(share=0.005, agent=returns, given=order("doubted"), then=settled),
        _Kind(share=0.001, agent=desk, given=order("small"), then=_leave_stuck, ended=False),
        _Kind(share=0.0005, agent=desk, given=order("small"), then=_leave, ended=False),
        _Kind(share=0.215, agent="mailing", given=pages(40), then=_drive),
        _Kind(share=0.010, agent="report", given=pages(min(20, steps)), then=_drive),
        _Kind(share=0.0005, agent="report", given=pages(min(200, steps)), then=_drive),
        _Kind(share=0.00003, agent="report", given=pages(steps), then=_drive),
    ]


def _make(kind: _Kind, requester: User) -> Original:
    actor = Actor.person(requester, entry="page")
    run = admission.start(kind.agent, kind.given, actor=actor, key=str(uuid4()))
    kind.then(run.id)
    return Original(run_id=run.id, share=kind.share, ended=kind.ended)


def _drive(run_id: UUID) -> None:
    driver.drive(run_id, holder=HOLDER, cause="seed")


def _leave(_: UUID) -> None:
    """It stays queued."""


def _leave_stuck(run_id: UUID) -> None:
    """As a worker leaves it that was killed."""
    leases.take(run_id, holder=HOLDER, cause="seed")
    Lease.objects.filter(run_id=run_id).update(expires_at=ClockTimestamp() - timedelta(minutes=5))


def _settle(run_id: UUID, operator: User) -> None:
    in_doubt = Effect.objects.get(run_id=run_id, status=Status.IN_DOUBT)
    settle.settle(
        in_doubt.uid,
        "happened",
        actor=Actor.person(operator, entry="page", authenticated_at=timezone.now()),
        reason="The carrier found it in its books.",
        reference=f"cl_{ORDER}",
    )


def _decide(run_id: UUID, verdict: str, approver: User) -> None:
    _drive(run_id)
    request = Request.objects.get(run_id=run_id)
    decisions.decide(
        request.id,
        actor=Actor.person(approver, entry="page"),
        verdict=verdict,
        comment="The carrier has found it." if verdict == "rejected" else "",
        seen_digest=request.digest,
        token=str(uuid4()),
    )
    _drive(run_id)
