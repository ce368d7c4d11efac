"""The page of the palette, and the answers that its dialog asks for while somebody types."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.views import SignedIn
from signalbox.palette import finding


@never_cache
@require_safe
def go(request: SignedIn) -> HttpResponse:
    """Links for `q`. As a page, an id of a run leads to it at once."""
    found = finding.find(request.user, request.GET.get("q", ""))
    part = _part(request)
    if found.exactly and not part:
        return redirect(found.exactly)
    response = render(request, f"palette/go.html{part}", {"found": found})
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _part(request: HttpRequest) -> str:
    """Empty for the page; otherwise the dialog, or only the answers in it."""
    if request.headers.get("HX-Request") != "true":
        return ""
    return "#answers" if request.headers.get("HX-Target") == "go-answers" else "#dialog"
