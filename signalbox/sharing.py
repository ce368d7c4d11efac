"""Answers that are shared: fifty open lists of all runs do not have fifty answers worked out.

1. A view says what of the reader its answer depends on: their *sight* (`runs.visible.sight`). Two
   people with the same sight are told the same at the same address.
2. The answer to a poll is given to everybody with the same sight for SECONDS. Pages as they are
   opened, and what belongs to one run, never come from here.
3. Before that, the database is asked whether the browser is still signed in and its person may what
   they might (sql/same_person.sql): one query, of the very rows from which that was read. Whatever
   has changed there, or in what is asked of people, lets the view run.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from http import HTTPStatus

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified

from runs import visible
from signalbox import stamps

SECONDS = 5
"""For which an answer is given to others. Less than any page waits between two polls, so that what
it shows never goes back."""
REMEMBERED = 300
"""Seconds for which it is known who sits at a browser, and with which sight."""
NAMES = ("HX-Target", "Host", "Accept-Encoding")
"""Headers on which a shared answer depends besides the sight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer to a poll, and the stamp that was read before it was made."""

    etag: str
    stamp: str
    whole: HttpResponse | None
    """None: it was that nothing has changed since this ETag."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who sits at a browser, as the database had them before an answer was made."""

    id: int
    rows: str
    asked: str
    """The stamp of what is asked of people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A person who was given an answer, and the sight with which it was made."""

    person: Person
    sight: str


def find(request: HttpRequest, poll: str) -> tuple[HttpResponse, str] | None:
    """What somebody who sees the same was told less than SECONDS ago, and the stamp of that.

    `poll`: the key of this one. One query, where there is something to share.
    """
    reader: Reader | None = caches["polls"].get(f"reader-{poll}")
    told: Told | None = caches["told"].get(_place(request, reader.sight)) if reader else None
    if reader is None or told is None or look(request, reader.person.id) != reader.person:
        return None
    if request.headers.get("If-None-Match") == told.etag:
        return HttpResponseNotModified(headers={"ETag": told.etag}), told.stamp
    return (told.whole, told.stamp) if told.whole else None


def look(request: HttpRequest, user_id: int | None = None) -> Person | None:
    """Who sits at this browser as the database has them now, before their answer is made.

    None if nobody shares answers there, or they are not signed in any more. One query.
    """
    user_id = user_id or caches["polls"].get(_browser(request))
    if request.path not in stamps.ALL_RUNS or user_id is None:
        return None
    session = request.COOKIES.get(settings.SESSION_COOKIE_NAME, "")
    row = stamps.ask("same_person", session=session, user=user_id)
    return Person(id=user_id, rows=row[0], asked=stamps.of(stamps.ASKED[0])) if row else None


def meet(request: HttpRequest) -> str:
    """The sight with which an answer was made; empty if it is nobody else's.

    Who sits at the browser is remembered: only to know whom to look up.
    """
    sight: str = request.META.get(visible.SIGHT, "")
    if sight:
        caches["polls"].set(_browser(request), request.user.pk, REMEMBERED)
    return sight


def keep(
    request: HttpRequest, response: HttpResponse, *, poll: str, stamp: str, person: Person | None
) -> None:
    """Let others have this answer. `person`: who was found to sit there before it was made."""
    sight = meet(request)
    if not sight or person is None or request.user.pk != person.id or response.cookies:
        return
    whole = response if response.status_code == HTTPStatus.OK else None
    told = Told(etag=response["ETag"], stamp=stamp, whole=whole)
    caches["polls"].set(f"reader-{poll}", Reader(person=person, sight=sight), REMEMBERED)
    caches["told"].set(_place(request, sight), told, SECONDS)


def _browser(request: HttpRequest) -> str:
    return f"browser-{_hash(request.COOKIES.get(settings.SESSION_COOKIE_NAME, ''))}"


def _place(request: HttpRequest, sight: str) -> str:
    said = (request.headers.get(name, "") for name in NAMES)
    return _hash(sight, request.get_full_path(), *said)


def _hash(*said: str) -> str:
    return hashlib.sha256("\n".join(said).encode()).hexdigest()
