"""The pages of one run: its tabs, a checkpoint, the export."""

from __future__ import annotations

import json
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import conditional_page, require_safe

from accounts.models import User
from audit import queries as log
from audit.models import Entry
from audit.verbs import VERBS, Verb
from runs import chain, errors, masking, ports, queries, web
from runs.heading.page import header
from runs.heading.page import page as _page
from runs.masking import Cloak
from runs.queries import Row
from runs.status import Status

MOST_ENTRIES = 200
SEE_ALL_ENTRIES = "audit.view_entry"


@conditional_page
@require_safe
def tab(request: HttpRequest, run_id: UUID, slug: str) -> HttpResponse:
    """What a layer above knows about this run."""
    user = web.reader(request)
    story = next((story for story in ports.stories() if story.tab.slug == slug), None)
    if story is None:
        raise Http404
    user = web.reader(request, story.tab.permission)
    top = header(run_id, user, slug)
    return _page(
        request,
        top,
        body="runs/_items.html",
        live=not top.run.ended,
        tab=story.tab,
        items=story.items(run_id, user),
    )


@never_cache
@require_safe
def state(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """What the run was given, and what it has come to."""
    user = web.reader(request)
    top = header(run_id, user, "state")
    show_all = web.reveals(request, run_id, "input and state")
    tip = None if top.run.status == Status.SUCCEEDED else chain.tips([run_id]).get(run_id)
    saved = chain.load(run_id, tip.id) if tip else None
    cloak = _cloak(run_id, user, show_all)
    given = _shown(top.run.input, cloak)
    result = _shown(saved.values if saved else top.run.output, cloak)
    return _page(
        request,
        top,
        body="runs/_state.html",
        export_url=reverse("runs:export", args=[run_id]) + ("?reveal=1" if show_all else ""),
        given=given,
        result=result,
        saved=saved,
        hidden=given.hidden + result.hidden,
        revealed=show_all,
        may_reveal=user.has_perm(web.REVEAL),
    )


@conditional_page
@require_safe
def audit(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The audit log about this run; readers without the permission see what they did themselves."""
    user = web.reader(request)
    top = header(run_id, user, "audit")
    entries = log.for_run(run_id).order_by("-id")
    own_only = not user.has_perm(SEE_ALL_ENTRIES)
    if own_only:
        entries = entries.filter(actor_kind="user", actor_id=str(user.pk))
    return _page(
        request,
        top,
        body="runs/_audit.html",
        entries=[_Logged(entry=entry, verb=_verb(entry)) for entry in entries[:MOST_ENTRIES]],
        own_only=own_only,
        most=MOST_ENTRIES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Logged:
    """An entry with the words for its verb."""

    entry: Entry
    verb: Verb


def _verb(entry: Entry) -> Verb:
    unknown = Verb(label=entry.verb, sentence="", tone="neutral", icon="help")
    return VERBS.get(entry.verb, unknown)


def _shown(value: object, cloak: Cloak | None) -> masking.Masked:
    return masking.Masked(value=value, hidden=0) if cloak is None else masking.mask(value, cloak)


def _cloak(run_id: UUID, user: User, show_all: bool) -> Cloak | None:
    """What this person does not see in the run; None: they asked to see all of it, and may."""
    return None if show_all else ports.cloak(run_id, user)


# --- one checkpoint -------------------------------------------------------------------------------


@never_cache
@require_safe
def checkpoint(request: HttpRequest, run_id: UUID, checkpoint_id: str) -> HttpResponse:
    """One saved state, and what changed since the one before."""
    user = web.reader(request)
    row = queries.one(run_id, user)
    saved = chain.load(run_id, checkpoint_id)
    if saved is None:
        raise errors.NoSuchRun("This run has no such checkpoint. Open the run's timeline.")
    show_all = web.reveals(request, run_id, f"checkpoint {checkpoint_id}")
    parent = chain.load(run_id, saved.parent_id) if saved.parent_id else None
    cloak = _cloak(run_id, user, show_all)
    values = _shown(saved.values, cloak)
    before = _shown(parent.values if parent else {}, cloak)
    pending = _shown(saved.pending, cloak)
    context = {
        "run": row.run,
        "row": row,
        "saved": saved,
        "parent": parent,
        "values": values.value,
        "before": before.value,
        "pending": pending.value,
        "size": len(json.dumps(values.value)),
        "hidden": values.hidden + pending.hidden,
        "revealed": show_all,
        "may_reveal": user.has_perm(web.REVEAL),
    }
    return render(request, "runs/checkpoint.html", context)


# --- export ---------------------------------------------------------------------------------------


@never_cache
@require_safe
def export(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The run as one JSON document, hidden values hidden unless asked for and allowed."""
    user = web.reader(request)
    row = queries.one(run_id, user)
    show_all = web.reveals(request, run_id, "export")
    text = json.dumps(_document(row, _cloak(run_id, user, show_all)), indent=2, ensure_ascii=False)
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run_id}.json"'
    return response


def _document(row: Row, cloak: Cloak | None) -> dict[str, object]:
    run = row.run
    return {
        "id": str(run.pk),
        "agent": run.agent,
        "version": run.agent_version,
        "title": run.title,
        "status": run.status,
        "park_reason": run.park_reason or None,
        "started_by": run.starter,
        "created_at": run.created_at.isoformat(),
        "ended_at": run.ended_at and run.ended_at.isoformat(),
        "idempotency_key": run.idempotency_key,
        "input": _shown(run.input, cloak).value,
        "output": _shown(run.output, cloak).value,
        "error": f"{run.error_class}: {run.error}" if run.error_class else None,
        "attempts": [
            {
                "fence": attempt.fence,
                "holder": attempt.holder,
                "cause": attempt.cause,
                "outcome": attempt.outcome,
                "error": f"{attempt.error_class}: {attempt.error}" if attempt.error_class else None,
                "started_at": attempt.started_at.isoformat(),
                "ended_at": attempt.ended_at and attempt.ended_at.isoformat(),
            }
            for attempt in run.attempts.order_by("fence")
        ],
        "interventions": [
            {"kind": done.kind, "by": done.label, "reason": done.reason, "at": done.at.isoformat()}
            for done in run.interventions.order_by("at")
        ],
    }
