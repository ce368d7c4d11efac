"""Delegations: for a time, somebody stands in for somebody absent.

1. Made by the absent person, or by an administrator with the permission; each with a reason.
2. Both must be able to decide by themselves: a delegation lends the absent person's say, never the
   permission to decide at all. What it never does stands in `eligibility`.
3. It has an end. It may be ended before, by either of the two or an administrator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from accounts import actors, clock
from accounts import errors as people
from accounts.actors import Actor, ClockTimestamp
from accounts.models import User
from accounts.speech import later
from approvals import errors
from approvals.eligibility import PERMISSION
from approvals.models import Delegation
from audit import canonical, trail

FOR_OTHERS = "approvals.delegate_request"
FRESH = timedelta(minutes=5)
LONGEST = timedelta(days=366)
LONGEST_REASON = 2000
MOST_PATTERNS = 20


def make(  # noqa: PLR0913 (what a delegation is)
    absent: User,
    stand_in: User,
    *,
    starts_at: datetime,
    ends_at: datetime,
    agents: Sequence[str] = ("*",),
    actor: Actor,
    reason: str,
) -> Delegation:
    """Have `stand_in` decide for `absent` where these agents ask.

    Raises NotPermitted, ReauthenticationNeeded, ReasonMissing, BadDelegation.
    """

    def act() -> Delegation:
        user = _require(actor, absent)
        _require_usable(absent, stand_in, starts_at, ends_at, agents)
        made = Delegation.objects.create(
            absent=absent,
            stand_in=stand_in,
            starts_at=starts_at,
            ends_at=ends_at,
            agents=list(agents),
            reason=_reason(reason),
            made_by=user,
        )
        _record("delegation.made", made, actor, reason)
        return made

    return _refusals_recorded(act, actor, f"{absent.pk} to {stand_in.pk}")


def end(delegation_id: int, *, actor: Actor, reason: str) -> Delegation:
    """End a delegation now. Raises NotPermitted, ReasonMissing, DelegationEnded."""

    def act() -> Delegation:
        found = (
            Delegation.objects.select_for_update(no_key=True, of=("self",))
            .select_related("absent", "stand_in")
            .filter(pk=delegation_id)
            .first()
        )
        if found is None or found.ended_at is not None or found.ends_at <= clock.now():
            raise errors.DelegationEnded
        user = _require(actor, found.absent, or_also=found.stand_in, fresh=False)
        given = _reason(reason)
        Delegation.objects.filter(pk=found.pk).update(ended_at=ClockTimestamp(), ended_by=user)
        _record("delegation.ended", found, actor, given)
        return found

    return _refusals_recorded(act, actor, str(delegation_id))


def seen_by(user: User) -> QuerySet[Delegation]:
    """Delegations that concern this person; all of them for who may make them for others."""
    found = Delegation.objects.select_related("absent", "stand_in", "made_by", "ended_by")
    if not user.has_perm(FOR_OTHERS) and not user.has_perm("audit.view_entry"):
        found = found.filter(Q(absent=user) | Q(stand_in=user))
    return found.order_by("-ends_at", "-pk")


def _require(
    actor: Actor, absent: User, *, or_also: User | None = None, fresh: bool = True
) -> User:
    """The person who may do this: the absent one, or somebody with the permission for others."""
    concerned = {absent.pk} | ({or_also.pk} if or_also else set())
    user = actors.require(actor, PERMISSION if actor.user_id in concerned else FOR_OTHERS)
    if user is None:
        raise errors.BadDelegation(
            later("Only a person who is signed in can delegate. Use the page.")
        )
    if fresh and not actors.fresh(actor, FRESH):
        raise people.ReauthenticationNeeded
    return user


def _require_usable(
    absent: User, stand_in: User, starts_at: datetime, ends_at: datetime, agents: Sequence[str]
) -> None:
    if absent.pk == stand_in.pk:
        raise errors.BadDelegation(later("Nobody stands in for themselves. Choose somebody else."))
    for one in (absent, stand_in):
        if not one.may_sign_in or not one.has_perm(PERMISSION):
            raise errors.BadDelegation(
                later(
                    "{label} may not decide requests. An administrator grants that.",
                    label=one.label,
                )
            )
    if ends_at <= starts_at:
        raise errors.BadDelegation(later("The end must be after the beginning."))
    if ends_at <= clock.now():
        raise errors.BadDelegation(later("The end has passed already."))
    if ends_at - starts_at > LONGEST:
        raise errors.BadDelegation(
            later("At most {days} days can be delegated at once.", days=LONGEST.days)
        )
    usable = [each for each in agents if each.strip() and len(each) <= 200]
    if not usable or len(usable) != len(agents) or len(usable) > MOST_PATTERNS:
        raise errors.BadDelegation(
            later(
                "Name the agents by 1 to {most_patterns} patterns, such as refund_* or * for all.",
                most_patterns=MOST_PATTERNS,
            )
        )


def _reason(reason: str) -> str:
    if not reason.strip():
        raise errors.ReasonMissing(later("A delegation needs a reason. Write one and try again."))
    return canonical.text(reason.strip())[:LONGEST_REASON]


def _record(verb: str, made: Delegation, actor: Actor, reason: str) -> None:
    trail.record(
        verb,
        actor=actor,
        target=("delegation", str(made.pk)),
        reason=reason.strip(),
        data={
            "absent": made.absent.label,
            "stand_in": made.stand_in.label,
            "agents": made.agents,
            "from": made.starts_at,
            "until": made.ends_at,
        },
    )


def _refusals_recorded(act: Callable[[], Delegation], actor: Actor, target: str) -> Delegation:
    try:
        with transaction.atomic():
            return act()
    except (errors.ApprovalsError, people.AccountsError) as refusal:
        trail.record_refused(
            "delegation.refused",
            actor=actor,
            target=("delegation", target),
            reason=str(refusal),
        )
        raise
