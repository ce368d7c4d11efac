"""What the questions of a run tell of it step by step: which attempt asked what."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.urls import reverse

from accounts.models import User
from approvals import queries
from approvals.models import Request
from approvals.status import STATES
from runs.story import Deed

MOST = 500


def deeds(run_id: UUID, user: User, fences: Collection[int]) -> list[Deed]:
    """The questions that these attempts asked, as far as this person may see them."""
    asked = queries.visible_to(user).filter(run_id=run_id, fence__in=fences)
    return [_asked(request) for request in asked.order_by("fence", "created_at", "pk")[:MOST]]


def _asked(request: Request) -> Deed:
    tasks = [task for _, _, task, _ in request.askers]
    return Deed(
        fence=request.fence,
        at=request.created_at,
        place=f"{request.node}@{tasks[-1] if tasks else ''}",
        kind="question",
        key=f"{request.interrupt_id}:{request.digest}",
        title=request.title,
        state=STATES[request.status],
        args=request.payload,
        note=request.asked_of,
        url=reverse("approvals:review", args=[request.pk]),
    )
