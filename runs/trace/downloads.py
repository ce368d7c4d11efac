"""Values of a run as files: masked like the pages, attached, never interpreted by a browser."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TypeVar
from uuid import UUID

from django.db import connection, transaction
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.actors import Actor
from audit import trail
from runs import errors, queries, web
from runs.trace import export, showing, states, writing
from runs.trace.showing import Shown

IN_MEMORY = 4 * 1024 * 1024
"""Bytes of a file above which it is kept on disk until it is sent."""
DEEPEST = 10_000
"""Levels of nesting that are read for a file."""


Response = TypeVar("Response", bound=HttpResponseBase)


@never_cache
@require_safe
def run(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """Everything about the run, hidden values hidden unless asked for and allowed.

    It is read as of one moment, and written whole before any of it is sent: half a file would pass
    for a whole one.
    """
    user = web.reader(request)
    queries.one(run_id, user)
    everything = web.reveals(request, run_id, "export")
    spool: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # given on
    with _one_moment() as snapshot:
        found = queries.one(run_id, user).run
        hides = showing.cloak(run_id, user, everything=everything)
        sections = list(export.sections(found, user, hides, snapshot=snapshot))
        head = export.head(found, user, hides, export.left_out(sections, user))
        for piece in writing.document(head, sections):
            spool.write(piece.encode())
    trail.record(
        "run.exported",
        actor=Actor.of(request),
        target=("run", str(run_id)),
        run_id=run_id,
        data={"format": export.FORMAT, "bytes": spool.tell(), "masked": hides is not None},
    )
    spool.seek(0)
    name = f"run-{run_id}.json"
    kind = "application/json; charset=utf-8"
    return _never_run(FileResponse(spool, as_attachment=True, filename=name, content_type=kind))


@contextmanager
def _one_moment() -> Iterator[str]:
    """All that is read within is as it was at one moment; nothing can be written. Yields the
    snapshot, by which other connections see the same.

    In a transaction that is open already, what is read is up to that one, and there is none.
    """
    if connection.in_atomic_block:
        yield ""
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            cursor.execute("SELECT pg_export_snapshot()")
            (snapshot,) = cursor.fetchone()
        yield snapshot


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
    return attached(writing.dump(found), f"checkpoint-{saved.step}-{saved.id[:13]}.json")


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
    return _never_run(response)


def _never_run(response: Response) -> Response:
    response["X-Content-Type-Options"] = "nosniff"
    return response
