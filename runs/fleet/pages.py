"""The page of the workers."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import conditional_page, require_safe

from accounts.models import User
from runs import queries, standing, visible, web
from runs.advice import house, telling
from runs.advice.telling import Step
from runs.fleet import backlog, health
from runs.fleet.crews import crews
from runs.fleet.held import held
from runs.queries import Row
from runs.signs import Sign

EVERY = 5
"""Seconds between two looks: a lease lives for half a minute."""
MOST_STILL = 5
"""Runs that stand still on this page, which is about workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """A run that stands still, and what to do about it."""

    row: Row
    says: str
    step: Step | None
    """Not one that leads to this page."""


@conditional_page
@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    """Who drives, what waits for them, what stands still, and whether what must run does."""
    user = web.reader(request)
    found = crews()
    parts = health.everything(user)
    standing_still = still(user)
    context = {
        "crews": [crew for crew in found if not crew.gone],
        "gone": [crew for crew in found if crew.gone],
        "held": held(user),
        "still": standing_still[:MOST_STILL],
        "more_still": len(standing_still) > MOST_STILL,
        "queue": backlog.queue(),
        "lines": backlog.lines(found),
        "parts": [part for part in parts if part.sign.key not in ("workers", "queue")],
        "unwell": [sign for sign in (part.sign for part in parts) if _is_told(sign)],
        "live_url": request.path,
        "every": EVERY,
    }
    return web.answer(request, "runs/workers.html", "fleet", context)


def _is_told(sign: Sign) -> bool:
    """Whether it stands on top; of the queue, this page says more below."""
    return not sign.well and bool(sign.todo) and sign.key != "queue"


def still(user: User) -> list[Still]:
    """Runs that are running and do not move, the oldest first; one more than are shown."""
    found = (
        visible.to(user)
        .select_related("lease", "started_by")
        .filter(standing.stuck() | standing.stalled())
        .order_by("created_at")
    )
    rows = queries.rows(list(found[: MOST_STILL + 1]), user)
    around = house.look() if rows else house.House()
    return [_still(row, telling.steps(row.run, row.standing, around, user)) for row in rows]


def _still(row: Row, steps: list[Step]) -> Still:
    here = reverse("runs:workers")
    elsewhere = (step for step in steps if step.url and step.url != here)
    says = " ".join(step.says for step in steps)
    return Still(row=row, says=says, step=next(elsewhere, None))
