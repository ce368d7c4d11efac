"""The page that steps through a run."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runs import queries, web
from runs.models import Run
from runs.trace import pages, replay, showing
from runs.trace.replay import Frame

SPEEDS = (1, 2, 5, 10)
"""Seconds for a step when it plays by itself."""


@never_cache
@require_safe
def step(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """One step of the run (`?step=3`, or `?at=` a checkpoint): before, after, meanwhile."""
    user = web.reader(request)
    row = queries.one(run_id, user)
    everything = web.reveals(request, run_id, "replay")
    hides = showing.cloak(run_id, user, everything=everything)
    place = _place(request, row.run)
    frame = replay.frame(row.run, user, place, hides)
    context = {
        "run": row.run,
        "row": row,
        "frame": frame,
        "speeds": SPEEDS,
        "hidden": _hidden(frame),
        "revealed": everything,
        "may_reveal": user.has_perm(web.REVEAL),
        "query": "&reveal=1" if everything else "",
        "reveal_url": f"?step={place}&reveal=1",
        "hide_url": f"?step={place}",
    }
    if frame is not None:
        context |= _of(run_id, frame, everything)
    return render(request, "runs/trace/replay.html", context)


def _of(run_id: UUID, frame: Frame, everything: bool) -> dict[str, object]:
    given, result = frame.given, frame.result
    newest = frame.following is None
    return {
        "saved": result.state,
        "before": given.values if given else {},
        "values": result.values,
        "given": pages.fitted(run_id, given, everything=everything) if given else None,
        "written": pages.written(run_id, given, everything=everything) if given else None,
        "waiting": pages.written(run_id, result, everything=everything) if newest else None,
    }


def _hidden(frame: Frame | None) -> int:
    if frame is None:
        return 0
    return frame.result.hidden + (frame.given.hidden if frame.given else 0)


def _place(request: HttpRequest, run: Run) -> int:
    at = request.GET.get("at", "")
    if at:
        return replay.place_of(run, at)
    asked = request.GET.get("step", "")
    with suppress(ValueError):
        return int(asked) if asked.isascii() and len(asked) < 10 else 1
    return 1
