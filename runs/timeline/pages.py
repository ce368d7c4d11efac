"""The page of a run as it opens: its timeline."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import conditional_page, require_safe

from runs import web
from runs.heading.page import header, page
from runs.picture import drawing as picture
from runs.timeline import journal, kinds
from runs.timeline.kinds import Kind


@conditional_page
@require_safe
def run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """What happened to the run, as a chart and as a table."""
    user = web.reader(request)
    top = header(run_id, user, "timeline")
    choices = [Kind(slug="", label=_("All")), *kinds.of(user)]
    kind = _chosen(request, choices)
    before = request.GET.get("before", "")
    told = journal.read(top.run, user, now=top.now, before=before, kind=kind)
    return page(
        request,
        top,
        body="runs/_timeline.html",
        live=not top.run.ended and told.newest,
        journal=told,
        graph=picture.of(top.run, told.at) if told.newest else None,
        kinds=[_link(each, kind, before) for each in choices],
        older=_query(before=told.older, kind=kind) if told.older else "",
        newer="" if told.newest else request.path + _query(kind=kind).rstrip("?"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Link:
    """A choice of the filter as a link."""

    label: str
    url: str
    on: bool


def _chosen(request: HttpRequest, choices: list[Kind]) -> str:
    asked = request.GET.get("kind", "")
    return asked if asked in {each.slug for each in choices} else ""


def _link(kind: Kind, chosen: str, before: str) -> _Link:
    url = _query(before=before, kind=kind.slug) + "#events"
    return _Link(label=kind.label, url=url, on=kind.slug == chosen)


def _query(**given: str) -> str:
    asked = urlencode({name: value for name, value in given.items() if value})
    return f"?{asked}" if asked else "?"
