"""What the pages of a run tell about its requests: the implementation of `runs.ports.Story`."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import speech
from accounts.models import User
from accounts.speech import later
from approvals import exported, queries, trace, waiting
from approvals.models import Decision, Request
from approvals.status import DELIVERIES, STATES, Status
from approvals.timeline import events, spans
from runs import planner
from runs.models import Run
from runs.story import (
    Ahead,
    Deed,
    Event,
    Fact,
    Hide,
    Item,
    Notice,
    Remark,
    Section,
    Span,
    Tab,
    phrase,
    told,
)

MOST = 200
"""Rows of a tab."""


class Story:
    """Requests of runs, as their pages show them."""

    tab = Tab(
        slug="approvals",
        label=later("Approvals"),
        permission="approvals.view_request",
        columns=(later("Question"), later("Status"), later("Group"), later("Asked")),
        nothing=later("This run has not asked anybody anything that you may see."),
    )

    def count(self, run_id: UUID, user: User) -> int:
        return queries.visible_to(user).filter(run_id=run_id).count()

    def items(self, run_id: UUID, user: User) -> list[Item]:
        found = queries.visible_to(user).filter(run_id=run_id).select_related("decision")
        return [_item(request) for request in found.order_by("-created_at", "-pk")[:MOST]]

    def events(
        self, run_id: UUID, user: User, *, since: datetime, until: datetime | None
    ) -> list[Event]:
        return list(events.of(run_id, user, since=since, until=until))

    def spans(
        self, run_id: UUID, user: User, *, since: datetime, until: datetime | None
    ) -> list[Span]:
        return spans.of(run_id, user, since=since, until=until)

    def deeds(self, run_id: UUID, user: User, fences: Collection[int]) -> list[Deed]:
        return trace.deeds(run_id, user, fences)

    def sections(self, run_id: UUID, user: User, hide: Hide) -> list[Section]:
        return exported.sections(run_id, user, hide)

    def notice(self, run: Run, user: User) -> Notice | None:
        return waiting.notice(run, user)

    def facts(self, run_id: UUID) -> list[Fact]:
        count = Request.objects.filter(run_id=run_id, status=Status.PENDING).count()
        return [
            Fact(
                label=_("Open approvals"),
                value=_("{count} waiting").format(count=count) if count else "0",
                state=STATES[Status.PENDING] if count else None,
                url=reverse("runs:tab", args=[run_id, self.tab.slug]) if count else "",
            )
        ]

    def ahead(self, run: Run, user: User, *, ends: bool) -> Ahead | None:
        return None

    def remarks(self, run_ids: Collection[UUID], user: User) -> dict[UUID, Remark]:
        found = queries.visible_to(user).filter(
            planner.among("run_id", planner.Ids.of(run_ids)), status=Status.PENDING
        )
        return {
            request.run_id: Remark(
                reason=told(
                    _("{title} · {group} · deadline {at}"),
                    title=request.title,
                    group=request.asked_of,
                    at=request.deadline,
                )
            )
            for request in found.order_by("-deadline")[: MOST * 5]
        }

    def mine(self, user: User) -> QuerySet[Request, UUID]:
        return queries.visible_to(user).values_list("run_id", flat=True)

    def troubled(self) -> None:
        return None


def _item(request: Request) -> Item:
    decision: Decision | None = getattr(request, "decision", None)
    says = ""
    if decision is not None:
        says = f"{decision.decider} · {speech.inside(DELIVERIES[decision.delivery].label)}"
    return Item(
        title=request.title,
        url=events.url(request),
        state=STATES[request.status],
        detail=request.asked_of,
        note=phrase(says or speech.shown(request.close_reason)),
        at=request.created_at,
    )
