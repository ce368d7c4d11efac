"""What the driver knows about approvals: the implementation of `runs.ports.Approvals`.

An answer has been delivered when its interrupt is not pending any more and either LangGraph holds
it, or the head has come from that checkpoint by normal steps.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F
from django.utils.translation import gettext_noop as noop

from accounts.actors import ClockTimestamp
from approvals import errors, notices, opening, requests, rounds
from approvals.models import Decision, Request
from approvals.rounds import Fit
from approvals.status import Delivery
from runs import leases, statements
from runs.askers import Asker
from runs.authority import Lease
from runs.heads import Head
from runs.models import Run
from runs.ports import Answer, Answers


class Approvals:
    """The approvals app, as the driver sees it."""

    def read(self, run_id: UUID, head: Head) -> Answers:
        """What is decided about the pending interrupts of `head`. One query."""
        found = list(requests.of_head(run_id, head))
        if not found:
            return Answers()
        forgiven = found[0].run.forgiven_fence
        last = rounds.newest(found)
        fits = {
            interrupt_id: rounds.judge(pending, last.get(interrupt_id), head, forgiven=forgiven)
            for interrupt_id, pending in head.pending.items()
        }
        return Answers(
            ready=_one_per_task(head, [last[each] for each in fits if fits[each] is Fit.READY]),
            consumed=Fit.CONSUMED in fits.values(),
            unstable=Fit.UNSTABLE in fits.values(),
            lapsed=Fit.LAPSED in fits.values(),
            outdated=Fit.OUTDATED in fits.values(),
            under_way=any(
                decision.delivery in rounds.UNDER_WAY
                for decision in map(rounds.decision_of, found)
                if decision is not None
            ),
        )

    def hand_over(self, lease: Lease, answers: tuple[Answer, ...]) -> None:
        """Raises LeaseLost, and DecisionGone if one of them was given up meanwhile."""
        ids = [answer.decision_id for answer in answers]
        with transaction.atomic():
            leases.lock(lease)
            handed = Decision.objects.filter(pk__in=ids, delivery__in=rounds.UNDER_WAY).update(
                delivery=Delivery.DELIVERING, deliveries=F("deliveries") + 1
            )
            if handed != len(ids):
                raise errors.DecisionGone

    def note_delivered(self, lease: Lease, head: Head) -> None:
        """Raises LeaseLost. Says nothing about a head that this worker's graph cannot explain."""
        if not head.exists or head.lost:
            return
        gone = [
            decision
            for decision in requests.under_way(lease.run_id)
            if decision.request.interrupt_id not in head.pending
        ]
        arrived = {decision.pk: _arrived(decision, head) for decision in gone}
        if not any(each is not None for each in arrived.values()):
            return
        with transaction.atomic():
            leases.lock(lease)
            for decision in gone:
                if arrived[decision.pk]:
                    _took_effect(decision)
                elif arrived[decision.pk] is False:
                    requests.give_up(decision, noop("the run moved on without it"))

    def open(self, run: Run, head: Head) -> datetime | None:
        return opening.open(run, head)

    def withdraw(self, run: Run, reason: str) -> None:
        requests.withdraw(run, reason)

    def held(self, run_id: UUID) -> tuple[Asker, ...]:
        return requests.held(run_id)

    def outdated(self, run_id: UUID) -> tuple[Asker, ...]:
        return requests.outdated(run_id)

    def note_cut(self, run_id: UUID) -> None:
        requests.note_cut(run_id)

    def forget(self, run: Run) -> None:
        requests.forget(run)


def _one_per_task(head: Head, decided: list[Request]) -> tuple[Answer, ...]:
    """LangGraph takes one answer per task in a call; the oldest decision goes first."""
    chosen: dict[str, Answer] = {}
    for request in sorted(decided, key=lambda each: (each.decision.at, each.pk)):
        task_id = head.pending[request.interrupt_id].task_id
        chosen.setdefault(
            task_id,
            Answer(
                decision_id=request.decision.pk,
                interrupt_id=request.interrupt_id,
                task_id=task_id,
                value=request.decision.answer,
            ),
        )
    return tuple(chosen.values())


def _arrived(decision: Decision, head: Head) -> bool | None:
    """Whether an answer whose interrupt is gone has reached the run; None: too early to say."""
    request = decision.request
    if head.checkpoint_id == request.checkpoint_id:
        taken = decision.deliveries > 0 and head.consumed(rounds.askers_of(request))
        return True if taken else None
    return decision.deliveries > 0 and _descends(request, head)


def _descends(request: Request, head: Head) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("approvals", "descends"),
            {
                "thread": str(request.run_id),
                "head": head.checkpoint_id,
                "origin": request.checkpoint_id,
            },
        )
        found: bool = cursor.fetchone()[0]
    return found


def _took_effect(decision: Decision) -> None:
    noted = Decision.objects.filter(pk=decision.pk, delivery=Delivery.DELIVERING).update(
        delivery=Delivery.TOOK_EFFECT, delivered_at=ClockTimestamp()
    )
    if noted:
        requests.record(
            "decision.delivered",
            decision.request,
            actor=requests.DRIVER,
            data={"decision": decision.pk, "deliveries": decision.deliveries},
        )
        notices.notify(notices.Event.TOOK_EFFECT, decision.request)
