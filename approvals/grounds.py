"""What effects rest on: the implementation of `ledger.ports.Grounds`."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q, QuerySet
from django.urls import reverse

from accounts.models import User
from approvals import gates, persons, queries
from approvals.models import Decision, Request, Vote
from approvals.policies import masks
from approvals.status import STATES, Delivery, Status, Verdict
from ledger.ports import Ground, Word

SAID = {
    Verdict.APPROVED: STATES[Status.APPROVED],
    Verdict.REJECTED: STATES[Status.REJECTED],
    Verdict.EXPIRED: STATES[Status.EXPIRED],
}


class Grounds:
    """The approvals behind effects, as the pages of the ledger show them."""

    def allowed_by(self, people: Collection[int]) -> QuerySet[Decision, UUID]:
        """Every approval counts, not only the one that completed the quorum."""
        voted = Q(request__votes__user__in=people, request__votes__verdict=Verdict.APPROVED)
        return Decision.objects.filter(voted, verdict=Verdict.APPROVED).values_list("pk", flat=True)

    def of(self, permit: UUID | None, call: tuple[UUID, str, str], user: User) -> Ground | None:
        decision = _decision(permit, call, user)
        if decision is None:
            return None
        request = decision.request
        return Ground(
            url=reverse("approvals:review", args=[request.pk]),
            title=request.title,
            state=SAID[Verdict(decision.verdict)],
            asked_of=request.asked_of,
            asked_at=request.created_at,
            decided_at=decision.at,
            words=tuple(map(_word, request.votes.all())) or (_alone(decision),),
            digest=request.digest,
            payload=_payload(request, user),
            permit=permit is not None,
            request=str(request.pk),
        )

    def deciders(self, permits: Collection[UUID]) -> dict[UUID, str]:
        approved = (
            Vote.objects.filter(request__decision__in=permits, verdict=Verdict.APPROVED)
            .select_related("user", "on_behalf_of", "request__decision")
            .order_by("at", "pk")
        )
        found: dict[UUID, list[str]] = {}
        for vote in approved:
            found.setdefault(vote.request.decision.pk, []).append(_name(vote))
        return {permit: ", ".join(names) for permit, names in found.items()}


def _decision(permit: UUID | None, call: tuple[UUID, str, str], user: User) -> Decision | None:
    found = (
        Decision.objects.filter(request__in=queries.visible_to(user))
        .select_related("request__run")
        .prefetch_related("request__votes__user", "request__votes__on_behalf_of")
    )
    if permit is not None:
        return found.filter(pk=permit).first()
    run_id, tool, args_hash = call
    same = found.filter(
        request__run_id=run_id, request__tool=tool, args_hash=args_hash, verdict=Verdict.APPROVED
    )
    return same.exclude(delivery=Delivery.NOT_DELIVERED).order_by("at", "pk").first()


def _word(vote: Vote) -> Word:
    return Word(
        who=vote.user.label,
        said=SAID[Verdict(vote.verdict)],
        at=vote.at,
        for_whom=vote.on_behalf_of.label if vote.on_behalf_of else "",
        comment=vote.comment,
    )


def _alone(decision: Decision) -> Word:
    """Of a decision without votes, which the clock made."""
    said = SAID[Verdict(decision.verdict)]
    return Word(who=decision.decider, said=said, at=decision.at, comment=decision.comment)


def _name(vote: Vote) -> str:
    other = vote.on_behalf_of
    return f"{vote.user.label} for {other.label}" if other else vote.user.label


def _payload(request: Request, user: User) -> object:
    groups = persons.reader(user).groups
    hidden = masks.for_reader(gates.of(request).masked, groups)
    return masks.cover(request.payload, hidden, root="payload").value
