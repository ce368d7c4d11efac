"""Reminders and escalation: what the clock does to an open request before its deadline.

1. When each is due follows from the policy as of then and from when the question was first asked.
2. Each happens once, with run and request locked; the row that says so is unique.
3. An escalation lets one more group have a say, as far as the policies of then and of now name it.
   It informs and widens and never decides.
4. A verdict brings the request up to date first, whether or not a sweeper has run.
5. A new round of a question goes on with the clock of the former: who had joined has a say at once,
   nobody is reminded of the same twice, and a question that changes postpones nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from accounts.actors import Actor
from approvals import notices, requests
from approvals.models import Firing, Request
from approvals.policies.plan import Kind, Nudge, plan
from approvals.policy import Policy

CLOCK = Actor.system("escalation")
_EVENTS = {
    Kind.REMINDER: notices.Event.REMINDER,
    Kind.ESCALATION: notices.Event.ESCALATED,
}
_VERBS = {
    Kind.REMINDER: "request.reminded",
    Kind.ESCALATION: "request.escalated",
}


def of(request: Request) -> tuple[Nudge, ...]:
    """The plan of one request."""
    since = request.asked_at or request.created_at
    return plan(Policy.read(request.policy), since, request.deadline)


def catch_up(request: Request, at: datetime) -> int:
    """Do everything that was due by `at` and has not been done; how much that was.

    With the run and then the request locked. Reminders that were missed are given as one.
    """
    if request.nudge_at is None or request.nudge_at > at:
        return 0
    planned = of(request)
    done = {(each.kind, each.number) for each in request.firings.all()}
    left = [each for each in planned if (each.kind, each.number) not in done]
    due = [each for each in left if each.at <= at]
    for nudge in due:
        Firing.objects.create(
            request=request, kind=nudge.kind, number=nudge.number, group=nudge.group, at=at
        )
    joining = [each.group for each in due if each.kind == Kind.ESCALATION]
    request.joined = _with(request.joined, joining)
    request.groups = _with(request.groups, joining)
    request.nudge_at = next((each.at for each in left if each.at > at), None)
    Request.objects.filter(pk=request.pk).update(
        joined=request.joined, groups=request.groups, nudge_at=request.nudge_at
    )
    for nudge in _worth_telling(due):
        _tell(request, nudge)
    return len(due)


def carry_on(request: Request, former: Request, at: datetime) -> None:
    """Begin a new round with what has happened in the former one, and do what is due by `at`.

    What the policy of the new round does not plan in the same way is not taken over.
    """
    happened = {(each.kind, each.number, each.group): each for each in former.firings.all()}
    for nudge in of(request):
        firing = happened.get((nudge.kind, nudge.number, nudge.group))
        if firing is not None:
            Firing.objects.create(
                request=request,
                kind=nudge.kind,
                number=nudge.number,
                group=nudge.group,
                at=firing.at,
            )
            if nudge.kind == Kind.ESCALATION:
                request.joined = _with(request.joined, [nudge.group])
                request.groups = _with(request.groups, [nudge.group])
    Request.objects.filter(pk=request.pk).update(joined=request.joined, groups=request.groups)
    catch_up(request, at)


def _with(groups: Iterable[str], more: Iterable[str]) -> list[str]:
    return list(dict.fromkeys((*groups, *more)))


def _worth_telling(due: list[Nudge]) -> list[Nudge]:
    """Every escalation, and the last of several reminders."""
    reminders = [each for each in due if each.kind == Kind.REMINDER]
    return [each for each in due if each not in reminders[:-1]]


def _tell(request: Request, nudge: Nudge) -> None:
    requests.record(
        _VERBS[nudge.kind],
        request,
        actor=CLOCK,
        reason=f"{nudge.group} joined" if nudge.group else "",
        data={"number": nudge.number, "group": nudge.group, "due": nudge.at},
    )
    notices.notify(_EVENTS[nudge.kind], request, key=str(nudge.number))
