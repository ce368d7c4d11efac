"""What the pages of a run tell about its requests: the implementation of `runs.ports.Story`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet
from django.urls import reverse

from accounts.models import User
from approvals import queries, waiting
from approvals.aftermath import mishaps
from approvals.models import Decision, Request
from approvals.status import DELIVERIES, SEVERITIES, STATES, Delivery, Status
from runs.models import Run
from runs.status import State
from runs.story import Ahead, Event, Fact, Item, Notice, Remark, Tab, phrase

WITHDRAWN = State(
    value="mishap_withdrawn",
    label="Not wrong after all",
    tone="neutral",
    icon="slash",
    sentence="Somebody withdrew that this had gone wrong.",
)
MOST = 200
"""Rows of a tab, and of each kind of event."""


class Story:
    """Requests of runs, as their pages show them."""

    tab = Tab(
        slug="approvals",
        label="Approvals",
        permission="approvals.view_request",
        columns=("Question", "Status", "Group", "Asked"),
        nothing="This run has not asked anybody anything that you may see.",
    )

    def count(self, run_id: UUID, user: User) -> int:
        return queries.visible_to(user).filter(run_id=run_id).count()

    def items(self, run_id: UUID, user: User) -> list[Item]:
        found = queries.visible_to(user).filter(run_id=run_id).select_related("decision")
        return [_item(request) for request in found.order_by("-created_at", "-pk")[:MOST]]

    def events(
        self, run_id: UUID, user: User, *, since: datetime, until: datetime | None
    ) -> list[Event]:
        ends = {"until": until} if until else {}
        mine = queries.visible_to(user).filter(run_id=run_id)
        asked = mine.filter(_between("created_at", since, **ends)).order_by("created_at")
        decided = Decision.objects.filter(
            _between("at", since, **ends), request__in=mine
        ).select_related("request")
        delivered = Decision.objects.filter(
            _between("delivered_at", since, **ends), request__in=mine
        ).select_related("request")
        return [
            *map(_asked, asked[:MOST]),
            *map(_decided, decided.order_by("at")[:MOST]),
            *map(_delivered, delivered.order_by("delivered_at")[:MOST]),
            *_mishaps(run_id, mine, since, until),
        ]

    def notice(self, run: Run, user: User) -> Notice | None:
        return waiting.notice(run, user)

    def facts(self, run_id: UUID) -> list[Fact]:
        count = Request.objects.filter(run_id=run_id, status=Status.PENDING).count()
        return [
            Fact(
                label="Open approvals",
                value=f"{count} waiting" if count else "0",
                state=STATES[Status.PENDING] if count else None,
                url=reverse("runs:tab", args=[run_id, self.tab.slug]) if count else "",
            )
        ]

    def ahead(self, run: Run, user: User, *, ends: bool) -> Ahead | None:
        return None

    def remarks(self, run_ids: Collection[UUID], user: User) -> dict[UUID, Remark]:
        found = queries.visible_to(user).filter(run_id__in=run_ids, status=Status.PENDING)
        return {
            request.run_id: Remark(
                reason=phrase(f"{request.title} · {request.asked_of} · deadline ", request.deadline)
            )
            for request in found.order_by("-deadline")[: MOST * 5]
        }

    def mine(self, user: User) -> QuerySet[Request, UUID]:
        return queries.visible_to(user).values_list("run_id", flat=True)

    def troubled(self) -> None:
        return None


def _between(field: str, since: datetime, until: datetime | None = None) -> Q:
    where = Q(**{f"{field}__gte": since})
    return where & Q(**{f"{field}__lt": until}) if until else where


def _item(request: Request) -> Item:
    decision: Decision | None = getattr(request, "decision", None)
    says = ""
    if decision is not None:
        says = f"{decision.decider} · {DELIVERIES[decision.delivery].label.lower()}"
    return Item(
        title=request.title,
        url=_url(request),
        state=STATES[request.status],
        detail=request.asked_of,
        note=phrase(says or request.close_reason),
        at=request.created_at,
    )


def _asked(request: Request) -> Event:
    return Event(
        at=request.created_at,
        state=STATES[Status.PENDING],
        text=f"Asked {request.asked_of}: {request.title}",
        note=phrase(f"round {request.round}" if request.round > 1 else ""),
        url=_url(request),
    )


def _decided(decision: Decision) -> Event:
    request = decision.request
    return Event(
        at=decision.at,
        state=STATES[request.status],
        text=request.title,
        note=phrase(f"by {decision.decider}. {decision.comment}"),
        url=_url(request),
        mark=True,
    )


def _delivered(decision: Decision) -> Event:
    return Event(
        at=decision.delivered_at or decision.at,
        state=DELIVERIES[Delivery.TOOK_EFFECT],
        text=f"The run has the answer: {decision.request.title}",
        url=_url(decision.request),
    )


def _mishaps(
    run_id: UUID, visible: QuerySet[Request], since: datetime, until: datetime | None
) -> Iterator[Event]:
    """What was said to have gone wrong in this time, and what of it was withdrawn."""

    def within(at: datetime) -> bool:
        return since <= at and (until is None or at < until)

    for each in mishaps.of_run(run_id).filter(request__in=visible)[:MOST]:
        withdrawal = mishaps.withdrawal_of(each)
        if within(each.at):
            yield Event(
                at=each.at,
                state=SEVERITIES[each.severity],
                text=each.request.title,
                note=phrase(f"{each.by_label}: {each.note}"),
                url=_url(each.request),
                mark=True,
            )
        if withdrawal is not None and within(withdrawal.at):
            yield Event(
                at=withdrawal.at,
                state=WITHDRAWN,
                text=each.request.title,
                note=phrase(f"{withdrawal.by_label}: {withdrawal.reason}"),
                url=_url(each.request),
            )


def _url(request: Request) -> str:
    return reverse("approvals:review", args=[request.pk])
