"""The page of effects in doubt, and having a provider asked now."""

from __future__ import annotations

from urllib.parse import quote
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import conditional_page, require_POST, require_safe

from accounts.actors import Actor
from ledger import errors
from ledger.reconcile import asking, queue
from ledger.reconcile.queue import Doubt, Place
from runs import web

SEE = "ledger.view_effect"
SIZE = 50
EVERY = 10
"""Seconds between two looks at what may change."""


@conditional_page
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Effects in doubt, the longest first, and what providers have told."""
    user = web.reader(request, SEE)
    after = _place(request.GET.get("after", ""))
    found = queue.doubts(user, after=after, limit=SIZE + 1)
    more = len(found) > SIZE
    context = {
        "doubts": found[:SIZE],
        "older": f"?after={_written(found[SIZE - 1])}" if more else "",
        "first": after is None,
        "tellings": queue.tellings(),
        "may_settle": user.has_perm(asking.PERMISSION),
        "live_url": request.get_full_path(),
        "every": EVERY,
    }
    return web.answer(request, "ledger/reconcile.html", "region", context)


def _written(doubt: Doubt) -> str:
    place = Place.of(doubt.effect)
    return quote(f"{place.updated_at.isoformat()}~{place.uid}")


def _place(text: str) -> Place | None:
    moment, _, uid = text.partition("~")
    at = web.moment(moment)
    try:
        return Place(updated_at=at, uid=UUID(uid)) if at else None
    except ValueError:
        return None


@require_POST
def look(request: HttpRequest, uid: UUID) -> HttpResponse:
    """Have the provider asked now; back to where the button was."""
    web.reader(request, asking.PERMISSION)
    try:
        asking.ask_now(uid, actor=Actor.of(request))
        messages.success(request, _("The provider is asked now. Its answer appears here."))
    except errors.LedgerError as refusal:
        messages.error(request, refusal.shown)
    back = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back, {request.get_host()}):
        back = reverse("ledger:reconcile")
    return HttpResponseRedirect(back)
