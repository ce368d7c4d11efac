"""Handing out what the list of the ledger shows: a page that asks, and the signed file."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.actors import Actor
from audit.export_pages import download
from ledger.browse import exporting, listing, pages
from ledger.browse.exporting import Wanted
from ledger.browse.forms import ExportForm, FilterForm
from ledger.browse.listing import Listing
from ledger.errors import SearchTooSlow
from runs import web
from runs.patience import patience


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def export(request: HttpRequest) -> HttpResponseBase:
    """All effects that the filters of the address find. Who may not is told, and recorded."""
    user = web.reader(request, pages.SEE)
    asked = FilterForm(request.GET, user=user)
    if not asked.is_valid():
        return _page(request, asked, None, status=422)
    unmasked = user.has_perm(exporting.UNMASKED)
    if request.method != "POST":
        web.reader(request, exporting.PERMISSION)
        return _page(request, asked, ExportForm(unmasked=unmasked))
    form = ExportForm(request.POST, unmasked=unmasked)
    if not form.is_valid():
        return _page(request, asked, form, status=422)
    sent = form.cleaned_data
    wanted = Wanted(
        filters=asked.filters(),
        format=sent["format"],
        unmasked=sent.get("unmasked", False),
        reason=sent.get("reason", ""),
    )
    return download(exporting.export(wanted, user=user, actor=Actor.of(request)))


def _page(
    request: HttpRequest, asked: FilterForm, form: ExportForm | None, *, status: int = 200
) -> HttpResponse:
    counts = {}
    if form is not None:
        with patience(SearchTooSlow):
            counts = Listing.of(asked.filters(), web.reader(request, pages.SEE)).counts()
    context = {
        "form": form,
        "asked": asked,
        "filters": pages.filters_on(asked, request.GET) if form is not None else [],
        "total": listing.total(counts),
        "counted": bool(counts),
        "back": reverse("ledger:list") + pages.here(request.GET),
    }
    return render(request, "ledger/export.html", context, status=status)
