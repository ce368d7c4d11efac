"""Requests: one per question of a waiting run, opened, replaced and closed by the run's driver.

1. Everything here runs inside the driver's transaction, with the run and its lease locked. Nobody
   else opens requests, so what is shown belongs to the head that the driver has read.
2. At most one request is open per interrupt. When the question changes, its votes are void.
3. The deadline of a question stays when the agent changes it. Only an operator who has it asked
   again gives it a new one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import JSONField, Min, Q, QuerySet, Value

from accounts.actors import Actor, ClockTimestamp
from approvals import clock, gates, notices, policy, rounds, shapes
from approvals.electorate import Electorate, Tally
from approvals.jsonforms import schemas
from approvals.models import Decision, Firing, Request
from approvals.policies import masks, plan
from approvals.policy import Book
from approvals.rounds import Fit
from approvals.status import Delivery, Status
from audit import canonical, trail
from runs.heads import Asker, Head, Pending
from runs.models import Lease, Run

DRIVER = Actor.system("driver")
CHANGED = "the question changed"
ASKED_AGAIN = "asked again"


def open(run: Run, head: Head) -> datetime | None:  # noqa: A001 (the verb; read as requests.open)
    """Make the open requests of `run` those that `head` asks; return the nearest deadline."""
    last = rounds.newest(of_head(run.pk, head))
    opening = _Opening(
        run=run, head=head, fence=Lease.objects.get(pk=run.pk).fence, book=policy.in_force()
    )
    for interrupt_id, pending in head.pending.items():
        opening.bring_up_to_date(pending, last.get(interrupt_id))
    for request in _pending(run).exclude(interrupt_id__in=head.pending):
        close(request, Status.WITHDRAWN, "the run moved on", actor=DRIVER)
    nearest: datetime | None = _pending(run).aggregate(Min("deadline"))["deadline__min"]
    return nearest


def withdraw(run: Run, reason: str) -> None:
    """The run ends: nothing is asked any more, and nothing that was decided reaches it any more."""
    for request in _pending(run):
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


def _pending(run: Run) -> QuerySet[Request]:
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


def check_possible(request: Request, book: Book) -> None:
    """If too few people exist who may approve, say so, once per request. With its run locked."""
    tell_if_impossible(request, Electorate.of([request]).tally(request, gates.of(request, book)))


def tell_if_impossible(request: Request, tally: Tally) -> None:
    if tally.possible:
        return
    _, new = Firing.objects.get_or_create(request=request, kind=Firing.Kind.NOBODY, number=1)
    if new:
        record(
            "request.nobody_can_decide",
            request,
            actor=DRIVER,
            reason=f"{tally.missing} more must approve, {tally.able} may",
            data={"missing": tally.missing, "able": tally.able},
        )
        notices.notify(notices.Event.NOBODY_CAN_DECIDE, request)


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


# --- opening --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opening:
    """One pass over the interrupts of one head."""

    run: Run
    head: Head
    fence: int
    book: Book

    def bring_up_to_date(self, pending: Pending, last: Request | None) -> None:
        forgiven = self.run.forgiven_fence
        match rounds.judge(pending, last, self.head, forgiven=forgiven), last:
            case (Fit.NEW, _):
                self._ask(pending, last)
            case (Fit.AGAIN, Request()):
                self._ask(pending, last, replaces=last)
            case (Fit.CHANGED, Request()):
                self._retire(last)
                self._ask(
                    pending,
                    last,
                    replaces=last,
                    since=last,
                    changes=rounds.changes_after(last, forgiven),
                )
            case (Fit.UNSTABLE, Request()):
                self._retire(last)

    def _retire(self, last: Request) -> None:
        close(last, Status.SUPERSEDED, CHANGED, actor=DRIVER)
        decision = rounds.decision_of(last)
        if decision is not None:
            give_up(decision, CHANGED)

    def _ask(
        self,
        pending: Pending,
        last: Request | None,
        *,
        replaces: Request | None = None,
        since: Request | None = None,
        changes: int = 0,
    ) -> None:
        """`since`: the request whose deadline goes on to hold, and what has joined since."""
        shape = shapes.detect(pending.value, pending.schema)
        payload = canonical.visible(pending.value)
        schema = schemas.of(pending.schema)
        node = canonical.text(pending.node)[:200]
        rules = self.book.find(*gates.subjects(self.run.agent, node, shape, payload))
        gate = policy.together(*rules)
        # A list shows titles to everybody who may see the request, so what is masked is not in one.
        covered = masks.cover(payload, gate.masked, root="payload").value
        summary = gates.summary(rules, gates.subjects(self.run.agent, node, shape, covered))
        asked_at = since.asked_at if since and since.asked_at else clock.now()
        deadline = since.deadline if since else min(rule.due(asked_at) for rule in rules)
        question = shapes.describe(shape, payload)
        request = Request.objects.create(
            run=self.run,
            interrupt_id=pending.interrupt_id,
            checkpoint_ns=_deepest(pending.askers)[:500],
            checkpoint_id=self.head.checkpoint_id,
            round=last.round + 1 if last else 1,
            changes=changes,
            fence=self.fence,
            node=node,
            askers=rounds.stored(pending.askers),
            shape=shape,
            # A question may be null, which is JSON but not the database's NULL.
            payload=Value(None, JSONField()) if payload is None else payload,
            digest=shapes.fingerprint(pending.value),
            schema="" if schema is None else json.dumps(schema, ensure_ascii=False),
            title=shapes.base.line(summary) if summary else question.title,
            **_permit(shape, pending.value),
            policy=gates.kept(rules),
            policy_version=self.book.version,
            group=next((rule.group for rule in rules if rule.group), ""),
            groups=sorted(gate.groups),
            people=sorted(gate.people),
            asked_at=asked_at,
            deadline=deadline,
            nudge_at=plan.first(rules[0], asked_at, deadline),
        )
        if replaces is not None:
            Request.objects.filter(pk=replaces.pk).update(replaced_by=request)
        record(
            "request.opened",
            request,
            actor=DRIVER,
            data={
                "title": request.title,
                "round": request.round,
                "digest": request.digest,
                "tool": request.tool,
                "args_hash": request.args_hash,
                "policy": request.policy,
                "deadline": request.deadline,
            },
        )
        notices.notify(notices.Event.NEEDS_YOU, request)
        check_possible(request, self.book)


def _permit(shape: shapes.Shape, payload: object) -> dict[str, str]:
    """The effect that an approval permits: only a question of ours names one."""
    if shape != shapes.Shape.OURS or not isinstance(payload, dict) or not payload["tool"]:
        return {"tool": "", "args_hash": ""}
    return {"tool": payload["tool"], "args_hash": canonical.digest(payload["args"])}


def _deepest(askers: Iterable[Asker]) -> str:
    return max((asker.ns for asker in askers), key=len, default="")
