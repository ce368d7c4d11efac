"""Requests: how one is closed, given up and told about; `opening` opens them.

Everything here runs inside a transaction in which the run has been locked.
"""

from __future__ import annotations

from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_noop as noop

from accounts import clock
from accounts.actors import Actor, ClockTimestamp
from approvals import gates, notices, rounds
from approvals.electorate import Electorate, Tally
from approvals.models import Decision, Firing, Request
from approvals.policies.plan import Nudge
from approvals.policy import Book
from approvals.status import Delivery, Status
from audit import canonical, trail
from runs.askers import Asker
from runs.heads import Head
from runs.models import Run

DRIVER = Actor.system("driver")
CHANGED = noop("the question changed")
ASKED_AGAIN = noop("asked again")


def withdraw(run: Run, reason: str) -> None:
    """The run ends: nothing is asked any more, and nothing that was decided reaches it any more."""
    for request in pending_of(run):
        close(request, Status.WITHDRAWN, reason, actor=DRIVER)
    for decision in under_way(run.pk):
        give_up(decision, reason)


def held(run_id: UUID) -> tuple[Asker, ...]:
    """Who asked the questions whose answers are cut when asking again.

    Those whose answers were handed to LangGraph and have not taken effect, so that it may hold
    them; also those given up before, in case the cut was not made then.
    """
    return tuple(
        asker
        for request in Request.objects.filter(
            Q(decision__delivery=Delivery.DELIVERING)
            | Q(decision__isnull=False, asked_again=True, replaced_by__isnull=True),
            run_id=run_id,
        )
        for asker in rounds.askers_of(request)
    )


def forget(run: Run) -> None:
    """Give up the decisions behind `held`; questions whose deadline passed may be asked anew."""
    for decision in under_way(run.pk).filter(delivery=Delivery.DELIVERING):
        give_up(decision, ASKED_AGAIN)
        Request.objects.filter(pk=decision.request_id).update(asked_again=True)
    Request.objects.filter(
        run=run, status=Status.EXPIRED, decision__isnull=True, replaced_by__isnull=True
    ).update(asked_again=True)


# --- what others ask about requests ---------------------------------------------------------------


def of_head(run_id: UUID, head: Head) -> QuerySet[Request]:
    """The requests of a run that matter at `head`, each with its decision and its run."""
    matters = Q(interrupt_id__in=list(head.pending)) | Q(decision__delivery__in=rounds.UNDER_WAY)
    return Request.objects.filter(matters, run_id=run_id).select_related("decision", "run")


def under_way(run_id: UUID) -> QuerySet[Decision]:
    return Decision.objects.filter(
        request__run_id=run_id, delivery__in=rounds.UNDER_WAY
    ).select_related("request")


def outdated(run_id: UUID) -> tuple[Asker, ...]:
    """Who asked what was approved, and refused the answer because its target had changed."""
    return tuple(asker for each in _to_cut(run_id) for asker in rounds.askers_of(each))


def note_cut(run_id: UUID) -> None:
    """The answers of `outdated` have been cut: their questions may be asked anew."""
    _to_cut(run_id).update(asked_again=True)


def _to_cut(run_id: UUID) -> QuerySet[Request]:
    return Request.objects.filter(run=run_id, outdated=True, asked_again=False)


def pending_of(run: Run) -> QuerySet[Request]:
    return Request.objects.filter(run=run, status=Status.PENDING)


# --- changes that others make as well -------------------------------------------------------------


def close(request: Request, status: Status, reason: str, *, actor: Actor) -> bool:
    """Close an open request; False if it was not open any more."""
    closed = Request.objects.filter(pk=request.pk, status=Status.PENDING).update(
        status=status, closed_at=ClockTimestamp(), close_reason=canonical.text(reason)[:300]
    )
    if closed and status in VERBS:
        record(VERBS[status], request, actor=actor, reason=reason)
    return bool(closed)


VERBS = {
    Status.SUPERSEDED: "request.superseded",
    Status.WITHDRAWN: "request.withdrawn",
    Status.EXPIRED: "request.expired",
}
"""Approved and rejected are recorded as decisions."""


def give_up(decision: Decision, reason: str) -> None:
    """The decision will not reach the run."""
    given_up = Decision.objects.filter(pk=decision.pk, delivery__in=rounds.UNDER_WAY).update(
        delivery=Delivery.NOT_DELIVERED, delivery_detail=canonical.text(reason)[:300]
    )
    if given_up:
        record(
            "decision.not_delivered",
            decision.request,
            actor=DRIVER,
            reason=reason,
            data={"decision": decision.pk, "verdict": decision.verdict},
        )
        notices.notify(notices.Event.NOT_DELIVERED, decision.request)


def check_possible(request: Request, book: Book) -> bool:
    """Note whether enough people exist who may approve; whether that is news. With its run locked.

    Each time it turns out that too few do, those who can add people are told.
    """
    electorate = Electorate.of([request])
    tally = electorate.tally(request, gates.of(request, book))
    if tally.possible is (request.nobody_since is None):
        return False
    request.nobody_since = None if tally.possible else clock.now()
    Request.objects.filter(pk=request.pk).update(nobody_since=request.nobody_since)
    if not tally.possible:
        _tell_nobody(request, tally, electorate.relief(request, book))
    return True


def _tell_nobody(request: Request, tally: Tally, relief: Nudge | None) -> None:
    told = request.firings.filter(kind=Firing.Kind.NOBODY).count()
    Firing.objects.create(request=request, kind=Firing.Kind.NOBODY, number=told + 1)
    later = f"; {relief.group} joins later" if relief else ""
    record(
        "request.nobody_can_decide",
        request,
        actor=DRIVER,
        reason=f"{tally.missing} more must approve, {tally.able} may{later}",
        data={
            "missing": tally.missing,
            "able": tally.able,
            "joins": relief.group if relief else "",
            "joins_at": relief.at if relief else None,
        },
    )
    key = str(told + 1) if told else ""
    notices.notify(notices.Event.NOBODY_CAN_DECIDE, request, key=key)


def record(
    verb: str, request: Request, *, actor: Actor, reason: str = "", data: object = None
) -> None:
    """One entry about `request` in the audit log, in this transaction."""
    trail.record(
        verb,
        actor=actor,
        target=("request", str(request.pk)),
        run_id=request.run_id,
        reason=reason,
        data=data,
    )
