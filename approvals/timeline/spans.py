"""A run's questions for the chart: from when each was asked until it was answered or closed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.models import User
from approvals import queries
from approvals.models import Decision, Request
from approvals.status import STATES, Status
from approvals.timeline import events
from runs.askers import Asker
from runs.story import Mark, Span, Stage

MOST = 60
"""Questions of one page."""


def of(run_id: UUID, user: User, *, since: datetime, until: datetime | None) -> list[Span]:
    """Questions that were open at some time between `since` and `until`. One query."""
    found = queries.visible_to(user).filter(run_id=run_id)
    found = found.filter(Q(closed_at__isnull=True) | Q(closed_at__gte=since))
    if until is not None:
        found = found.filter(created_at__lt=until)
    return [_span(each) for each in found.select_related("decision").order_by("created_at")[:MOST]]


def _span(request: Request) -> Span:
    decision: Decision | None = getattr(request, "decision", None)
    asker = _asker(request)
    return Span(
        title=_("Asked %(whom)s") % {"whom": request.asked_of},
        kind=events.KIND,
        stages=(_stage(request, decision),),
        marks=tuple(_marks(request, decision)),
        task=asker.task_id if asker else "",
        node=request.node,
        url=events.url(request),
    )


def _stage(request: Request, decision: Decision | None) -> Stage:
    end = decision.at if decision else request.closed_at
    return Stage(
        start=request.created_at,
        end=max(end, request.created_at) if end else None,
        tone=STATES[Status.PENDING].tone,
        label=request.title,
        idle=True,
    )


def _marks(request: Request, decision: Decision | None) -> Iterator[Mark]:
    state = STATES[request.status]
    if decision is not None:
        told = {"who": decision.decider, "verdict": state.label}
        yield Mark(at=decision.at, tone=state.tone, label=_("%(verdict)s by %(who)s") % told)
    elif request.closed_at is not None:
        yield Mark(at=request.closed_at, tone=state.tone, label=str(state.label))


def _asker(request: Request) -> Asker | None:
    """The innermost task that asks."""
    askers = [Asker(*each) for each in request.askers]
    return max(askers, key=lambda each: (bool(each.ns), each.ns.count("|")), default=None)
