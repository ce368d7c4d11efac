"""Addresses with every component on one page, for the tests of the components in a browser."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import engines
from django.urls import include, path
from django.utils import timezone

import runs.status
from accounts.errors import NotPermitted
from signalbox import errors

numbers = count(1)
broken = False
"""While true, live regions get an error."""
finished = False
"""While true, live regions get their last answer."""

rows: list[str] = []
"""What live regions get, if it is not empty."""


class Reason(forms.Form):
    reason = forms.CharField(
        help_text="Kept in the audit log.", widget=forms.Textarea(attrs={"rows": 3})
    )
    typed = forms.CharField(label="Type c41e to confirm")
    sure = forms.BooleanField(label="I have read the facts above")


def gallery(request: HttpRequest) -> HttpResponse:
    now = timezone.now()
    context = {
        "states": [*runs.status.STATES.values(), *runs.status.OVERLAYS.values()],
        "form": Reason(request.POST or None) if request.method == "POST" else Reason(),
        "ago": now - timedelta(minutes=3),
        "ahead": now + timedelta(minutes=57),
        "hostile": "Pay \u202e00.021€\u202c to\u200b Ada" + " " * 60 + "and <b>Eve</b>",
        "value": {
            "order_id": "10382",
            "amount_minor": 12000,
            "note": "The item arrived damaged. " * 20,
            "lines": [{"sku": "A-1", "count": 2, "tags": ["fragile"]}],
        },
        "before": {"amount": 100, "reason": "The item arrived damaged", "todo": ["draft"]},
        "after": {"amount": 120, "reason": "The item arrived late", "currency": "EUR", "todo": []},
        "run_id": "019acf3e-7b20-7000-8000-00000000c41e",
    }
    return render(request, "gallery.html", context)


def confirm(request: HttpRequest) -> HttpResponse:
    form = Reason(request.POST or None)
    context = {
        "form": form,
        "verb": "Force resume",
        "keep_url": "/gallery/",
        "keep": "Keep waiting",
    }
    return render(request, "confirm.html", context, status=422 if form.errors else 200)


def tick(request: HttpRequest) -> HttpResponse:
    if broken:
        return HttpResponse(status=503)
    if rows:
        return HttpResponse("".join(rows))
    if finished:
        return HttpResponse('<p>Answer <b id="number">0</b>: the last</p>', status=286)
    template = engines["django"].from_string(
        '<p>Answer <b id="number">{{ number }}</b></p>'
        '<details id="fold"><summary>More</summary><p>Inside</p></details>'
        '<label for="live-field">Note</label> <input id="live-field">'
    )
    response = HttpResponse(template.render({"number": next(numbers)}))
    response["HX-Trigger"] = '{"announce": "1 new run"}'
    return response


def refused(request: HttpRequest) -> HttpResponse:
    raise NotPermitted("runs.start_run", label="start a run", groups=("operator",), who="Dee")


def status(request: HttpRequest, number: int) -> HttpResponse:
    return errors.answer(request, number)


urlpatterns = [
    path("gallery/", gallery),
    path("gallery/confirm/", confirm),
    path("gallery/tick/", tick),
    path("gallery/refused/", refused),
    path("gallery/<int:number>/", status),
    path("", include("signalbox.urls")),
]
handler404 = "signalbox.errors.page_not_found"
