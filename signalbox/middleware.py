"""Three rules for every request: its address can be looked up, somebody is signed in, and errors of
the domain become answers.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode, urlsplit

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect

from signalbox import errors

Respond = Callable[[HttpRequest], HttpResponse]


class SignInEverywhere(LoginRequiredMiddleware):
    """Every view wants somebody signed in, unless it is marked login_not_required.

    Who is not goes to the sign-in page and comes back to the page they were on. A form is not
    lost on the way: its answer shows what was typed.
    """

    def handle_no_permission(  # type: ignore[override]  # the stubs allow redirects only
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        if request.path.startswith(errors.API):
            return errors.problem(401, "Sign in first.")
        back = _page_of(request)
        sign_in = f"{resolve_url(self.get_login_url(view_func))}?{urlencode({'next': back})}"
        if request.headers.get("HX-Request") == "true":
            return HttpResponseClientRedirect(sign_in)
        if request.method not in ("GET", "HEAD"):
            return errors.signed_out(request, sign_in)
        return super().handle_no_permission(request, view_func)


def _page_of(request: HttpRequest) -> str:
    """The page that the person was looking at when they sent this request."""
    if request.method in ("GET", "HEAD") and "HX-Request" not in request.headers:
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
    """An exception that carries `http_status` becomes that answer, with its message."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return errors.from_exception(request, error)
