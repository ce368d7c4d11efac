"""People as the database has them now: what they may, for whom they stand in, and their hands in
runs. Whether they may decide is for `eligibility` to say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.db.models import QuerySet

from accounts import actors, once, rights, speech
from accounts import errors as accounts_errors
from accounts.actors import Actor, ClockTimestamp
from accounts.backends import PeopleBackend
from accounts.models import User
from accounts.speech import later as _
from approvals.eligibility import HANDS, PERMISSION, Absent, Involved, Person
from approvals.errors import NotEligible
from approvals.models import Delegation
from runs import planner
from runs.models import Intervention, Run


def identify(actor: Actor) -> Person:
    """The person behind `actor`, looked up now. Raises NotEligible for anybody who is none."""
    if actor.kind != "user" or actor.user_id is None:
        raise NotEligible("unknown", _("Only a person who is signed in can decide. Sign in first."))
    try:
        user = actors.require(actor, PERMISSION)
    except accounts_errors.NotPermitted as refusal:
        raise NotEligible("permission", speech.joined("", [refusal])) from refusal
    if user is None:
        raise NotEligible("unknown", _("Only a person who is signed in can decide. Sign in first."))
    return person(user)


@once.a_page
def reader(user: User) -> Person:
    """As `person`, looked up once for all parts of a page; whoever acts is looked up anew."""
    return person(user)


def person(user: User) -> Person:
    """`user` must have been read just now: what they may, and their groups, stay with who was read.

    The number of queries does not depend on for how many this person stands in.
    """
    return bare(user, lent_to([user.pk]).get(user.pk, ()))


def lent_to(stand_ins: Iterable[int]) -> dict[int, tuple[Absent, ...]]:
    """For whom each of these people stands in now, by their ids. One query where nobody does, and
    a constant number otherwise."""
    lent = _delegations(stand_ins)
    if not lent:
        return {}
    further = _delegations({each.absent_id for each in lent})
    able = _able({each.absent_id for each in (*lent, *further)})
    return _by_stand_in(lent, able, _by_stand_in(further, able, {}))


def _delegations(stand_ins: Iterable[int]) -> list[Delegation]:
    found = under_way().filter(stand_in__in=list(stand_ins)).select_related("absent")
    return list(found.prefetch_related("absent__groups").order_by("pk"))


def _by_stand_in(
    found: Iterable[Delegation],
    able: frozenset[int],
    further: Mapping[int, tuple[Absent, ...]],
) -> dict[int, tuple[Absent, ...]]:
    held: dict[int, tuple[Absent, ...]] = {}
    for each in found:
        one = _absent(each, able, further.get(each.absent_id, ()))
        held[each.stand_in_id] = (*held.get(each.stand_in_id, ()), one)
    return held


def _able(user_ids: Iterable[int]) -> frozenset[int]:
    """Those of them who may decide by themselves."""
    found = PeopleBackend().with_perm(PERMISSION).filter(pk__in=list(user_ids))
    return frozenset(user.pk for user in found if user.may_sign_in)


def _absent(one: Delegation, able: frozenset[int], further: tuple[Absent, ...]) -> Absent:
    """`further`: for whom the absent person stands in. It lends no say: see the third rule."""
    user = one.absent
    them = Person(
        user_id=user.pk,
        label=user.label,
        may_decide=user.pk in able,
        groups=frozenset(group.name for group in user.groups.all()),
        address=user.email,
        absent=further,
    )
    return Absent(person=them, agents=tuple(one.agents))


def bare(user: User, absent: tuple[Absent, ...] = ()) -> Person:
    """Somebody by themselves, whoever they stand in for."""
    return Person(
        user_id=user.pk,
        label=user.label,
        may_decide=user.may_sign_in and user.has_perm(PERMISSION),
        groups=rights.of(user).groups,
        address=user.email,
        absent=absent,
    )


def under_way() -> QuerySet[Delegation]:
    """Delegations that hold now, by the database's clock."""
    return Delegation.objects.filter(
        starts_at__lte=ClockTimestamp(), ends_at__gt=ClockTimestamp(), ended_at__isnull=True
    )


def of(user_ids: Iterable[int]) -> list[Person]:
    return [person(user) for user in User.objects.filter(pk__in=list(user_ids))]


def involved(run: Run) -> Involved:
    return involved_in([run])[run.pk]


def involved_in(runs: Iterable[Run]) -> dict[UUID, Involved]:
    """Who had a hand in each of these runs; one query."""
    by_id = {run.pk: run for run in runs}
    hands: dict[UUID, dict[int, str]] = {run_id: {} for run_id in by_id}
    did = Intervention.objects.filter(
        planner.among("run_id", planner.Ids.of(by_id)), kind__in=list(HANDS), user__isnull=False
    ).order_by("at", "pk")
    for run_id, user_id, kind in did.values_list("run_id", "user_id", "kind"):
        hands[run_id][user_id] = HANDS[Intervention.Kind(kind)]
    return {
        run_id: Involved(requester_id=run.started_by_id, hands=hands[run_id], agent=run.agent)
        for run_id, run in by_id.items()
    }
