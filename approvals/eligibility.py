"""Who may decide: one rule, asked by the decision itself and by every page that shows a button.

1. People are looked up in the database at that moment; whoever is unknown is refused.
2. All groups, of the policy of then and of now. A superuser gets no exception.
3. Four eyes: who started the run, retried it, forced it on or had it asked again may not approve.
   They may reject.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from accounts import actors
from accounts import errors as accounts_errors
from accounts.actors import Actor
from accounts.models import User
from approvals.errors import NotEligible
from approvals.policy import Gate
from approvals.status import Verdict
from runs.models import Intervention, Run

PERMISSION = "approvals.decide_request"
HANDS = {
    Intervention.Kind.RETRY: "retried it",
    Intervention.Kind.FORCE_RESUME: "forced it to resume",
    Intervention.Kind.ASK_AGAIN: "had the question asked again",
}
"""What counts as a hand in the run. Asking to cancel does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody as the database has them now."""

    user_id: int
    label: str
    may_decide: bool
    """Active, and with the permission."""
    groups: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Involved:
    """Who had a hand in a run."""

    requester_id: int | None
    """Who started it; None if no person did."""
    hands: Mapping[int, str] = field(default_factory=dict)
    """User id to what they did."""


def why_not(
    person: Person, gate: Gate, involved: Involved, verdict: str = Verdict.APPROVED
) -> NotEligible | None:
    """Why this person may not give this verdict; None if they may. Pure."""
    if not person.may_decide:
        return NotEligible(
            "permission", f"{person.label} may not decide requests. An administrator grants that."
        )
    missing = sorted(gate.groups - person.groups)
    if missing:
        return NotEligible(
            "group", f"Only members of {' and '.join(missing)} decide this, and you are not one."
        )
    if verdict != Verdict.APPROVED or not gate.four_eyes:
        return None
    if person.user_id == involved.requester_id:
        return NotEligible(
            "requester", "You started this run, so somebody else has to approve. You may reject."
        )
    if person.user_id in involved.hands:
        did = involved.hands[person.user_id]
        return NotEligible("hands", f"You {did}, so somebody else has to approve. You may reject.")
    return None


def voted() -> NotEligible:
    """The refusal for somebody whose word on this request has been recorded before."""
    return NotEligible(
        "voted", "Your verdict on this request is already recorded. Another person has to vote."
    )


def identify(actor: Actor) -> Person:
    """The person behind `actor`, looked up now. Raises NotEligible for anybody who is none."""
    if actor.kind != "user" or actor.user_id is None:
        raise NotEligible("unknown", "Only a person who is signed in can decide. Sign in first.")
    try:
        user = actors.require(actor, PERMISSION)
    except accounts_errors.NotPermitted as refusal:
        raise NotEligible("permission", str(refusal)) from refusal
    if user is None:
        raise NotEligible("unknown", "Only a person who is signed in can decide. Sign in first.")
    return person(user)


def person(user: User) -> Person:
    """`user` must have been read just now: Django keeps the permissions it has looked up."""
    return Person(
        user_id=user.pk,
        label=user.label,
        may_decide=user.may_sign_in and user.has_perm(PERMISSION),
        groups=frozenset(user.groups.values_list("name", flat=True)),
    )


def people(user_ids: Iterable[int]) -> list[Person]:
    return [person(user) for user in User.objects.filter(pk__in=list(user_ids))]


def involved(run: Run) -> Involved:
    return involved_in([run])[run.pk]


def involved_in(runs: Iterable[Run]) -> dict[UUID, Involved]:
    """Who had a hand in each of these runs; one query."""
    by_id = {run.pk: run for run in runs}
    hands: dict[UUID, dict[int, str]] = {run_id: {} for run_id in by_id}
    did = Intervention.objects.filter(
        run__in=list(by_id), kind__in=list(HANDS), user__isnull=False
    ).order_by("at", "pk")
    for run_id, user_id, kind in did.values_list("run_id", "user_id", "kind"):
        hands[run_id][user_id] = HANDS[Intervention.Kind(kind)]
    return {
        run_id: Involved(requester_id=run.started_by_id, hands=hands[run_id])
        for run_id, run in by_id.items()
    }
