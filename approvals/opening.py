"""Opening requests: one per question of a waiting run, opened and replaced by the run's driver.

1. Everything here runs inside the driver's transaction, with the run and its lease locked. Nobody
   else opens requests, so what is shown belongs to the head that the driver has read.
2. At most one request is open per interrupt. When the question changes, its votes are void.
3. The clock of a question stays when the agent changes it: its deadline, and what it has been
   reminded of and passed on to. An operator who has it asked again gives it a new one, and so does
   an approval in time that could not be used because its target had changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import JSONField, Min, Value
from django.utils.translation import gettext_noop as noop

from accounts import clock
from approvals import gates, notices, nudges, policy, requests, rounds, shapes
from approvals.jsonforms import schemas
from approvals.models import Request
from approvals.policies import masks, plan
from approvals.policy import Book
from approvals.rounds import Fit
from approvals.status import Status
from audit import canonical
from runs.askers import Asker, Pending
from runs.heads import Head
from runs.models import Lease, Run


def open(run: Run, head: Head) -> datetime | None:  # noqa: A001 (the verb; read as opening.open)
    """Make the open requests of `run` those that `head` asks; return the nearest deadline."""
    last = rounds.newest(requests.of_head(run.pk, head))
    opening = _Opening(
        run=run, head=head, fence=Lease.objects.get(pk=run.pk).fence, book=policy.in_force()
    )
    for interrupt_id, pending in head.pending.items():
        opening.bring_up_to_date(pending, last.get(interrupt_id))
    for request in requests.pending_of(run).exclude(interrupt_id__in=head.pending):
        requests.close(request, Status.WITHDRAWN, noop("the run moved on"), actor=requests.DRIVER)
    nearest: datetime | None = requests.pending_of(run).aggregate(Min("deadline"))["deadline__min"]
    return nearest


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
                    since=None if last.outdated else last,
                    changes=rounds.changes_after(last, forgiven),
                )
            case (Fit.UNSTABLE, Request()):
                self._retire(last)

    def _retire(self, last: Request) -> None:
        requests.close(last, Status.SUPERSEDED, requests.CHANGED, actor=requests.DRIVER)
        decision = rounds.decision_of(last)
        if decision is not None:
            requests.give_up(decision, requests.CHANGED)

    def _ask(
        self,
        pending: Pending,
        last: Request | None,
        *,
        replaces: Request | None = None,
        since: Request | None = None,
        changes: int = 0,
    ) -> None:
        """`since`: the request whose clock goes on."""
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
        if since is not None:
            nudges.carry_on(request, since, clock.now())
        requests.record(
            "request.opened",
            request,
            actor=requests.DRIVER,
            data={
                "round": request.round,
                "digest": request.digest,
                "tool": request.tool,
                "args_hash": request.args_hash,
                "policy": request.policy,
                "deadline": request.deadline,
            },
        )
        notices.notify(notices.Event.NEEDS_YOU, request)
        requests.check_possible(request, self.book)


def _permit(shape: shapes.Shape, payload: object) -> dict[str, str]:
    """The effect that an approval permits: only a question of ours names one."""
    if shape != shapes.Shape.OURS or not isinstance(payload, dict) or not payload["tool"]:
        return {"tool": "", "args_hash": ""}
    return {"tool": payload["tool"], "args_hash": canonical.digest(payload["args"])}


def _deepest(askers: Iterable[Asker]) -> str:
    return max((asker.ns for asker in askers), key=len, default="")
