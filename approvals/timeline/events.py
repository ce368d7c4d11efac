"""Moments of a run's questions: asked, decided, delivered, gone wrong later."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.speech import later
from approvals import queries
from approvals.aftermath import mishaps
from approvals.models import Decision, Request
from approvals.status import DELIVERIES, SEVERITIES, STATES, Delivery, Status
from runs.status import State
from runs.story import Event, phrase, told

KIND = "approvals"
MOST = 60
"""Events of each sort."""
WITHDRAWN = State(
    value="mishap_withdrawn",
    label=later("Not wrong after all"),
    tone="neutral",
    icon="slash",
    sentence=later("Somebody withdrew that this had gone wrong."),
)


def of(run_id: UUID, user: User, *, since: datetime, until: datetime | None) -> Iterator[Event]:
    """From `since` to before `until`, the earliest of each sort; in any order."""
    ends = {"until": until} if until else {}
    mine = queries.visible_to(user).filter(run_id=run_id)
    asked = mine.filter(_between("created_at", since, **ends)).order_by("created_at")
    decisions = Decision.objects.filter(request__in=mine).select_related("request")
    decided = decisions.filter(_between("at", since, **ends)).order_by("at")
    delivered = decisions.filter(_between("delivered_at", since, **ends)).order_by("delivered_at")
    yield from map(_asked, asked[:MOST])
    yield from map(_decided, decided[:MOST])
    yield from map(_delivered, delivered[:MOST])
    yield from _mishaps(run_id, mine, since, until)


def _between(field: str, since: datetime, until: datetime | None = None) -> Q:
    where = Q(**{f"{field}__gte": since})
    return where & Q(**{f"{field}__lt": until}) if until else where


def _asked(request: Request) -> Event:
    return Event(
        at=request.created_at,
        state=STATES[Status.PENDING],
        text=_("Asked {group}: {title}").format(group=request.asked_of, title=request.title),
        note=phrase(_("round {number}").format(number=request.round) if request.round > 1 else ""),
        url=url(request),
        kind=KIND,
    )


def _decided(decision: Decision) -> Event:
    request = decision.request
    return Event(
        at=decision.at,
        state=STATES[request.status],
        text=request.title,
        note=told(_("by {person}. {comment}"), person=decision.decider, comment=decision.comment),
        url=url(request),
        kind=KIND,
    )


def _delivered(decision: Decision) -> Event:
    return Event(
        at=decision.delivered_at or decision.at,
        state=DELIVERIES[Delivery.TOOK_EFFECT],
        text=_("The run has the answer: {title}").format(title=decision.request.title),
        url=url(decision.request),
        kind=KIND,
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
                url=url(each.request),
                kind=KIND,
            )
        if withdrawal is not None and within(withdrawal.at):
            yield Event(
                at=withdrawal.at,
                state=WITHDRAWN,
                text=each.request.title,
                note=phrase(f"{withdrawal.by_label}: {withdrawal.reason}"),
                url=url(each.request),
                kind=KIND,
            )


def url(request: Request) -> str:
    return reverse("approvals:review", args=[request.pk])
