"""The pages of what a run did: input and state, its checkpoints as a list, and one of them."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import conditional_page, require_safe

from runs import chain, errors, queries, web
from runs.heading import page as heading
from runs.models import Run
from runs.status import Status
from runs.trace import listing, showing, states
from runs.trace.showing import Fitted, Shown
from runs.trace.states import State


@never_cache
@require_safe
def state(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """What the run was given, and what it has come to."""
    user = web.reader(request)
    top = heading.header(run_id, user, "state")
    everything = web.reveals(request, run_id, "input and state")
    hides = showing.cloak(run_id, user, everything=everything)
    tip = None if top.run.status == Status.SUCCEEDED else chain.tips([run_id]).get(run_id)
    saved = states.load(run_id, tip.id) if tip else None
    now = showing.state(saved, hides) if saved else None
    given, output = showing.masked(top.run.input, hides), showing.masked(top.run.output, hides)
    return heading.page(
        request,
        top,
        body="runs/trace/_state.html",
        export_url=reverse("runs:export", args=[run_id]) + ("?reveal=1" if everything else ""),
        given=given,
        output=output,
        saved=saved,
        fitted=fitted(run_id, now, everything=everything) if now else None,
        file=_file(run_id, now.state.id, everything) if now else "",
        hidden=given.hidden + (now.hidden if now else output.hidden),
        revealed=everything,
        may_reveal=user.has_perm(web.REVEAL),
    )


@conditional_page
@require_safe
def checkpoints(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The run's checkpoints, newest first; two that are picked are compared."""
    user = web.reader(request)
    top = heading.header(run_id, user, "checkpoints")
    asked = {name: request.GET.get(name, "") for name in ("from", "to")}
    if all(asked.values()):
        url = reverse("runs:checkpoint", args=[run_id, asked["to"]])
        return HttpResponseRedirect(showing.with_query(url, against=asked["from"]))
    page = listing.page(
        run_id, before=request.GET.get("before", ""), after=request.GET.get("after", "")
    )
    return heading.page(
        request,
        top,
        body="runs/trace/_checkpoints.html",
        page=page,
        newer=f"?after={page.newer}" if page.newer else "",
        older=f"?before={page.older}" if page.older else "",
        half_picked=any(asked.values()),
    )


@never_cache
@require_safe
def checkpoint(request: HttpRequest, run_id: UUID, checkpoint_id: str) -> HttpResponse:
    """One saved state, and what changed since the one before or any other."""
    user = web.reader(request)
    row = queries.one(run_id, user)
    saved = _existing(row.run, checkpoint_id)
    asked = request.GET.get("against", "")
    other = _other(row.run, saved, asked)
    everything = web.reveals(request, run_id, f"checkpoint {checkpoint_id}")
    hides = showing.cloak(run_id, user, everything=everything)
    shown = showing.state(saved, hides)
    context = {
        "run": row.run,
        "row": row,
        "saved": saved,
        "against": other,
        "is_parent": other is not None and other.id == saved.parent_id,
        "values": shown.values,
        "before": showing.state(other, hides).values if other else {},
        "fitted": fitted(run_id, shown, everything=everything),
        "written": written(run_id, shown, everything=everything),
        "file": _file(run_id, saved.id, everything),
        "near": listing.near(run_id, saved.id, saved.ns),
        "hidden": shown.hidden,
        "revealed": everything,
        "may_reveal": user.has_perm(web.REVEAL),
        "reveal_url": showing.with_query("?reveal=1", against=asked) if asked else "",
        "hide_url": showing.with_query("", against=asked) if asked else "",
    }
    return render(request, "runs/trace/checkpoint.html", context)


def _existing(run: Run, checkpoint_id: str) -> State:
    """Raises NoSuchCheckpoint."""
    saved = states.load(run.pk, checkpoint_id)
    if saved is None:
        raise errors.NoSuchCheckpoint
    return saved


def _other(run: Run, saved: State, asked: str) -> State | None:
    """What to compare with: what is asked for, else the one before; None: there is none."""
    if asked:
        return _existing(run, asked)
    return states.load(run.pk, saved.parent_id) if saved.parent_id else None


def fitted(run_id: UUID, shown: Shown, *, everything: bool) -> Fitted:
    """Its values as a page shows them."""
    return showing.fit(shown.values, _file(run_id, shown.state.id, everything))


def written(run_id: UUID, shown: Shown, *, everything: bool) -> Fitted | None:
    """What tasks have written on it, as a page shows that; None: nothing."""
    if not shown.written:
        return None
    file = showing.with_query(_file(run_id, shown.state.id, everything), of="written")
    return showing.fit(showing.by_task(shown.written), file)


def _file(run_id: UUID, checkpoint_id: str, everything: bool) -> str:
    url = reverse("runs:checkpoint_file", args=[run_id, checkpoint_id])
    return showing.with_query(url, reveal="1") if everything else url
