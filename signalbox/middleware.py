"""Three rules for every request: its address can be looked up, somebody is signed in, and errors of
the domain become answers.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlencode, urlsplit

from django.contrib import messages
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _

from accounts import drafts
from signalbox import errors

SAFE = ("GET", "HEAD")
KEPT = _(
    "You had been signed out before this arrived, so nothing was done. Sign in: what you typed is"
    " kept for you."
)

Respond = Callable[[HttpRequest], HttpResponse]


class SignInEverywhere(LoginRequiredMiddleware):
    """Every view wants somebody signed in, unless it is marked login_not_required.

    Who is not goes to the sign-in page and comes back to the page they were on. A form is not
    lost on the way: what was typed is kept for who wrote it, or shown to be copied.
    """

    def handle_no_permission(  # type: ignore[override]  # the stubs allow redirects only
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        if errors.for_program(request):
            return errors.problem(401, "Sign in first.")
        kept = request.method not in SAFE and drafts.keep(request, view_func)
        back = request.path if kept else _page_of(request)
        sign_in = f"{resolve_url(self.get_login_url(view_func))}?{urlencode({'next': back})}"
        if kept:
            messages.info(request, KEPT)
        if request.headers.get("HX-Request") == "true":
            return errors.signed_out_in_part(request, sign_in)
        if kept:
            return HttpResponseRedirect(sign_in)
        if request.method not in SAFE:
            return errors.signed_out(request, sign_in)
        return super().handle_no_permission(request, view_func)


def _page_of(request: HttpRequest) -> str:
    """The page that the person was looking at when they sent this request."""
    if request.method in SAFE and "HX-Request" not in request.headers:
        return request.get_full_path()
    seen = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(seen, {request.get_host()}):
        return "/"
    parts = urlsplit(seen)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


class NoNul:
    """An address with a NUL names nothing: the database cannot even be asked for it."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            return errors.answer(request, 400, "The address contains a NUL character.")
        return self.get_response(request)


class DomainErrors:
    """An exception that carries `http_status` becomes that answer, with its message; and what an
    address does not take is refused in words."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and not response.content:
            return errors.method_not_allowed(request, response)
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return errors.from_exception(request, error)
