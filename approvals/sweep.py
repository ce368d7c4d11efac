"""The sweep: reminds, escalates and fires deadlines, notices what nobody can decide, and rings for
runs that were decided and did not notice.

1. Candidates are found without locks; each is then handled in its own transaction, run first and
   request second, and looked at again once it is locked.
2. Two sweeps at once do no harm: what one has locked, the other leaves alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext_noop as noop

from accounts import clock
from accounts.actors import ClockTimestamp
from approvals import deadlines, gates, nudges, policy, requests, waking
from approvals.electorate import Electorate
from approvals.models import Decision, Request
from approvals.notices import latecomers
from approvals.rounds import UNDER_WAY
from approvals.status import Status
from runs import status
from runs.models import Run

logger = logging.getLogger(__name__)

MOST = 200
"""Requests or runs handled in one pass, oldest first."""
CHECK = timedelta(minutes=1)
"""How often an open request is looked at for whether enough people may decide it."""
GRACE = timedelta(seconds=10)
"""How long a run may rest with an undelivered decision before it is woken once more."""


def sweep() -> int:
    """One pass; how many requests were changed and runs were woken."""
    return (
        _each(due(), expire)
        + _each(to_nudge(), nudge)
        + _each(undecidable(), alert)
        + _each(asleep().values_list("pk", flat=True)[:MOST], rouse)
    )


def _each(found: Iterable[UUID], act: Callable[[UUID], bool]) -> int:
    """Act on each of them; what fails for one of them is logged and does not stop the others."""
    done = 0
    for one in list(found):
        try:
            done += act(one)
        except Exception:
            logger.exception("%s of %s failed", act.__name__, one)
    return done


def due() -> QuerySet[Request, UUID]:
    """Open requests whose deadline has passed, unless their run is being cancelled anyway."""
    return (
        Request.objects.filter(
            status=Status.PENDING,
            deadline__lte=ClockTimestamp(),
            run__cancel_asked_at__isnull=True,
            run__status__in=status.LIVE,
        )
        .order_by("deadline", "pk")
        .values_list("pk", flat=True)[:MOST]
    )


def expire(request_id: UUID) -> bool:
    """Expire one request if it is still open and due; False if not, or if somebody is at it."""
    with transaction.atomic():
        found = _lock_open(request_id)
        if found is None or not deadlines.passed(found[1]):
            return False
        return deadlines.expire(*found)


def to_nudge() -> QuerySet[Request, UUID]:
    """Open requests of which somebody is to be reminded, or more people asked."""
    return (
        Request.objects.filter(
            status=Status.PENDING,
            nudge_at__lte=ClockTimestamp(),
            deadline__gt=ClockTimestamp(),
            run__cancel_asked_at__isnull=True,
            run__status__in=status.LIVE,
        )
        .order_by("nudge_at", "pk")
        .values_list("pk", flat=True)[:MOST]
    )


def nudge(request_id: UUID) -> bool:
    """Remind and escalate where that is due; False if it is not, or if somebody is at it."""
    with transaction.atomic():
        found = _lock_open(request_id)
        if found is None:
            return False
        at = clock.now()
        return not deadlines.passed(found[1], at) and nudges.catch_up(found[1], at) > 0


def undecidable() -> list[UUID]:
    """Open requests not looked at lately that too few people may decide now, or may again.

    Those who may decide one since lately are told on the way.
    """
    unseen = (
        Request.objects.filter(
            Q(checked_at__isnull=True) | Q(checked_at__lt=ClockTimestamp() - CHECK),
            status=Status.PENDING,
            run__status__in=status.LIVE,
        )
        .select_related("run")
        .order_by(F("checked_at").asc(nulls_first=True), "pk")[:MOST]
    )
    found = list(unseen)
    if not found:
        return []
    Request.objects.filter(pk__in=[each.pk for each in found]).update(checked_at=ClockTimestamp())
    book, electorate = policy.in_force(), Electorate.of(found)
    latecomers.tell(found, electorate, book)
    return [
        each.pk
        for each in found
        if electorate.tally(each, gates.of(each, book)).possible is (each.nobody_since is not None)
    ]


def alert(request_id: UUID) -> bool:
    """Tell that nobody can decide a request, or note that somebody can again, if it is so still."""
    with transaction.atomic():
        found = _lock_open(request_id)
        if found is None:
            return False
        return requests.check_possible(found[1], policy.in_force())


def _lock_open(request_id: UUID) -> tuple[Run, Request] | None:
    """An open request and its run, locked; None if it is not open, or if somebody is at it."""
    run = _lock(Run.objects.filter(requests=request_id, cancel_asked_at__isnull=True))
    if run is None or run.ended:
        return None
    request = (
        Request.objects.select_for_update(no_key=True, skip_locked=True, of=("self",))
        .select_related("run")
        .filter(pk=request_id, status=Status.PENDING)
        .first()
    )
    return None if request is None else (run, request)


def asleep() -> QuerySet[Run]:
    """Waiting runs that nobody is about to look at, and should: decided, or asking nothing."""
    decided = Decision.objects.filter(request__run=OuterRef("pk"), delivery__in=UNDER_WAY)
    asking = Request.objects.filter(run=OuterRef("pk"), status=Status.PENDING)
    return Run.objects.filter(
        Exists(decided) | ~Exists(asking),
        status=status.Status.WAITING,
        wakes__lte=F("seen_wakes"),
        updated_at__lt=ClockTimestamp() - GRACE,
    ).order_by("updated_at", "pk")


def rouse(run_id: UUID) -> bool:
    with transaction.atomic():
        run = _lock(asleep().filter(pk=run_id))
        if run is None:
            return False
        waking.wake(run.pk, cause=noop("found by the sweeper"))
        return True


def _lock(runs: QuerySet[Run]) -> Run | None:
    return runs.select_for_update(no_key=True, skip_locked=True, of=("self",)).first()
