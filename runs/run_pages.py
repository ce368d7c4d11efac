"""Tabs of a run: what the layers above know of it, and the audit log.

The others are in `runs.timeline` and `runs.trace`.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import conditional_page, require_safe

from audit import queries as log
from audit.models import Entry
from audit.verbs import VERBS, Verb
from runs import ports, web
from runs.heading.page import header
from runs.heading.page import page as _page

MOST_ENTRIES = 200
SEE_ALL_ENTRIES = "audit.view_entry"


@conditional_page
@require_safe
def tab(request: HttpRequest, run_id: UUID, slug: str) -> HttpResponse:
    """What a layer above knows about this run."""
    user = web.reader(request)
    story = next((story for story in ports.stories() if story.tab.slug == slug), None)
    if story is None:
        raise Http404
    user = web.reader(request, story.tab.permission)
    top = header(run_id, user, slug)
    return _page(
        request,
        top,
        body="runs/_items.html",
        live=not top.run.ended,
        tab=story.tab,
        items=story.items(run_id, user),
    )


@conditional_page
@require_safe
def audit(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The audit log about this run; readers without the permission see what they did themselves."""
    user = web.reader(request)
    top = header(run_id, user, "audit")
    entries = log.for_run(run_id).order_by("-id")
    own_only = not user.has_perm(SEE_ALL_ENTRIES)
    if own_only:
        entries = entries.filter(actor_kind="user", actor_id=str(user.pk))
    return _page(
        request,
        top,
        body="runs/_audit.html",
        entries=[_Logged(entry=entry, verb=_verb(entry)) for entry in entries[:MOST_ENTRIES]],
        own_only=own_only,
        most=MOST_ENTRIES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Logged:
    """An entry with the words for its verb."""

    entry: Entry
    verb: Verb


def _verb(entry: Entry) -> Verb:
    unknown = Verb(label=entry.verb, sentence="", tone="neutral", icon="help")
    return VERBS.get(entry.verb, unknown)
