"""What views share: who reads, pages and their fragments, addresses, looking behind masks."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.dateparse import parse_datetime

from accounts import actors
from accounts import errors as people
from accounts.actors import Actor
from accounts.models import User
from audit import trail

SAFE = ("GET", "HEAD")
SEE = "runs.view_run"
REVEAL = "runs.view_payload"
_AGES = re.compile(rb"(?<= data-relative>)[^<]*")


def reader(request: HttpRequest, permission: str = SEE) -> User:
    """The person as the database has them now, for all of the page. Raises NotPermitted.

    A page that is read has read them already, to know who is signed in.
    """
    known = request.user
    if request.method in SAFE and isinstance(known, User) and known.has_perm(permission):
        return known
    user = actors.require(Actor.of(request), permission)
    if user is None:
        raise AssertionError("a request of the web is always a person's")
    request.user = user
    return user


def answer(request: HttpRequest, page: str, part: str, context: dict[str, object]) -> HttpResponse:
    """The page, or its part called `part` where that is what is asked for."""
    fragment = request.headers.get("HX-Request") == "true"
    response = render(
        request, f"{page}#{part}" if fragment else page, context | {"fragment": fragment}
    )
    if fragment:
        # Relative times go on in the browser: that a minute has passed is no news.
        told = _AGES.sub(b"", response.content)
        response.headers["ETag"] = f'W/"{hashlib.md5(told, usedforsecurity=False).hexdigest()}"'
    patch_vary_headers(response, ["HX-Request"])
    return response


def moment(text: str) -> datetime | None:
    """The moment that stands in an address, in UTC; None if it is none, or one without a zone."""
    try:
        found: datetime | None = parse_datetime(text)
        return found.astimezone(UTC) if found and found.tzinfo else None
    except (ValueError, OverflowError):
        return None


def reveals(request: HttpRequest, run_id: UUID, what: str) -> bool:
    """Whether hidden values are asked for and may be shown; either way it is recorded.

    Raises NotPermitted.
    """
    if request.GET.get("reveal") != "1":
        return False
    actor, target = Actor.of(request), ("run", str(run_id))
    try:
        actors.require(actor, REVEAL)
    except people.NotPermitted as refusal:
        trail.record_refused(
            "payload.view_refused",
            actor=actor,
            target=target,
            run_id=run_id,
            reason=str(refusal),
            data={"what": what},
        )
        raise
    trail.record("payload.viewed", actor=actor, target=target, run_id=run_id, data={"what": what})
    return True
