"""Answers to what went wrong, in the form that the client understands.

1. A person gets a page that says what to do next; a part of a page gets a notice.
2. A program gets a problem document (RFC 9457): below /api/, or where its Accept header prefers
   JSON to HTML.
3. What somebody typed into a form that could not be taken is in the answer, to be copied.
4. What broke on our side has a reference, and the server's log names it beside the traceback.
"""

from __future__ import annotations

import re
import sys
from http import HTTPStatus
from typing import Any
from uuid import uuid4

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from accounts import groups, speech
from accounts.errors import NotPermitted
from approvals import forged
from signalbox import outages

PAGES = (400, 403, 404, 405, 409, 422, 429, 500)
"""Statuses that have a page of their own."""
TYPED = ("comment", "reason")
"""Fields of forms whose text must not be lost when a form cannot be taken."""
API = "/api/"
PROGRAMS = ("application/problem+json", "application/json")
"""What a client accepts that is no browser."""
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def answer(request: HttpRequest, status: int, message: str = "", **facts: Any) -> HttpResponse:
    """The error as this client understands it: problem document, fragment for htmx, or page."""
    if for_program(request):
        return problem(status, message, **facts)
    named = _UUID.search(request.path)
    context = {"status": status, "message": message, "named": named and named[0], **facts}
    if request.headers.get("HX-Request") == "true":
        response = render(request, "errors/_fragment.html", context, status=status)
    else:
        name = status if status in PAGES else "error"
        response = render(request, f"errors/{name}.html", context, status=status)
    patch_vary_headers(response, ["HX-Request", "Accept"])
    return response


def for_program(request: HttpRequest) -> bool:
    """Whether a problem document is wanted. Who accepts anything gets a page."""
    if request.path.startswith(API):
        return True
    return request.get_preferred_type(["text/html", *PROGRAMS]) in PROGRAMS


def problem(status: int, message: str = "", **facts: Any) -> JsonResponse:
    """RFC 9457: one JSON object about what went wrong."""
    title = HTTPStatus(status).phrase
    document = {"type": "about:blank", "title": title, "status": status}
    if message:
        document["detail"] = message
    response = JsonResponse(
        document | facts, status=status, content_type="application/problem+json"
    )
    patch_vary_headers(response, ["HX-Request", "Accept"])
    return response


def from_exception(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """The answer to an error that says its own `http_status`; None for any other."""
    status = getattr(error, "http_status", None)
    if not isinstance(status, int):
        return None
    said = str(error) if request.path.startswith(API) else speech.shown(error)
    return answer(request, status, said, **_facts(request, error))


def _facts(request: HttpRequest, error: Exception) -> dict[str, Any]:
    if not isinstance(error, NotPermitted):
        return {}
    facts: dict[str, Any] = {"permission": error.permission}
    if not for_program(request):
        facts |= {"label": error.label, "groups": error.groups, "granters": groups.granters()}
    return facts


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, 403, str(exception))


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return answer(request, 404)


def method_not_allowed(request: HttpRequest, refused: HttpResponse) -> HttpResponse:
    """In place of Django's empty answer, with the methods that the address takes."""
    response = answer(request, 405)
    response["Allow"] = refused["Allow"]
    return response


def too_many_requests(request: HttpRequest) -> HttpResponse:
    return answer(request, 429)


def server_error(request: HttpRequest) -> HttpResponse:
    """Made without the request's context, because the database may be what is broken."""
    if outages.database_away(sys.exc_info()[1]):  # Django asks for this answer while it handles it
        return _database_away(request)
    reference = uuid4().hex[:10]
    context = {"status": 500, "reference": reference, "server_now": timezone.now()}
    if for_program(request):
        response: HttpResponse = problem(500, reference=reference)
    elif request.headers.get("HX-Request") == "true":
        response = HttpResponse(render_to_string("errors/_broken.html", context), status=500)
    else:
        response = HttpResponse(render_to_string("errors/500.html", context), status=500)
    # Django logs the error under this phrase: so the reference leads to its traceback.
    response.reason_phrase = f"Internal Server Error, reference {reference}"
    return response


def _database_away(request: HttpRequest) -> HttpResponse:
    """Made without a query."""
    message = _("The database cannot be reached. Nothing was changed. Try again in a moment.")
    context = {"status": 503, "message": message, "server_now": timezone.now()}
    response: HttpResponse
    if for_program(request):
        response = problem(503, message)
    else:
        fragment = request.headers.get("HX-Request") == "true"
        name = "errors/_fragment.html" if fragment else "errors/503.html"
        response = HttpResponse(render_to_string(name, context), status=503)
    response["Retry-After"] = str(outages.AGAIN)
    response["Cache-Control"] = "no-store"
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form from an older session. What the person typed is shown, to be copied."""
    forged.keep(request)
    return answer(request, 403, reason, session_changed=True, typed=typed(request))


def signed_out(request: HttpRequest, sign_in: str) -> HttpResponse:
    """A form sent after the session ended. What the person typed is shown, to be copied."""
    return answer(request, 403, sign_in=sign_in, typed=typed(request))


def signed_out_in_part(request: HttpRequest, sign_in: str) -> HttpResponse:
    """A part of a page asked for after the session ended: htmx moves the whole page to sign-in."""
    response = answer(request, 401)
    response["HX-Redirect"] = sign_in
    return response


def typed(request: HttpRequest) -> list[tuple[str, str]]:
    """(field, text) of the longer texts in a form that could not be taken."""
    return [(name, request.POST[name]) for name in TYPED if request.POST.get(name)]
