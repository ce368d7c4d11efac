"""The page of all tools."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.speech import later as _
from ledger.inventory import listing
from runs import web

SEE = "ledger.view_toolbox"
DAYS = {1: _("a day"), 7: _("a week"), 30: _("a month"), 365: _("a year")}
USUAL = 7


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Every tool: what it changes, how it is kept from happening twice, how it fares."""
    web.reader(request, SEE)
    asked = request.GET.get("days", "")
    days = int(asked) if asked.isdecimal() and int(asked[:4]) in DAYS else USUAL
    found = listing.inventory(timedelta(days=days))
    context = {"inventory": found, "days": days, "choices": DAYS}
    return render(request, "ledger/tools.html", context)
