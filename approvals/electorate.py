"""Whether enough people exist who may approve a request, so that nothing waits for nobody.

Who may is asked of `eligibility.why_not`, the same function that decides.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from uuid import UUID

from django.contrib.auth.models import Group

from accounts.backends import PeopleBackend
from approvals import eligibility, gates, persons, policy
from approvals.eligibility import PERMISSION, Involved, Person, Standing
from approvals.errors import NotEligible
from approvals.models import Request, Vote
from approvals.policies.plan import Nudge
from approvals.policy import Book, Excluded, Gate, Who
from approvals.status import Verdict
from runs import planner

WHO = ("first_name", "last_name", "email", "is_active", "is_demo")


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
class Camp:
    """Who may approve requests of one kind."""

    may: dict[int, Standing]
    """By the person's id, in the order of these."""
    voices: int
    """How many different voices they have."""

    @classmethod
    def of(cls, people: Iterable[Standing], agent: str) -> Camp:
        may = {each.person.user_id: each for each in people}
        return cls(may=may, voices=len(_voices(may.values(), [], agent)))


@dataclass(frozen=True, kw_only=True)
class Electorate:
    """Everybody who may decide anything, and who did what to the runs of some requests."""

    people: tuple[Person, ...]
    involved: Mapping[UUID, Involved]
    """By run."""
    approved: Mapping[UUID, frozenset[int]]
    """Ids of the people who approved, by request."""
    proposed: Mapping[UUID, frozenset[int]]
    """Of those, who had themselves changed what they approved."""
    strict: Mapping[UUID, Gate]
    """What approvals of both the question and the open proposals must satisfy, by request."""
    usual: dict[tuple[Who, ...], dict[int, Standing]] = field(default_factory=dict)
    camps: dict[Hashable, Camp] = field(default_factory=dict)
    """Found out once for each kind of request: lists have many requests of few kinds."""

    @classmethod
    def of(cls, requests: Iterable[Request]) -> Electorate:
        """For these open requests, each with its run. Five queries, however many there are."""
        found = list(requests)
        approved: dict[UUID, set[int]] = {request.pk: set() for request in found}
        proposed: dict[UUID, set[int]] = {request.pk: set() for request in found}
        proposals: dict[UUID, list[Vote]] = {}
        votes = Vote.objects.filter(planner.among("request_id", planner.Ids.of(approved)))
        for vote in votes.filter(verdict=Verdict.APPROVED):
            approved[vote.request_id].add(vote.user_id)
            if vote.user_id == vote.edited_by_id:
                proposed[vote.request_id].add(vote.user_id)
                proposals.setdefault(vote.request_id, []).append(vote)
        return cls(
            people=deciders() if found else (),
            involved=persons.involved_in(request.run for request in found),
            approved={request_id: frozenset(ids) for request_id, ids in approved.items()},
            proposed={request_id: frozenset(ids) for request_id, ids in proposed.items()},
            strict={
                request.pk: _strict(request, proposals[request.pk])
                for request in found
                if request.pk in proposals
            },
        )

    def tally(self, request: Request, gate: Gate) -> Tally:
        """How `request` stands, one of those that this electorate was made for.

        While somebody's changes wait for others, what they would have to satisfy counts as well.
        """
        gate = self.strict.get(request.pk, gate)
        camp = self._camp(request, gate)
        if not self.approved[request.pk]:  # as most
            return Tally(approvals=0, able=camp.voices, missing=gate.quorum)
        may, agent = camp.may, self.involved[request.run_id].agent
        approved = [may[each] for each in sorted(self._heard(request, gate)) if each in may]
        voices = _voices(approved, [], agent)
        others = [each for user_id, each in may.items() if user_id not in self.approved[request.pk]]
        return Tally(
            approvals=len(voices),
            able=len(_voices(others, voices, agent)),
            missing=max(0, gate.quorum - len(voices)),
        )

    def relief(self, request: Request, book: Book | None = None) -> Nudge | None:
        """The first escalation after which enough people may approve; None if there is none."""
        joining: list[str] = []
        for step in gates.steps(request):
            joining.append(step.group)
            if self.tally(request, gates.of(request, book, joining=joining)).possible:
                return step
        return None

    def others(self, request: Request, gate: Gate, heard: list[Standing]) -> int:
        """How many more people may approve besides those `heard` and all who have voted."""
        agent = self.involved[request.run_id].agent
        gone = self.approved[request.pk] | {each.person.user_id for each in heard}
        left = [each for user_id, each in self._may(request, gate).items() if user_id not in gone]
        return len(_voices(left, heard, agent))

    def called(self, request: Request, gate: Gate) -> frozenset[int]:
        """Ids of the people whose approval `request` still waits for: whom it makes sense to call.

        Who has approved already is not among them, nor is who would only say so again.
        """
        may = self._may(request, gate)
        agent = self.involved[request.run_id].agent
        approved = [may[each] for each in self._heard(request, gate) if each in may]
        return frozenset(
            user_id
            for user_id, each in may.items()
            if user_id not in self.approved[request.pk]
            and not any(eligibility.one_voice(each, other, agent) for other in approved)
        )

    def _heard(self, request: Request, gate: Gate) -> frozenset[int]:
        """Whose approval counts: where editors are excluded, theirs of their own edit does not."""
        edited = self.proposed[request.pk] if Excluded.EDITOR in gate.excluded else frozenset()
        return self.approved[request.pk] - edited

    def _may(self, request: Request, gate: Gate) -> dict[int, Standing]:
        """Who may approve, and as whom."""
        return self._camp(request, gate).may

    def _camp(self, request: Request, gate: Gate) -> Camp:
        involved = self.involved[request.run_id]
        first = self._everybody.intersection([involved.requester_id])
        hands = self._everybody.intersection(involved.hands)
        kind = (gate.who, gate.excluded, first, hands, involved.agent if self._lent else "")
        if kind not in self.camps:
            usual = self._usual(gate)
            found = (
                usual.get(each.user_id)
                if not each.absent and each.user_id not in first | hands
                else _standing(each, gate, involved)
                for each in self.people
            )
            self.camps[kind] = Camp.of(filter(None, found), involved.agent)
        return self.camps[kind]

    @cached_property
    def _lent(self) -> frozenset[int]:
        """Ids of those for whom somebody stands in, also of those for whom they stand in."""
        near = [absent.person for each in self.people for absent in each.absent]
        far = [absent.person for each in near for absent in each.absent]
        return frozenset(each.user_id for each in (*near, *far))

    @cached_property
    def _everybody(self) -> frozenset[int]:
        """Whose hand in a run makes a difference."""
        return self._lent.union(each.user_id for each in self.people)

    def _usual(self, gate: Gate) -> dict[int, Standing]:
        """Who may approve where they had no hand in the run, of those who speak for themselves."""
        if gate.who not in self.usual:
            alone = (each for each in self.people if not each.absent)
            found = (_standing(each, gate, Involved(requester_id=None)) for each in alone)
            self.usual[gate.who] = {each.person.user_id: each for each in found if each}
        return self.usual[gate.who]


