"""Who may decide: one rule, asked by the decision itself and by every page that shows a button.

1. People are looked up in the database at that moment; whoever is unknown is refused.
2. Every policy, of then and of now, must admit whoever decides: as a member of one of its groups or
   by name. A superuser gets no exception.
3. Who stands in for somebody absent may decide what the absent person may, in both names. One
   person's groups are never added to another's, and nobody stands in for a stand-in.
4. Four eyes: who started the run, retried it, forced it on or had it asked again may not approve,
   and neither may who stands in for them, nor somebody in the place of such a stand-in. They may
   reject.
5. Somebody absent and who stands in for them are one voice of a quorum, never two.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.translation import gettext_noop as noop

from accounts import speech
from accounts.speech import later as _
from approvals.errors import NotEligible
from approvals.policy import Excluded, Gate
from approvals.status import Verdict
from runs.models import Intervention

PERMISSION = "approvals.decide_request"
REQUESTER = "requester"
HANDS = {
    Intervention.Kind.RETRY: "retry",
    Intervention.Kind.FORCE_RESUME: "force_resume",
    Intervention.Kind.ASK_AGAIN: "ask_again",
}
"""What counts as a hand in the run. Asking to cancel does not."""
OWN = {
    REQUESTER: _("You started this run, so somebody else has to approve. You may reject."),
    "retry": _("You retried it, so somebody else has to approve. You may reject."),
    "force_resume": _("You forced it to resume, so somebody else has to approve. You may reject."),
    "ask_again": _(
        "You had the question asked again, so somebody else has to approve. You may reject."
    ),
}
THEIRS = {
    REQUESTER: noop(
        "You stand in for {absent}, who started this run, so somebody else has to approve."
        " You may reject."
    ),
    "retry": noop(
        "You stand in for {absent}, who retried it, so somebody else has to approve. You may"
        " reject."
    ),
    "force_resume": noop(
        "You stand in for {absent}, who forced it to resume, so somebody else has to approve."
        " You may reject."
    ),
    "ask_again": noop(
        "You stand in for {absent}, who had the question asked again, so somebody else has to"
        " approve. You may reject."
    ),
}
"""Why they may not approve, by what they or the person did in whose place they decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody as the database has them now."""

    user_id: int
    label: str
    may_decide: bool
    """Active, and with the permission."""
    groups: frozenset[str]
    address: str = ""
    absent: tuple[Absent, ...] = ()
    """For whom this person stands in now."""

    def absent_from(self, agent: str) -> list[Person]:
        """Those for whom this person stands in where this agent asks."""
        return [each.person for each in self.absent if each.covers(agent)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Absent:
    """Somebody for whom somebody else decides."""

    person: Person
    agents: tuple[str, ...]
    """Patterns."""

    def covers(self, agent: str) -> bool:
        return any(fnmatch.fnmatchcase(agent, pattern) for pattern in self.agents)


@dataclass(frozen=True, slots=True, kw_only=True)
class Involved:
    """Who had a hand in a run."""

    requester_id: int | None
    """Who started it; None if no person did."""
    hands: Mapping[int, str] = field(default_factory=dict)
    """User id to what they did."""
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """As whom somebody may decide."""

    person: Person
    absent: Person | None = None
    """In whose place."""

    @property
    def ids(self) -> frozenset[int]:
        """Of the people whose word this would be."""
        return frozenset({self.person.user_id} | ({self.absent.user_id} if self.absent else set()))

    @property
    def label(self) -> str:
        """In English, because it is kept."""
        return f"{self.person.label} for {self.absent.label}" if self.absent else self.person.label

    def behind(self, agent: str) -> frozenset[int]:
        """Ids of all for whom this person could speak where this agent asks."""
        return frozenset(each.user_id for each in self.person.absent_from(agent))


def standing(
    person: Person, gate: Gate, involved: Involved, verdict: str = Verdict.APPROVED
) -> Standing | NotEligible:
    """As whom this person may give this verdict, or why they may not. Pure."""
    if not person.may_decide:
        return NotEligible(
            "permission",
            _(
                "{person} may not decide requests. An administrator grants that.",
                person=person.label,
            ),
        )
    ways = _admitted(person, gate, involved.agent)
    if not ways:
        return _outside(person, gate)
    if verdict != Verdict.APPROVED:
        return ways[0]
    own = _hand(person, gate, involved)
    if own is not None:
        return NotEligible("requester" if own == REQUESTER else "hands", OWN[own])
    for absent in person.absent_from(involved.agent):
        theirs = _hand(absent, gate, involved)
        if theirs is not None:
            return NotEligible(
                "stand_in",
                _(THEIRS[theirs], absent=absent.label),
            )
    return next((way for way in ways if not _lent(way, gate, involved)), None) or NotEligible(
        "stand_in",
        _(
            "Whoever you stand in for stands in for somebody with a hand in this run, so"
            " somebody else has to approve. You may reject."
        ),
    )


def _lent(way: Standing, gate: Gate, involved: Involved) -> bool:
    """Whether it would be the say of somebody who may not approve, in a second pair of hands."""
    further = way.absent.absent_from(involved.agent) if way.absent else []
    return any(_hand(each, gate, involved) is not None for each in further)


def why_not(
    person: Person, gate: Gate, involved: Involved, verdict: str = Verdict.APPROVED
) -> NotEligible | None:
    """Why this person may not give this verdict; None if they may. Pure."""
    found = standing(person, gate, involved, verdict)
    return found if isinstance(found, NotEligible) else None


def one_voice(one: Standing, other: Standing, agent: str) -> bool:
    """Whether two approvals would be the word of one and the same person."""
    if one.ids & other.ids:
        return True
    return bool(one.behind(agent) & other.ids or other.behind(agent) & one.ids)


def _admitted(person: Person, gate: Gate, agent: str) -> list[Standing]:
    """As whom this person has a say: as themselves first, then in the place of others."""
    own = [Standing(person=person)] if _admits(gate, person) else []
    return own + [
        Standing(person=person, absent=absent)
        for absent in person.absent_from(agent)
        if absent.may_decide and _admits(gate, absent)
    ]


def _admits(gate: Gate, person: Person) -> bool:
    return all(who.admits(person.groups, person.address) for who in gate.who)


def _outside(person: Person, gate: Gate) -> NotEligible:
    missing = [who for who in gate.who if not who.admits(person.groups, person.address)]
    missing.sort(key=lambda who: sorted(who.groups | who.people))
    words = speech.joined(_(" and "), [who.words for who in missing])
    return NotEligible(
        "group", _("Only members of {groups} decide this, and you are not one.", groups=words)
    )


def _hand(person: Person, gate: Gate, involved: Involved) -> str | None:
    """What somebody did that keeps them from approving."""
    if Excluded.REQUESTER in gate.excluded and person.user_id == involved.requester_id:
        return REQUESTER
    if Excluded.HANDS in gate.excluded and person.user_id in involved.hands:
        return involved.hands[person.user_id]
    return None


def voted() -> NotEligible:
    """The refusal for somebody whose word on this request has been recorded before."""
    return NotEligible(
        "voted",
        _("Your verdict on this request is already recorded. Another person has to vote."),
    )


def echo(other: str) -> NotEligible:
    """The refusal for somebody who would only say again what `other` has said."""
    return NotEligible(
        "one_voice",
        _(
            "{other} has approved this, and one of you stands in for the other. Two approvals"
            " of yours would be one person's. Another person has to approve; you may reject.",
            other=other,
        ),
    )
