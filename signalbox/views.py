"""Pages about the whole: the overview, and the two probes."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import conditional_page, require_safe

from accounts.models import User
from accounts.views import SignedIn
from approvals import queries as approvals
from runs import visible, web
from signalbox import overview as overviews

EVERY = 10
"""Seconds between two looks at the overview."""


@conditional_page
@require_safe
def overview(request: SignedIn) -> HttpResponse:
    """What needs the reader, what is stuck, how the last day went, whether the system works."""
    page = overviews.read(request.user)
    context = {"page": page, "live_url": request.path, "every": EVERY}
    request.META[visible.SIGHT] = visible.sight(request.user, *page.needs)
    return web.answer(request, "overview.html", "now", context)


@conditional_page
@require_safe
def waiting(request: HttpRequest) -> HttpResponse:
    """The number beside "Approvals" in the menu: how many requests wait for this person."""
    count = approvals.waiting_for(request.user) if isinstance(request.user, User) else 0
    return render(request, "components/_count.html", {"count": count})


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """This process reaches the database: 200, or 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return HttpResponse("no database\n", status=503, content_type="text/plain")
    return HttpResponse("ok\n", content_type="text/plain")
