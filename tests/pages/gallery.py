"""Addresses with every component on one page, for the tests of the components in a browser."""

from __future__ import annotations

from itertools import count

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import engines
from django.urls import include, path

from accounts.errors import NotPermitted
from signalbox import errors
from signalbox.components import samples

numbers = count(1)
broken = False
"""While true, live regions get an error."""
finished = False
"""While true, live regions get their last answer."""

rows: list[str] = []
"""What live regions get, if it is not empty."""


def gallery(request: HttpRequest) -> HttpResponse:
    form = samples.Reason(request.POST) if request.method == "POST" else samples.Reason()
    places = {"here": "/gallery/", "tick": "/gallery/tick/", "every": 1}
    return render(request, "components/index.html", samples.context(form) | places)


def confirm(request: HttpRequest) -> HttpResponse:
    form = samples.Reason(request.POST or None)
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
