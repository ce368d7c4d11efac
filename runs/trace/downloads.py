"""Values of a run as files: masked like the pages, attached, never interpreted by a browser."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from runs import errors, queries, web
from runs.trace import showing, states
from runs.trace.showing import Shown

DEEPEST = 10_000
"""Levels of nesting that are read for a file."""


@never_cache
@require_safe
def checkpoint(request: HttpRequest, run_id: UUID, checkpoint_id: str) -> HttpResponse:
    """The values of one checkpoint, or what tasks wrote on it (`?of=written`); one field of either
    (`?field=`). Raises NoSuchCheckpoint.
    """
    user = web.reader(request)
    queries.one(run_id, user)
    saved = states.load(run_id, checkpoint_id, depth=DEEPEST)
    if saved is None:
        raise errors.NoSuchCheckpoint
    everything = web.reveals(request, run_id, f"file of checkpoint {checkpoint_id}")
    shown = showing.state(saved, showing.cloak(run_id, user, everything=everything))
    found = _asked(shown, request.GET.get("of", ""), request.GET.get("field"))
    return attached(showing.dump(found, indent=2), f"checkpoint-{saved.step}-{saved.id[:13]}.json")


def _asked(shown: Shown, of: str, name: str | None) -> object:
    fields = showing.by_task(shown.written) if of == "written" else shown.values
    if name is None:
        return fields
    if name not in fields:
        raise errors.NoSuchCheckpoint("This checkpoint has no such field. Open the checkpoint.")
    return fields[name]


def attached(text: str, name: str) -> HttpResponse:
    """A file that a browser saves, and never shows or runs."""
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response
