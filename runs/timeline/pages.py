"""The page of a run as it opens: its timeline."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import conditional_page, require_safe

from runs import web
from runs.heading.page import header, page
from runs.timeline import journal


@conditional_page
@require_safe
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """What happened to the run, as a chart and as a table."""
    user = web.reader(request)
    top = header(run_id, user, "timeline")
    before = request.GET.get("before", "")
    told = journal.read(top.run, user, now=top.now, before=before)
    older = f"?before={told.older}" if told.older else ""
    newer = "" if told.newest else request.path
    return page(
        request,
        top,
        body="runs/_timeline.html",
        live=not top.run.ended and told.newest,
        journal=told,
        older=older,
        newer=newer,
    )
