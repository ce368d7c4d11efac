"""What happens when nobody has decided in time. A deadline never lapses silently.

1. Only the database's clock says that it has passed, read after run and request are locked.
2. It happens once, whether a sweeper comes first or somebody who clicks too late.
3. `expired` is an answer of its own, never "rejected by nobody". Where the agent has no word for it
   (a bare interrupt whose policy maps none), the run is cancelled instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext_noop as noop

from accounts import clock
from accounts.actors import Actor, ClockTimestamp
from approvals import notices, replies, requests, shapes, waking
from approvals.models import Decision, Request
from approvals.policy import OnDeadline, Policy
from approvals.status import Status, Verdict
from audit import trail
from runs.models import Run

DEADLINE = Actor.system("deadline")
NOBODY = noop("nobody decided in time")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """What follows from a deadline."""

    outcome: OnDeadline
    answer: object = shapes.NOTHING
    """What the agent gets; NOTHING when it gets none."""


def passed(request: Request, at: datetime | None = None) -> bool:
    """Whether the deadline has passed now, or had at the moment `at` of the database's clock.

    Ask after the request is locked, not before.
    """
    return (at or clock.now()) >= request.deadline


def outcome(request: Request, rule: Policy) -> Expiry:
    """What a policy makes of a question that nobody answered."""
    wanted = OnDeadline(rule.on_deadline)
    if wanted in (OnDeadline.CANCEL, OnDeadline.PARK):
        return Expiry(outcome=wanted)
    answer = shapes.expired(replies.unattended(request, rule.answers), by=DEADLINE.label)
    if answer is shapes.NOTHING:
        return Expiry(outcome=OnDeadline.CANCEL)
    return Expiry(outcome=wanted, answer=answer)


def expire(run: Run, request: Request) -> bool:
    """Expire a request whose deadline has passed; False if it was not open any more.

    In a transaction in which first the run and then the request has been locked.
    """
    if not requests.close(request, Status.EXPIRED, NOBODY, actor=DEADLINE):
        return False
    follows = outcome(request, Policy.read(request.policy))
    if follows.answer is not shapes.NOTHING:
        _decide(request, follows.answer)
    notices.notify(notices.Event.DECIDED, request)
    waking.wake(run.pk, cause=noop("deadline"), **_changes(run, follows.outcome))
    if follows.outcome == OnDeadline.CANCEL and run.cancel_asked_at is None:
        trail.record(
            "run.cancel_asked",
            actor=DEADLINE,
            target=("run", str(run.pk)),
            run_id=run.pk,
            reason=NOBODY,
            data={"request": request.pk},
        )
    return True


def _decide(request: Request, answer: object) -> None:
    decision = Decision.objects.create(
        request=request,
        verdict=Verdict.EXPIRED,
        decider=DEADLINE.label,
        digest=request.digest,
        answer=answer,
        at=clock.now(),
    )
    requests.record(
        "decision.made",
        request,
        actor=DEADLINE,
        reason=NOBODY,
        data={"decision": decision.pk, "verdict": decision.verdict, "digest": decision.digest},
    )


def _changes(run: Run, follows: OnDeadline) -> Mapping[str, object]:
    """What becomes of the run itself."""
    if follows == OnDeadline.READ_ONLY:
        return {"read_only": True}
    if follows == OnDeadline.CANCEL and run.cancel_asked_at is None:
        return {
            "cancel_asked_at": ClockTimestamp(),
            "cancel_reason": NOBODY,
            "cancelled_by": DEADLINE.label,
        }
    return {}
