"""Claims: "I am looking at this". Others see it, so that two people do not read the same at once.

1. A claim informs. It keeps nobody from deciding, and nothing that decides asks for it.
2. It ends by itself after APPROVALS_CLAIM, when its owner says so or votes, and with the request.
3. It is not in the audit log: it allows nothing and hides nothing, and who decided stands there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef

from accounts.actors import Actor, ClockTimestamp
from accounts.models import User
from approvals import eligibility, errors, persons
from approvals.electorate import gate_of
from approvals.models import Claim, Request, Vote
from approvals.status import Status, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Looker:
    """Somebody who looks at a request now."""

    user_id: int
    label: str
    since: datetime
    until: datetime


def take(request_id: UUID, *, actor: Actor) -> None:
    """Say that this person looks at an open request; again: for as long once more.

    Raises NoSuchRequest, NotEligible for who may not decide it, Withdrawn if it is not open.
    """
    request = Request.objects.select_related("run").filter(pk=request_id).first()
    if request is None:
        raise errors.NoSuchRequest
    person = persons.identify(actor)
    involved = persons.involved(request.run)
    refusal = eligibility.why_not(person, gate_of(request), involved, Verdict.REJECTED)
    if refusal is not None:
        raise refusal
    if request.status != Status.PENDING:
        raise errors.Withdrawn
    ends = ClockTimestamp() + settings.APPROVALS_CLAIM
    Claim.objects.update_or_create(
        request=request,
        user_id=person.user_id,
        defaults={"expires_at": ends},
        create_defaults={"at": ClockTimestamp(), "expires_at": ends},
    )


def release(request_id: UUID, *, actor: Actor) -> None:
    """Say that this person does not look at it any more, whether or not they did."""
    Claim.objects.filter(request=request_id, user=actor.user_id).delete()


def on(request_ids: Collection[UUID]) -> Mapping[UUID, list[Looker]]:
    """Who looks at each of these requests now, the first one first. One query."""
    voted = Vote.objects.filter(request=OuterRef("request"), user=OuterRef("user"))
    found = Claim.objects.filter(
        ~Exists(voted),
        request__in=list(request_ids),
        request__status=Status.PENDING,
        expires_at__gt=ClockTimestamp(),
    )
    lookers: dict[UUID, list[Looker]] = {request_id: [] for request_id in request_ids}
    for claim in found.select_related("user").order_by("at", "pk"):
        user: User = claim.user
        lookers[claim.request_id].append(
            Looker(user_id=user.pk, label=user.label, since=claim.at, until=claim.expires_at)
        )
    return lookers
