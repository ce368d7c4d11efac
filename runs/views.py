"""Starting a run."""

from __future__ import annotations

import json
import secrets
from contextlib import suppress

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts.actors import Actor
from audit import canonical
from runs import admission, errors, examples, registry, web
from runs.forms import StartForm
from runs.models import Run
from runs.registry import Declaration


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Start a run. What was typed stays on the page when it cannot be used."""
    web.reader(request, "runs.start_run")
    agents = list(registry.declarations().values())
    agent = registry.declarations().get(request.GET.get("agent", "")) or next(iter(agents), None)
    if agent is None:
        return render(request, "runs/new.html", {"agents": []})
    if request.method != "POST":
        form = StartForm(initial={"given": _example(agent), "token": secrets.token_urlsafe(12)})
        return _new(request, form, agent)
    form = StartForm(request.POST)
    if not form.is_valid():
        return _new(request, form, agent, status=422)
    try:
        run = _start(request, form, agent)
    except errors.BadInput as refusal:
        form.add_error("given", str(refusal))
        return _new(request, form, agent, status=refusal.http_status)
    except errors.KeyReused as refusal:
        form.add_error("key", str(refusal))
        return _new(request, form, agent, status=refusal.http_status)
    return HttpResponseRedirect(reverse("runs:run", args=[run.pk]))


def _start(request: HttpRequest, form: StartForm, agent: Declaration) -> Run:
    sent = form.cleaned_data
    key = sent["key"]
    if not key and sent["token"]:
        with suppress(canonical.NotCanonical):  # then admission refuses it, and says why
            mark = canonical.fingerprint(sent["given"])[:16]
            key = f"{admission.OF_A_FORM}{sent['token']}:{mark}"
    return admission.start(agent.name, sent["given"], actor=Actor.of(request), key=key or None)


def _new(
    request: HttpRequest, form: StartForm, agent: Declaration, *, status: int = 200
) -> HttpResponse:
    context = {"form": form, "agent": agent, "agents": list(registry.declarations().values())}
    return render(request, "runs/new.html", context, status=status)


def _example(agent: Declaration) -> str:
    return json.dumps(examples.of(agent.input_schema), indent=2, ensure_ascii=False)
