"""The list of requests: those that wait for the reader, all that wait, those decided."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import conditional_page, require_safe

from accounts.models import User
from accounts.speech import later as _
from approvals import queries
from approvals.inbox import lines
from approvals.inbox.forms import DecidedForm
from approvals.status import Status
from runs import web

SEE = "approvals.view_request"
SEE_POLICIES = "audit.view_entry"
"""Who reads everything reads the policies, too."""
SEE_STATISTICS = "approvals.view_statistics"
VIEWS = {"mine": _("Needs you"), "pending": _("All waiting"), "decided": _("Decided")}
STEP = 100
"""Rows that are shown besides when the reader asks for more."""
EVERY = 10
"""Seconds between two looks at the list."""


@conditional_page
@require_safe
def inbox(request: HttpRequest) -> HttpResponse:
    """Requests that wait for the reader, all that wait, or those decided."""
    user = web.reader(request, SEE)
    view = request.GET.get("view", "mine")
    view = view if view in VIEWS else "mine"
    context = _decided(request, user) if view == "decided" else _opened(request, user, view)
    context |= {
        "view": view,
        "views": VIEWS,
        "waiting": queries.visible_to(user).filter(status=Status.PENDING).count(),
        "every": EVERY,
        "may_see_policies": user.has_perm(SEE_POLICIES),
        "may_see_statistics": user.has_perm(SEE_STATISTICS),
    }
    return web.answer(request, "approvals/inbox.html", "rows", context)


def _opened(request: HttpRequest, user: User, view: str) -> dict[str, object]:
    most = _most(request.GET.get("most", ""))
    listing = lines.opened(
        user, mine=view == "mine", as_of=web.moment(request.GET.get("as_of", "")), most=most
    )
    query: dict[str, str | int] = {"view": view, "as_of": listing.as_of.isoformat()}
    further: dict[str, str | int] = {"view": view, "most": most + STEP}
    if most > lines.SIZE:
        query["most"] = most
    return {
        "lines": listing.lines,
        "newer": listing.newer,
        "more": listing.more,
        "more_url": f"?{urlencode(further)}",
        "needs": listing.mine,
        "together": any(line.bulk for line in listing.lines),
        "live_url": f"{reverse('approvals:inbox')}?{urlencode(query)}",
    }


def _most(text: str) -> int:
    """How many rows an address asks for."""
    asked = int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else lines.SIZE
    return min(max(asked, lines.SIZE), queries.MOST)


def _decided(request: HttpRequest, user: User) -> dict[str, object]:
    after = _place(request.GET.get("after", ""))
    mine = request.GET.get("by") == "me"
    form = DecidedForm(request.GET)
    rows: list[queries.Row] = []
    if form.is_valid():
        asked = form.asked(mine=mine)
        rows = queries.decided(user, asked, before=after, limit=queries.PAGE + 1)
    here = request.GET.copy()
    here.pop("after", None)
    newest, older = f"?{here.urlencode()}", ""
    if len(rows) > queries.PAGE:
        rows = rows[: queries.PAGE]
        last = rows[-1].request
        here["after"] = f"{last.closed_at.isoformat()}~{last.pk}" if last.closed_at else ""
        older = f"?{here.urlencode()}"
    return {
        "lines": lines.lines(rows),
        "needs": queries.waiting_for(user),
        "form": form,
        "most": queries.NEWEST,
        "newest": newest,
        "older": older,
        "first": after is None,
        "by_me": mine,
    }


def _place(text: str) -> tuple[datetime, UUID] | None:
    moment, _, identity = text.partition("~")
    at = web.moment(moment)
    try:
        return (at, UUID(identity)) if at else None
    except ValueError:
        return None
