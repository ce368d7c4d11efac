"""Pages are in the reader's language and show times in their zone, as they read them."""

from __future__ import annotations

from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header

from accounts import once, reading, speech
from accounts.models import Hours, Times, User

MACHINES = ("/api/", "/hooks/")
"""Beginnings of addresses at which programs ask: they are answered in English."""

SHOW_UTC = "show_utc"
"""Session key: this reader asked to see UTC for now."""


class Language:
    """Speaks the reader's language for one request: see `accounts.speech`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        language = language_of(request)
        with translation.override(language):
            response = self.get_response(request)
        response.headers.setdefault("Content-Language", language)
        patch_vary_headers(response, ["Accept-Language"])
        return response


def language_of(request: HttpRequest) -> str:
    """The reader's own choice, else what their browser asks for, else that of the instance."""
    if request.path.startswith(MACHINES):
        return speech.KEPT
    if isinstance(request.user, User) and request.user.language in speech.known():
        return request.user.language
    for code, _ in parse_accept_lang_header(request.headers.get("Accept-Language", "")):
        try:
            return translation.get_supported_language_variant(code)
        except LookupError:
            continue
    return settings.DEFAULT_LANGUAGE


class Once:
    """A page asks once for what many of its parts need: see `accounts.once`."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return self.get_response(request)
        with once.page():
            return self.get_response(request)


class TimeZone:
    """Activates zone and style of times of the person signed in, or UTC, for one request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with timezone.override(_zone_of(request)), reading.override(_style_of(request)):
            return self.get_response(request)


def _zone_of(request: HttpRequest) -> ZoneInfo:
    name = "UTC"
    if isinstance(request.user, User) and not request.session.get(SHOW_UTC):
        name = request.user.time_zone
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):  # the database of zones shrank since it was chosen
        return ZoneInfo("UTC")


def _style_of(request: HttpRequest) -> reading.Style:
    user = request.user
    if not isinstance(user, User):
        return reading.Style()
    return reading.Style(absolute=user.times == Times.ABSOLUTE, twelve=user.hours == Hours.TWELVE)
