"""Changing the policies: one more version of all of them, never a change of an old one.

1. Needs the permission, a recent proof of identity and a reason. Refusals are recorded.
2. Who changes says which version they saw. If another has been saved since, nothing is changed.
3. Waits for everybody who is deciding right now; whoever decides afterwards meets the new version.
4. The first change also keeps the policies of the settings, as version 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import timedelta

from django.db import OperationalError, connection, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_noop as noop
from psycopg.errors import LockNotAvailable

from accounts import actors, clock, speech
from accounts import errors as people
from accounts.actors import Actor
from accounts.speech import later
from approvals import errors
from approvals.models import PolicyVersion
from approvals.policies import book, declared
from approvals.policies.declared import Fault
from approvals.policies.rule import Policy
from audit import canonical, trail
from runs import statements

PERMISSION = "approvals.change_policy"
FRESH = timedelta(minutes=5)
LONGEST_REASON = 2000
MOST = 200
"""Policies in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What becomes of the policies, as a value."""

    policies: tuple[Policy, ...]
    verb: str
    what: str
    name: str


DEEDS = {
    "changed": noop("changed {name}"),
    "added": noop("added {name}"),
    "removed": noop("removed {name}"),
}
RENAMED = noop("changed {was}, now {now}")
AS_SET = noop("as the settings had them")


def told(version: PolicyVersion) -> str:
    """What it changed, in the reader's words; English is what is kept."""
    deed, _space, name = version.what.partition(" ")
    if deed not in DEEDS:
        return speech.shown(version.what)
    was, renamed, now = name.partition(", now ")
    if renamed:
        return speech.shown(RENAMED).format(was=was, now=now)
    return speech.shown(DEEDS[deed]).format(name=name)


def save(  # noqa: PLR0913 (what a form sends)
    policy: Policy, *, was: str, place: int, seen: int, actor: Actor, reason: str
) -> PolicyVersion:
    """Put `policy` in the place of the one called `was`, or add it if that is empty.

    `place` is where it is tried, from 1; the default stays last. `seen` is the version that was
    changed. Raises NotPermitted, ReauthenticationNeeded, ReasonMissing, PoliciesChanged,
    NoSuchPolicy, BadPolicy, NothingChanged, Busy.
    """

    def change(before: tuple[Policy, ...]) -> Change:
        others = [each for each in before if each.name != was]
        old = next((each for each in before if each.name == was), None)
        if was and old is None:
            raise errors.NoSuchPolicy
        _require_usable(policy, others, default=old is before[-1])
        if old is before[-1]:
            after = (*others, policy)
        else:
            index = min(max(place - 1, 0), len(others) - 1)
            after = (*others[:index], policy, *others[index:])
        verb, did = ("policy.changed", "changed") if was else ("policy.added", "added")
        named = policy.name if was in ("", policy.name) else f"{was}, now {policy.name}"
        return Change(policies=after, verb=verb, what=f"{did} {named}", name=policy.name)

    return _store(change, target=was or policy.name, seen=seen, actor=actor, reason=reason)


def remove(name: str, *, seen: int, actor: Actor, reason: str) -> PolicyVersion:
    """Take a policy out; the default cannot be. Raises what `save` raises."""

    def change(before: tuple[Policy, ...]) -> Change:
        if all(each.name != name for each in before):
            raise errors.NoSuchPolicy
        if before[-1].name == name:
            fault = Fault(
                key="", sentence=later("The default cannot be removed: something must hold.")
            )
            raise errors.BadPolicy((fault,))
        after = tuple(each for each in before if each.name != name)
        return Change(policies=after, verb="policy.removed", what=f"removed {name}", name=name)

    return _store(change, target=name, seen=seen, actor=actor, reason=reason)


def _require_usable(policy: Policy, others: Sequence[Policy], *, default: bool) -> None:
    wrong: list[Fault] = []
    if any(each.name == policy.name for each in others):
        wrong.append(
            Fault(
                key="name",
                sentence=later("There is another policy called {name}.", name=policy.name),
            )
        )
    if default and (policy.when or (policy.agent, policy.node, policy.tool) != ("*", "*", "*")):
        wrong.append(
            Fault(
                key="when",
                sentence=later("The default holds where nothing else does: no conditions."),
            )
        )
    if len(others) >= MOST:
        wrong.append(
            Fault(key="", sentence=later("There may be at most {most} policies.", most=MOST))
        )
    given = {each.name: getattr(policy, each.name) for each in fields(policy)}
    wrong += declared.faults(given)
    if wrong:
        raise errors.BadPolicy(tuple(wrong))


def _store(
    change: Callable[[tuple[Policy, ...]], Change],
    *,
    target: str,
    seen: int,
    actor: Actor,
    reason: str,
) -> PolicyVersion:
    try:
        try:
            with transaction.atomic():
                return _stored(change, seen=seen, actor=actor, reason=reason)
        except OperationalError as exc:
            if not isinstance(exc.__cause__, LockNotAvailable):
                raise
            raise errors.Busy(
                later("People are deciding right now. Nothing was saved; save again in a moment.")
            ) from exc
    except (errors.ApprovalsError, people.AccountsError) as refusal:
        trail.record_refused(
            "policy.change_refused",
            actor=actor,
            target=("policy", target),
            reason=str(refusal),
            data={"refusal": type(refusal).__name__, "seen": seen},
        )
        raise


def _stored(
    change: Callable[[tuple[Policy, ...]], Change], *, seen: int, actor: Actor, reason: str
) -> PolicyVersion:
    user = actors.require(actor, PERMISSION)
    if actor.kind == "user" and not actors.fresh(actor, FRESH):
        raise people.ReauthenticationNeeded
    if not reason.strip():
        raise errors.ReasonMissing(
            later("A change of a policy needs a reason. Write one and save again.")
        )
    with connection.cursor() as cursor:
        cursor.execute(statements.read("approvals", "change_policies"), {"key": book.LOCK})
    newest = PolicyVersion.objects.order_by("-number").first()
    before = book.seed() if newest is None else book.of(newest)
    if newest is not None and seen != newest.number:
        raise errors.PoliciesChanged(by=newest.by_label, what=newest.what, number=newest.number)
    made = change(before.policies)
    if made.policies == before.policies:
        raise errors.NothingChanged
    if newest is None:
        _keep(before.policies, 1, by_label="settings", what=AS_SET)
    version = _keep(
        made.policies,
        newest.number + 1 if newest else 2,
        by=user,
        by_label=actor.label,
        what=made.what,
        reason=canonical.text(reason.strip())[:LONGEST_REASON],
    )
    old, new = before.get(made.name), next((p for p in made.policies if p.name == made.name), None)
    trail.record(
        made.verb,
        actor=actor,
        target=("policy", made.name),
        reason=version.reason,
        data={
            "version": version.number,
            "what": made.what,
            "before": old.stored() if old else None,
            "after": new.stored() if new else None,
        },
    )
    return version


def _keep(policies: tuple[Policy, ...], number: int, **more: object) -> PolicyVersion:
    version = PolicyVersion(
        number=number, policies=[each.stored() for each in policies], at=clock.now(), **more
    )
    version.what = version.what[:300]
    version.save(force_insert=True)
    return version


def newest_first() -> QuerySet[PolicyVersion]:
    return PolicyVersion.objects.order_by("-number")
