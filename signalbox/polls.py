"""Polls of open pages: fifty dashboards ask the database next to nothing.

1. The answer to a poll is remembered by its ETag, together with a stamp of what the page is about
   (see `signalbox.stamps`) that was read before the answer was made. While the stamp stays, the
   same browser that asks again with that ETag gets 304, and no view runs.
2. Where something has changed, lists of all runs get an answer that was made a moment ago for
   somebody who sees the same: see `signalbox.sharing`. Nothing else is ever shown from here.
3. Pages that show every worker are never answered from here.
4. After LONGEST an answer is made anew in any case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified

from signalbox import sharing, stamps

LONGEST = 300
"""Seconds for which an answer may stand for a new one."""
SHOWS_BEATS = ("/workers/", "/runs/operations/")
"""Pages on which leases are renewed and workers are seen."""
NAMES = ("Cookie", "Accept-Language", "HX-Target", "Host")
"""Headers that an answer may depend on."""

Respond = Callable[[HttpRequest], HttpResponse]


class Unchanged:
    """Answers polls without a view where the answer is known."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not _is_poll(request):
            response = self.get_response(request)
            sharing.meet(request)
            return response
        poll, now = _key(request), stamps.of(request.path)
        known = caches["polls"].get(poll)
        if now and known == (request.headers.get("If-None-Match"), now):
            return HttpResponseNotModified(headers={"ETag": known[0]})
        told = sharing.find(request, poll) if now else None
        if told is not None:
            response, now = told
        else:
            person = sharing.look(request) if now else None
            response = self.get_response(request)
            sharing.keep(request, response, poll=poll, stamp=now, person=person)
        if now and response.status_code in (200, 304) and "ETag" in response:
            caches["polls"].set(poll, (response["ETag"], now), LONGEST)
        return response


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
