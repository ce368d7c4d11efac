"""Requests with as much as it takes to know whom they call on, and where in a list they stand.

Hundreds may wait for one person, and each page counts them for its menu. PostgreSQL tells apart the
versions of a row, so what has not changed since this process last read it is not read again.
"""

from __future__ import annotations

import threading
from typing import NamedTuple
from uuid import UUID

from django.db.models import Func, QuerySet, TextField

from approvals.models import Request

MOST = 5_000
"""Requests that a process keeps."""
KEPT_FOR = 600.0
"""Seconds at most, also where nobody asks again: nothing erased stays in memory for longer."""
FIELDS = (
    *("shape", "payload", "digest", "schema", "policy", "joined", "node", "tool", "status"),
    *("group", "groups", "people", "title", "created_at", "deadline", "closed_at"),
    *("round", "policy_version"),
    *("run__agent", "run__started_by"),
)
_PLACES = ("approvals_request.xmin", "approvals_request.ctid", "runs_run.xmin", "runs_run.ctid")
_VERSION = Func(template=f"concat_ws(' ', {', '.join(_PLACES)})", output_field=TextField())
"""Of a request and its run: which transaction wrote them, and where. One that writes twice writes
to two places."""


class _Kept(NamedTuple):
    version: str
    request: Request


_kept: dict[UUID, _Kept] = {}
_end: threading.Timer | None = None
"""Of what is kept; there while something is."""
_lock = threading.Lock()
"""Over the two together. Who only looks something up needs none."""


def read(found: QuerySet[Request], part: slice) -> list[Request]:
    """Those of this part, in their order, each with its run: FIELDS of them. Two queries at most.

    They are shared by all pages, and not to be changed.
    """
    if len(_kept) > MOST:
        forget()
    there = found.annotate(version=_VERSION).values_list("pk", "version", "run__agent")[part]
    versions = {pk: version for pk, version, _ in there}
    known = {
        pk: kept.request
        for pk, version in versions.items()
        if (kept := _kept.get(pk)) and kept.version == version
    }
    if len(known) < len(versions):
        known |= _read(found.filter(pk__in=[pk for pk in versions if pk not in known]))
    return [known[pk] for pk in versions if pk in known]


def _read(found: QuerySet[Request]) -> dict[UUID, Request]:
    """Only what is still asked for: it may have changed since its version was looked at."""
    found = found.order_by().select_related("run").only(*FIELDS).annotate(version=_VERSION)
    fresh = {each.pk: _Kept(each.version, each) for each in found}
    _keep(fresh)
    return {pk: kept.request for pk, kept in fresh.items()}


def _keep(fresh: dict[UUID, _Kept]) -> None:
    global _end
    with _lock:
        _kept.update(fresh)
        if _end is None or not _end.is_alive():  # in a process that was forked it is not
            _end = threading.Timer(KEPT_FOR, forget)
            _end.daemon = True
            _end.start()


def forget() -> None:
    """Read all of them anew from now on."""
    global _end
    with _lock:
        _kept.clear()
        if _end is not None:
            _end.cancel()
            _end = None
