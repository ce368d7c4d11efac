"""Pages show times in the reader's zone."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.models import User

SHOW_UTC = "show_utc"
"""Session key: this reader asked to see UTC for now."""


class TimeZone:
    """Activates the time zone of the person signed in, or UTC, for one request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with timezone.override(_zone_of(request)):
            return self.get_response(request)


def _zone_of(request: HttpRequest) -> ZoneInfo:
    name = "UTC"
    if isinstance(request.user, User) and not request.session.get(SHOW_UTC):
        name = request.user.time_zone
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):  # the database of zones shrank since it was chosen
        return ZoneInfo("UTC")