def _standing(person: Person, gate: Gate, involved: Involved) -> Standing | None:
    found = eligibility.standing(person, gate, involved)
    return None if isinstance(found, NotEligible) else found


def _strict(request: Request, proposals: list[Vote]) -> Gate:
    also = tuple(subject for vote in proposals for subject in gates.edited(request, vote))
    return gates.of(request, also=also)


def _voices(people: Iterable[Standing], heard: list[Standing], agent: str) -> list[Standing]:
    """Of these, as many as are different voices from each other and from those heard before.

    As `eligibility.one_voice` says of any two, but in one pass: groups may have hundreds of people.
    """
    spoken = {user_id for each in heard for user_id in each.ids}
    behind = {user_id for each in heard for user_id in each.behind(agent)}
    voices: list[Standing] = []
    for each in people:
        user_id = each.person.user_id
        if each.absent is None and not each.person.absent:  # as almost everybody
            if user_id not in spoken and user_id not in behind:
                voices.append(each)
                spoken.add(user_id)
            continue
        ids, absent = each.ids, each.behind(agent)
        if spoken.isdisjoint(ids) and behind.isdisjoint(ids) and spoken.isdisjoint(absent):
            voices.append(each)
            spoken |= ids
            behind |= absent
    return voices


def deciders() -> tuple[Person, ...]:
    """Everybody who may decide requests of some group. Three queries, and at most five more where
    somebody is absent."""
    found = PeopleBackend().with_perm(PERMISSION)
    groups: dict[int, set[str]] = {}
    for user_id, name in Group.objects.filter(user__in=found).values_list("user", "name"):
        groups.setdefault(user_id, set()).add(name)
    able = {
        user.pk: Person(
            user_id=user.pk,
            label=user.label,
            may_decide=True,
            groups=frozenset(groups.get(user.pk, ())),
            address=user.email,
        )
        for user in found.only(*WHO).order_by("pk")
        if user.may_sign_in
    }
    lent = persons.lent_to(able)
    return tuple(replace(person, absent=lent.get(user_id, ())) for user_id, person in able.items())


def gate_of(request: Request, book: Book | None = None) -> Gate:
    """What a verdict on this request, which has its run, must satisfy now."""
    return gates.of(request, book or policy.in_force())
