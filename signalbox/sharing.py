"""Answers that are shared: fifty open lists of all runs do not have fifty answers worked out.

1. A view says what of the reader its answer depends on: their *sight* (`runs.visible.sight`). Two
   people with the same sight are told the same at the same address.
2. The answer to a poll is given to everybody with the same sight while the inquiry goes on in which
   it was made: see `signalbox.inquiries`. Pages as they are opened, and what belongs to one run,
   never come from here.
3. Before that, the database is asked whether the browser is still signed in and its person may what
   they might (sql/same_person.sql), of the very rows from which that was read. Whatever has changed
   there, or in what is asked of people, lets the view run. It is asked for all browsers that lately
   asked for lists at once, at most once in stamps.FRESH seconds.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from http import HTTPStatus

from django.conf import settings
from django.core.cache import caches
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified

from accounts.models import User
from runs import visible
from signalbox import inquiries, stamps
from signalbox.inquiries import Inquiry
from signalbox.stamps import Stamps

REMEMBERED = 300
"""Seconds for which it is known who sits at a browser, and with which sight."""
LATELY = 30.0
"""Seconds after which a browser that has not asked again is not looked up with others."""
MOST = 200
"""Browsers that are looked up together."""
NAMES = ("HX-Target", "Host", "Accept-Encoding")
"""Headers on which a shared answer depends besides the sight."""

_asking: dict[tuple[str, int], float] = {}
"""When each browser last asked for a list: session and person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An answer to a poll."""

    etag: str
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


def find(request: HttpRequest, poll: str, now: Stamps) -> tuple[HttpResponse, str] | None:
    """What somebody who sees the same was told in this inquiry, and the stamp of that.

    `poll`: the key of this one. `now`: the stamps as they are.
    """
    reader: Reader | None = caches["polls"].get(f"reader-{poll}")
    if reader is None:
        return None
    inquiry = inquiries.current(now)
    told: Told | None = caches["told"].get(_place(request, reader.sight, inquiry))
    if told is None or who(request, now, reader.person.id) != reader.person:
        return None
    stamp = inquiry.stamps.of(request.path)
    if request.headers.get("If-None-Match") == told.etag:
        return HttpResponseNotModified(headers={"ETag": told.etag}), stamp
    return (told.whole, stamp) if told.whole else None


def inquire(request: HttpRequest, now: Stamps) -> tuple[Person, Inquiry] | None:
    """Who sits at this browser, before their answer is made, and the inquiry in which it is.

    None if nobody shares answers there, or what they may has changed since the inquiry began.
    """
    user_id: int | None = caches["polls"].get(_browser(request))
    if request.path not in stamps.ALL_RUNS or user_id is None:
        return None
    person = who(request, now, user_id)
    found = inquiries.current(now)
    return (person, found) if person and found.knows(person.id, person.rows) else None


def who(request: HttpRequest, now: Stamps, user_id: int) -> Person | None:
    """This person as the database has them; None if they are not signed in here any more."""
    browser = (request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""), user_id)
    rows = _rows(browser)
    return Person(id=user_id, rows=rows, asked=now.asked) if rows else None


def _rows(browser: tuple[str, int]) -> str | None:
    _asking.pop(browser, None)  # so that the first is the one that has not asked for longest
    _asking[browser] = time.monotonic()
    known: dict[tuple[str, int], str] = caches["polls"].get("people") or {}
    if browser not in known:
        known = _people()
        caches["polls"].set("people", known, stamps.FRESH)
    return known.get(browser)


def _people() -> dict[tuple[str, int], str]:
    """Of the browsers that asked lately, those that are signed in. One query."""
    since = time.monotonic() - LATELY
    for other, asked in list(_asking.items()):
        if asked < since or len(_asking) > MOST:
            _asking.pop(other, None)
    asking = list(_asking)
    sessions, users = [session for session, _ in asking], [user for _, user in asking]
    rows = stamps.ask("same_person", sessions=sessions, users=users)
    return {(session, user): said for session, user, said in rows or ()}


def known(person: Person) -> User | None:
    """They themselves with what they may, if they were read while the database had the same."""
    rows, user = caches["inquiries"].get(f"who-{person.id}") or ("", None)
    return user if rows == person.rows else None


def meet(request: HttpRequest) -> str:
    """The sight with which an answer was made; empty if it is nobody else's.

    Who sits at the browser is remembered: only to know whom to look up.
    """
    sight: str = request.META.get(visible.SIGHT, "")
    if sight:
        caches["polls"].set(_browser(request), request.user.pk, REMEMBERED)
    return sight


def keep(
    request: HttpRequest, response: HttpResponse, *, poll: str, person: Person, inquiry: Inquiry
) -> None:
    """Let others have this answer. `person`: who was found to sit there before it was made."""
    sight = meet(request)
    if request.user.pk != person.id or response.cookies:
        return
    caches["inquiries"].set(f"who-{person.id}", (person.rows, request.user), REMEMBERED)
    if not sight:
        return
    whole = response if response.status_code == HTTPStatus.OK else None
    told = Told(etag=response["ETag"], whole=whole)
    caches["polls"].set(f"reader-{poll}", Reader(person=person, sight=sight), REMEMBERED)
    caches["told"].set(_place(request, sight, inquiry), told, inquiry.left)


def _browser(request: HttpRequest) -> str:
    return f"browser-{_hash(request.COOKIES.get(settings.SESSION_COOKIE_NAME, ''))}"


def _place(request: HttpRequest, sight: str, inquiry: Inquiry) -> str:
    said = (request.headers.get(name, "") for name in NAMES)
    return _hash(inquiry.name, sight, request.get_full_path(), *said)


def _hash(*said: str) -> str:
    return hashlib.sha256("\n".join(said).encode()).hexdigest()
