"""Pages about many runs: the list, starting one, the workers."""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import conditional_page, require_http_methods, require_safe

from accounts.actors import Actor
from accounts.models import User
from audit import canonical
from runs import admission, errors, examples, fleet, queries, registry, standing, visible, web
from runs.forms import FilterForm, StartForm
from runs.models import Run
from runs.queries import Filters
from runs.registry import Declaration
from runs.status import STATES, State, Status

EVERY = 10
"""Seconds between two looks at a list that may change."""
CURSORS = ("after", "before", "upto")
ATTENTION = State(
    value="attention",
    label="need attention",
    tone="warn",
    icon="triangle",
    sentence="Stuck, stalled, parked, or with an effect in doubt.",
)


# --- the list -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A count that filters the list, or takes the filter away where it is on."""

    state: State
    label: str
    url: str
    on: bool


@conditional_page
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Runs, newest first, with everything that the address asks for."""
    user = web.reader(request)
    form = FilterForm(request.GET, user=user)
    filters = form.filters() if form.is_valid() else Filters()
    upto = _id(request, "upto")
    page = queries.page(
        filters, user=user, after=_id(request, "after"), before=_id(request, "before"), upto=upto
    )
    first = page.rows[0].run.pk if page.rows else None
    shown_from = upto or first
    context = {
        "form": form,
        "filtered": any(request.GET.get(name) for name in form.fields),
        "rows": page.rows,
        "chips": _chips(request.GET, user),
        "newer": _here(request.GET, before=page.newer) if page.newer else "",
        "older": _here(request.GET, after=page.older) if page.older else "",
        "fresh": queries.count_newer(filters, shown_from, user) if shown_from and upto else 0,
        "most_fresh": queries.MOST_NEW,
        "fresh_url": _here(request.GET),
        "live_url": request.path + _here(request.GET, ("after", "before"), upto=shown_from),
        "every": EVERY,
        "may_start": user.has_perm("runs.start_run"),
    }
    return web.answer(request, "runs/list.html", "listing", context)


def _chips(query: QueryDict, user: User) -> list[Chip]:
    counts = queries.counts(user)
    under_way = (
        (Status.WAITING, counts.waiting),
        (Status.RUNNING, counts.running),
        (Status.QUEUED, counts.queued),
    )
    return [
        _chip(query, ATTENTION, counts.attention, "attention", "1"),
        *(_chip(query, STATES[status], count, "status", status) for status, count in under_way),
        _chip(query, STATES[Status.FAILED], counts.failed, "status", Status.FAILED, since="24h"),
    ]


def _chip(  # noqa: PLR0913 (one row of the table of chips)
    query: QueryDict, state: State, count: int, field: str, value: str, since: str = ""
) -> Chip:
    on = query.get(field) == value and (not since or query.get("since") == since)
    changes = {field: None if on else value}
    if field == "status":
        changes["attention"] = None
    else:
        changes["status"] = None
    if since:
        changes["since"] = None if on else since
    word = state.label if state is ATTENTION else state.label.lower()
    label = f"{count} {word}{' in 24 h' if since else ''}"
    if state is ATTENTION and count == 1:
        label = "1 needs attention"
    if not count:
        state = replace(state, tone="neutral")
    return Chip(state=state, label=label, url=_here(query, **changes), on=on)


def _here(query: QueryDict, keep: tuple[str, ...] = (), /, **changes: object) -> str:
    """The address of the same list with these parameters; None takes one away."""
    made = query.copy()
    for name in CURSORS:
        if name not in keep:
            made.pop(name, None)
    for name, value in changes.items():
        made.pop(name, None)
        if value is not None:
            made[name] = str(value)
    return f"?{made.urlencode()}"


def _id(request: HttpRequest, name: str) -> UUID | None:
    try:
        return UUID(request.GET.get(name, ""))
    except ValueError:
        return None


# --- starting one ---------------------------------------------------------------------------------


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


# --- workers --------------------------------------------------------------------------------------


@conditional_page
@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    """Who drives, what waits for them, and what stands still."""
    user = web.reader(request)
    still = (
        visible.to(user)
        .select_related("lease", "started_by")
        .filter(standing.stuck() | standing.stalled())
    )
    context = {
        "crews": fleet.crews(),
        "held": fleet.held(user),
        "still": queries.rows(list(still.order_by("created_at")[: queries.PAGE]), user),
        "queue": fleet.queue(),
        "signs": [fleet.sweeper_sign(), fleet.sealer_sign()],
        "may_resume": user.has_perm("runs.force_resume_run"),
        "live_url": request.path,
        "every": EVERY,
    }
    return web.answer(request, "runs/workers.html", "fleet", context)
