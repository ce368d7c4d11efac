"""Emergency stops: while one is on, no call is started for its tool, its agent, or at all.

1. A stop is looked up in the transaction that marks a call as started. A call already under way is
   not interrupted: nobody could say how it ended.
2. Results of what has happened are still told, and look-ups still asked: neither changes anything.
3. Setting and lifting need a permission and a reason, and are recorded, also when refused.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db import IntegrityError, transaction
from django.db.models import Max, Q, QuerySet
from django.utils.translation import gettext_noop as noop

from accounts import actors
from accounts import errors as people
from accounts.actors import Actor
from audit import canonical, trail
from audit.models import ClockTimestamp
from ledger import errors
from ledger.models import Stop
from runs import controls
from runs.status import Park

PERMISSION = "runs.emergency_stop"
LONGEST_NAME = 200
WIDEST = [scope.value for scope in Stop.Scope]
"""Scopes, the widest first."""


def on() -> QuerySet[Stop]:
    """The stops that are on, newest first."""
    return Stop.objects.filter(lifted_at__isnull=True).order_by("-set_at", "-id")


def widest_first() -> list[Stop]:
    """The stops that are on, those of everything before those of one tool."""
    return sorted(on(), key=lambda stop: WIDEST.index(stop.scope))


def applies(tool: str, agent: str) -> Stop | None:
    """The stop that keeps this agent from calling this tool now, the widest one first."""
    mine = (
        Q(scope=Stop.Scope.EVERYTHING)
        | Q(scope=Stop.Scope.AGENT, name=agent)
        | Q(scope=Stop.Scope.TOOL, name=tool)
    )
    return min(on().filter(mine), key=lambda stop: WIDEST.index(stop.scope), default=None)


def set(scope: str, name: str, *, actor: Actor, reason: str) -> Stop:  # noqa: A001 (stops.set reads well)
    """Switch a stop on and return it. `name` is the agent's or tool's; empty for everything.

    Raises NotPermitted, ReasonMissing, BadStop, StopIsOn.
    """
    name = canonical.text(name.strip())

    def act() -> Stop:
        user = actors.require(actor, PERMISSION)
        reasoned = _reason(reason)
        if scope not in Stop.Scope.values or len(name) > LONGEST_NAME:
            raise errors.BadStop
        if (scope == Stop.Scope.EVERYTHING) != (name == ""):
            raise errors.BadStop
        try:
            with transaction.atomic():
                stop = Stop.objects.create(
                    scope=scope,
                    name=name,
                    reason=reasoned,
                    set_by=actor.label,
                    set_by_user=user,
                    set_at=ClockTimestamp(),
                )
        except IntegrityError as exc:
            raise errors.StopIsOn from exc
        _record("stop.set", stop, actor, reasoned)
        return stop

    return _refusals_recorded(act, actor, target=f"{scope} {name}".strip())


def lift(stop_id: int, *, actor: Actor, reason: str) -> Stop:
    """Switch a stop off, wake the runs that are parked for one, and return it.

    A woken run that another stop still concerns parks again.
    Raises NotPermitted, ReasonMissing, NoSuchStop, StopIsLifted.
    """

    def act() -> Stop:
        actors.require(actor, PERMISSION)
        reasoned = _reason(reason)
        stop = Stop.objects.select_for_update(no_key=True).filter(pk=stop_id).first()
        if stop is None:
            raise errors.NoSuchStop
        if stop.lifted_at is not None:
            raise errors.StopIsLifted(
                noop("{person} has lifted this emergency stop already. Nothing has changed."),
                person=stop.lifted_by,
            )
        Stop.objects.filter(pk=stop_id).update(
            lifted_by=actor.label, lifted_at=ClockTimestamp(), lifted_reason=reasoned
        )
        controls.wake_parked(Park.EMERGENCY_STOP)
        _record("stop.lifted", stop, actor, reasoned)
        return stop

    stop = _refusals_recorded(act, actor, target=str(stop_id))
    stop.refresh_from_db()
    return stop


def wake_late() -> int:
    """The sweeper's rule: look again at runs parked for a stop that was lifted meanwhile.

    A driver that saw the stop parks its run a moment after the stop was lifted, and nobody else
    would wake it. Returns how many; a run for which a stop is still on parks again.
    """
    with transaction.atomic():
        newest = Stop.objects.aggregate(at=Max("lifted_at"))["at"]
        return len(controls.wake_parked(Park.EMERGENCY_STOP, begun_by=newest)) if newest else 0


def _reason(reason: str) -> str:
    if not reason.strip():
        raise errors.ReasonMissing
    return canonical.text(reason.strip())


def _record(verb: str, stop: Stop, actor: Actor, reason: str) -> None:
    trail.record(
        verb,
        actor=actor,
        target=("stop", str(stop.pk)),
        reason=reason,
        data={"scope": stop.scope, "name": stop.name},
    )


def _refusals_recorded(act: Callable[[], Stop], actor: Actor, *, target: str) -> Stop:
    try:
        with transaction.atomic():
            return act()
    except (errors.LedgerError, people.AccountsError) as refusal:
        trail.record_refused(
            "stop.refused", actor=actor, target=("stop", target), reason=str(refusal)
        )
        raise
