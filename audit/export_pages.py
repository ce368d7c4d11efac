"""Downloading what the audit list shows, and the keys by which others check it."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts import actors
from accounts.actors import Actor
from audit import exports, signing
from audit.errors import NoSigningKey
from audit.exports import entries
from audit.forms import FiltersForm

SEE = "audit.view_entry"


@require_POST
def export(request: HttpRequest) -> HttpResponseBase:
    """The entries that match the filters, all pages of them, as a signed file."""
    form = FiltersForm(request.POST)
    format_ = request.POST.get("format", "")
    if not form.is_valid() or format_ not in exports.FORMATS:
        return redirect("audit:list")
    made = entries.export(form.filters(), actor=Actor.of(request), format=format_)
    return download(made)


def download(made: exports.Export) -> FileResponse:
    """The answer that hands an export to a browser, piece by piece."""
    answer = FileResponse(
        made.file, as_attachment=True, filename=made.name, content_type="application/zip"
    )
    answer["Cache-Control"] = "no-store"
    return answer


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    """The public keys by which a stranger checks what was signed here."""
    actors.require(Actor.of(request), SEE)
    try:
        own = signing.own()
    except NoSigningKey:
        own = None
    others = [key for key in signing.known().values() if own is None or key.id != own.id]
    return render(request, "audit/keys.html", {"own": own, "others": others})
