"""The pages of a run's attempts: all of them, and two side by side."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runs import web
from runs.heading import page as heading
from runs.heading.page import Header
from runs.masking import Cloak
from runs.trace import attempts, diverging, showing, states
from runs.trace.attempts import Row

MOST_DIGITS = 18
"""Of a fence in an address: longer ones are no numbers that the database has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one attempt made of the state that it found."""

    row: Row
    before: dict[str, object]
    after: dict[str, object]
    kept: bool
    """Both states are still there."""
    hidden: int


@never_cache
@require_safe
def index(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Every attempt, newest first; two that are picked (`?first=1&second=2`) side by side."""
    user = web.reader(request)
    top = heading.header(run_id, user, "attempts")
    fences = [fence for name in ("first", "second") if (fence := _fence(request, name)) is not None]
    everything = web.reveals(request, run_id, "attempts")
    hides = showing.cloak(run_id, user, everything=everything)
    picked = attempts.pick(top.run, user, fences, hides)
    if len(picked) == 2:
        return _side_by_side(request, top, picked, hides)
    page = attempts.page(
        top.run, user, hides, before=_fence(request, "before"), after=_fence(request, "after")
    )
    return heading.page(
        request,
        top,
        body="runs/trace/_attempts.html",
        page=page,
        newer=f"?after={page.newer}" if page.newer is not None else "",
        older=f"?before={page.older}" if page.older is not None else "",
        half_picked=bool(fences),
    )


def _side_by_side(
    request: HttpRequest, top: Header, picked: list[Row], hides: Cloak | None
) -> HttpResponse:
    run_id = top.run.pk
    changes = [_change(run_id, row, hides) for row in picked]
    asked = {"first": str(picked[0].fence), "second": str(picked[1].fence)}
    return heading.page(
        request,
        top,
        body="runs/trace/_side_by_side.html",
        compared=diverging.compare(run_id, picked[0], picked[1], hides),
        changes=changes,
        revealed=hides is None,
        may_reveal=web.reader(request).has_perm(web.REVEAL),
        hidden=sum(change.hidden for change in changes),
        reveal_url=showing.with_query("?reveal=1", **asked),
        hide_url=showing.with_query("", **asked),
    )


def _change(run_id: UUID, row: Row, hides: Cloak | None) -> Change:
    """From where it took the run up to where it left it."""
    ends = [at for at in (row.resumed_from, row.left_at) if at]
    found = {at.id: saved for at in ends if (saved := states.load(run_id, at.id))}
    shown = {id_: showing.state(saved, hides) for id_, saved in found.items()}
    before, after = (
        shown[at.id].values if at and at.id in shown else {}
        for at in (row.resumed_from, row.left_at)
    )
    return Change(
        row=row,
        before=before,
        after=after,
        kept=len(found) == len(ends),
        hidden=sum(each.hidden for each in shown.values()),
    )


def _fence(request: HttpRequest, name: str) -> int | None:
    asked = request.GET.get(name, "")
    with suppress(ValueError):
        return int(asked) if asked.isascii() and len(asked) <= MOST_DIGITS else None
    return None
