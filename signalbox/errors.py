"""Answers to what went wrong: a page that says what to do, or a problem document for programs."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from accounts import groups
from accounts.errors import NotPermitted
from approvals import forged

PAGES = (400, 403, 404, 409, 422, 429, 500)
"""Statuses that have a page of their own."""
TYPED = ("comment", "reason")
"""Fields of forms whose text must not be lost when a form cannot be taken."""
API = "/api/"


def answer(request: HttpRequest, status: int, message: str = "", **facts: Any) -> HttpResponse:
    """The error as this client understands it: problem document, fragment for htmx, or page."""
    if request.path.startswith(API):
        return problem(status, message, **facts)
    context = {"status": status, "message": message, **facts}
    if request.headers.get("HX-Request") == "true":
        response = render(request, "errors/_fragment.html", context, status=status)
    else:
        name = status if status in PAGES else "error"
        response = render(request, f"errors/{name}.html", context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def problem(status: int, message: str = "", **facts: Any) -> JsonResponse:
    """RFC 9457: one JSON object about what went wrong."""
    title = HTTPStatus(status).phrase
    document = {"type": "about:blank", "title": title, "status": status}
    if message:
        document["detail"] = message
    return JsonResponse(document | facts, status=status, content_type="application/problem+json")


def from_exception(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """The answer to an error that says its own `http_status`; None for any other."""
    status = getattr(error, "http_status", None)
    if not isinstance(status, int):
        return None
    return answer(request, status, str(error), **_facts(request, error))


def _facts(request: HttpRequest, error: Exception) -> dict[str, Any]:
    if not isinstance(error, NotPermitted):
        return {}
    facts: dict[str, Any] = {"permission": error.permission}
    if not request.path.startswith(API):
        facts |= {"label": error.label, "groups": error.groups, "granters": groups.granters()}
    return facts


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, 403, str(exception))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, 404)


def too_many_requests(request: HttpRequest) -> HttpResponse:
    return answer(request, 429)


def server_error(request: HttpRequest) -> HttpResponse:
    """Made without the request's context, because the database may be what is broken."""
    if request.path.startswith(API):
        return problem(500)
    page = render_to_string("errors/500.html", {"status": 500, "server_now": timezone.now()})
    return HttpResponse(page, status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form from an older session. What the person typed is shown, to be copied."""
    forged.keep(request)
    return answer(request, 403, reason, session_changed=True, typed=typed(request))


def signed_out(request: HttpRequest, sign_in: str) -> HttpResponse:
    """A form sent after the session ended. What the person typed is shown, to be copied."""
    return answer(request, 403, sign_in=sign_in, typed=typed(request))


def typed(request: HttpRequest) -> list[tuple[str, str]]:
    """(field, text) of the longer texts in a form that could not be taken."""
    return [(name, request.POST[name]) for name in TYPED if request.POST.get(name)]
