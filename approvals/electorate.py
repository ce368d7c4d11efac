"""Whether enough people exist who may approve a request, so that nothing waits for nobody.

Who may is asked of `eligibility.why_not`, the same function that decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from accounts.backends import PeopleBackend
from approvals import eligibility, policy
from approvals.eligibility import PERMISSION, Involved, Person
from approvals.models import Request, Vote
from approvals.policy import Gate, Policy
from approvals.status import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How far one request is from enough approvals."""

    approvals: int
    """Of people who may still approve."""
    able: int
    """How many more people may approve."""
    missing: int
    """How many more approvals are needed."""

    @property
    def possible(self) -> bool:
        return self.able >= self.missing


@dataclass(frozen=True, slots=True, kw_only=True)
class Electorate:
    """Everybody who may decide anything, and who did what to the runs of some requests."""

    people: tuple[Person, ...]
    involved: Mapping[UUID, Involved]
    """By run."""
    approved: Mapping[UUID, frozenset[int]]
    """Ids of the people who approved, by request."""

    @classmethod
    def of(cls, requests: Iterable[Request]) -> Electorate:
        """For these open requests, each with its run. Four queries, however many there are."""
        found = list(requests)
        approved: dict[UUID, set[int]] = {request.pk: set() for request in found}
        votes = Vote.objects.filter(request__in=list(approved), verdict=Verdict.APPROVED)
        for request_id, user_id in votes.values_list("request_id", "user_id"):
            approved[request_id].add(user_id)
        return cls(
            people=deciders() if found else (),
            involved=eligibility.involved_in(request.run for request in found),
            approved={request_id: frozenset(ids) for request_id, ids in approved.items()},
        )

    def tally(self, request: Request, gate: Gate) -> Tally:
        """How `request` stands, one of those that this electorate was made for."""
        may = self._may(request, gate)
        approved = self.approved[request.pk] & may
        return Tally(
            approvals=len(approved),
            able=len(may - self.approved[request.pk]),
            missing=max(0, gate.quorum - len(approved)),
        )

    def called(self, request: Request, gate: Gate) -> frozenset[int]:
        """Ids of the people whose approval `request` still waits for: whom it makes sense to call.

        Who has approved already is not among them.
        """
        return self._may(request, gate) - self.approved[request.pk]

    def _may(self, request: Request, gate: Gate) -> frozenset[int]:
        involved = self.involved[request.run_id]
        return frozenset(
            person.user_id
            for person in self.people
            if eligibility.why_not(person, gate, involved) is None
        )


def deciders() -> tuple[Person, ...]:
    """Everybody who may decide requests of some group. Two queries."""
    found = PeopleBackend().with_perm(PERMISSION).prefetch_related("groups")
    return tuple(
        Person(
            user_id=user.pk,
            label=user.label,
            may_decide=True,
            groups=frozenset(group.name for group in user.groups.all()),
        )
        for user in found
        if user.may_sign_in
    )


def gate_of(request: Request) -> Gate:
    """What a verdict on this request, which has its run, must satisfy now."""
    then = Policy.read(request.policy)
    return policy.together(then, policy.find(request.run.agent, request.node))
