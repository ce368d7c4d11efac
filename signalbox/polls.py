"""Polls of open pages: fifty dashboards on which nothing happens ask the database next to nothing.

1. The answer to a poll is remembered by its ETag, together with a stamp of the database that was
   read before the answer was made. While the stamp stays, the same browser that asks again with
   that ETag gets 304, and no view runs. Nothing is ever shown from here: a 304 has no content.
2. The stamp is one statement (sql/stamp.sql), read at most once a second in a process. Tables that
   beat by themselves are not in it: pages of a run ask for its lease besides, lists of runs for the
   newest beat of all leases, and pages that show every worker are never answered from here.
3. PostgreSQL counts written rows up to ten seconds late; the newest audit entry counts at once.
   After LONGEST an answer is made anew in any case.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.core.cache import caches
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified

from runs import dispatch, signs, statements, workers
from runs.models import Lease

LONGEST = 300
"""Seconds for which an answer may stand for a new one."""
FRESH = 1
"""Seconds for which a stamp is not read again."""
BEATING = (
    *("runs_lease", "runs_worker", "runs_pulse", "ledger_toolbox", "ledger_pace"),
    *("django_session", "usersessions_usersession", "signalbox_cache"),
)
SHOWS_BEATS = ("/workers/", "/runs/operations/")
"""Pages on which leases are renewed and workers are seen."""
OF_RUNS = ("/", "/runs/")
"""Lists that say when leases end, what their holders do, and that no step has moved."""
OF_RUN = re.compile(r"^/runs/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/")
NAMES = ("Cookie", "Accept-Language", "HX-Target", "Host")
"""Headers that an answer may depend on."""

Respond = Callable[[HttpRequest], HttpResponse]


class Unchanged:
    """Answers 304 to polls of pages on which nothing can have changed."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not _is_poll(request):
            return self.get_response(request)
        key, now = _key(request), stamp(request.path)
        known = caches["polls"].get(key)
        if now and known == (request.headers.get("If-None-Match"), now):
            return HttpResponseNotModified(headers={"ETag": known[0]})
        response = self.get_response(request)
        if now and response.status_code in (200, 304) and "ETag" in response:
            caches["polls"].set(key, (response["ETag"], now), LONGEST)
        return response


def stamp(path: str) -> str:
    """Changes when the page there may have; empty if the database does not say."""
    known: tuple[str, str] | None = caches["polls"].get("stamp")
    if known is None:
        known = _read()
        caches["polls"].set("stamp", known, FRESH)
    changes, beats = known
    if not changes:
        return ""
    if path in OF_RUNS:
        return f"{changes} {beats}"
    of_run = OF_RUN.match(path)
    return f"{changes} {_beat(UUID(of_run[1]))}" if of_run else changes


def _beat(run_id: UUID) -> object:
    """Changes with every beat of the one who drives this run."""
    held = Lease.objects.filter(pk=run_id)
    return held.values_list("fence", "expires_at", "renewed_at", "progress_at").first()


def _read() -> tuple[str, str]:
    """What changes with every change, and with every beat of a lease; empty texts if the database
    does not say."""
    params: dict[str, Any] = {
        "beating": list(BEATING),
        "alive_for": workers.alive_for(),
        "late_after": signs.LATE,
    }
    try:
        with connection.cursor() as cursor:
            cursor.execute(statements.read("signalbox", "stamp"), params)
            changes, beats = cursor.fetchone()
    except DatabaseError:
        return "", ""
    return f"{changes}.{dispatch.reachable()}", str(beats)


def _is_poll(request: HttpRequest) -> bool:
    return (
        request.method == "GET"
        and request.headers.get("HX-Request") == "true"
        and "Cookie" in request.headers
        and not request.path.startswith(SHOWS_BEATS)
    )


def _key(request: HttpRequest) -> str:
    said = [request.get_full_path(), *(request.headers.get(name, "") for name in NAMES)]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()
