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

from accounts import known
from signalbox import sharing, stamps
from signalbox.stamps import Stamps

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
        poll, now = _key(request), stamps.now()
        stamp = now.of(request.path) if now else ""
        if now is None or not stamp:
            return self.get_response(request)
        known = caches["polls"].get(poll)
        if known == (request.headers.get("If-None-Match"), stamp):
            return HttpResponseNotModified(headers={"ETag": known[0]})
        response, stamp = sharing.find(request, poll, now) or self._made(request, poll, now, stamp)
        if response.status_code in (200, 304) and "ETag" in response:
            caches["polls"].set(poll, (response["ETag"], stamp), LONGEST)
        return response

    def _made(
        self, request: HttpRequest, poll: str, now: Stamps, stamp: str
    ) -> tuple[HttpResponse, str]:
        """The answer of the view, and the stamp that was read before anything on it was."""
        found = sharing.inquire(request, now)
        if found is None:
            return self.get_response(request), stamp
        person, inquiry = found
        with known.person(sharing.known(person)), inquiry.asks_once():
            response = self.get_response(request)
        sharing.keep(request, response, poll=poll, person=person, inquiry=inquiry)
        return response, inquiry.stamps.of(request.path)


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
