"""The component page. Staff only: to others it does not exist."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.views import SignedIn
from signalbox.components import samples

EVERY = 5


@require_http_methods(["GET", "HEAD", "POST"])
def index(request: SignedIn) -> HttpResponse:
    """Every component. What its form gets is checked, shown with its errors, and forgotten."""
    _staff(request)
    form = samples.Reason(request.POST) if request.method == "POST" else samples.Reason()
    places = {"here": request.path, "tick": reverse("components_tick"), "every": EVERY}
    context = samples.context(form) | places
    return render(request, "components/index.html", context, status=422 if form.errors else 200)


@require_safe
def tick(request: SignedIn) -> HttpResponse:
    """What the live region of the page asks for."""
    _staff(request)
    return render(request, "components/_tick.html", {"now": timezone.now()})


def _staff(request: SignedIn) -> None:
    if not request.user.is_staff:
        raise Http404
