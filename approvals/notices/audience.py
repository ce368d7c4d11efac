"""Who is told what, and whether it is still worth telling: asked when it is planned and once more
when it is sent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from accounts import clock
from accounts.backends import PeopleBackend
from accounts.models import User
from approvals.electorate import Electorate, gate_of
from approvals.models import Decision, Notice, Request
from approvals.notices.events import QUESTIONS, Event
from approvals.status import Status

UNKNOWN = "it is about no request or event that is known"
SEE = "approvals.view_request"
CAN_HELP = "accounts.change_user"
"""Who has it can put people into groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a message of the outbox says."""

    event: Event
    request: Request
    people: frozenset[int] | None = None
    group: str = ""
    channel: str = ""


def read(payload: object) -> Told | None:
    """A message as `notify` and `channels.announce` write them; None if it makes no sense now."""
    if not isinstance(payload, Mapping) or payload.get("event") not in Event.values:
        return None
    found = Request.objects.select_related("run", "decision").filter(pk=str(payload["request"]))
    request = found.first()
    if request is None:
        return None
    only = payload.get("people")
    return Told(
        event=Event(payload["event"]),
        request=request,
        people=None if only is None else frozenset(only),
        group=str(payload.get("group", "")),
        channel=str(payload.get("channel", "")),
    )


def people(event: Event, request: Request) -> frozenset[int]:
    """Ids of the users whom `event` concerns, whatever they have chosen to be told."""
    if event is Event.NOBODY_CAN_DECIDE:
        return frozenset(user.pk for user in PeopleBackend().with_perm(CAN_HELP))
    if event in QUESTIONS:
        called = Electorate.of([request]).called(request, gate_of(request))
        if event is not Event.ESCALATED:
            return called
        return called - _told(request)
    return _concerned(event, request)


def is_open(event: Event, request: Request) -> bool:
    """Whether a question is still one. Outcomes stay what they are."""
    if event not in QUESTIONS:
        return True
    if (
        request.status != Status.PENDING
        or request.run.cancel_asked_at is not None
        or request.run.ended
        or request.deadline <= clock.now()
    ):
        return False
    if event is not Event.NOBODY_CAN_DECIDE:
        return True
    return not Electorate.of([request]).tally(request, gate_of(request)).possible


def still_concerns(user: User, event: Event, request: Request) -> bool:
    """Whether this person, read just now, should be told."""
    if not user.may_sign_in or not user.has_perm(SEE) or not is_open(event, request):
        return False
    if event is Event.NOBODY_CAN_DECIDE:
        return user.has_perm(CAN_HELP)
    if event in QUESTIONS:
        return user.pk in Electorate.of([request]).called(request, gate_of(request))
    return True


def users(ids: Collection[int]) -> list[User]:
    return list(User.objects.filter(pk__in=ids, is_active=True).select_related("notice_choice"))


def _concerned(event: Event, request: Request) -> frozenset[int]:
    """The requester and who voted; of a decision, not the one who has just made it."""
    found = set(request.votes.values_list("user_id", flat=True))
    if request.run.started_by_id is not None:
        found.add(request.run.started_by_id)
    decision = Decision.objects.filter(request=request).first()
    if event is Event.DECIDED and decision is not None:
        found.discard(decision.decided_by_id or 0)
    return frozenset(found)


def _told(request: Request) -> frozenset[int]:
    """Who has been called for this request before."""
    told = Notice.objects.filter(request=request, event=Event.NEEDS_YOU)
    return frozenset(told.values_list("user_id", flat=True))
