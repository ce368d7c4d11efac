"""Proving once more who one is, before something weighty: on the way there nothing is lost, and on
the way back nothing is done by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

KEPT = "kept_while_proving"
"""Session key: what was typed into forms, by the address of the form."""
MOST = 5
"""Forms that are kept for one person."""


def ask(request: HttpRequest, typed: Mapping[str, str]) -> HttpResponseRedirect:
    """To where the person proves who they are; then back to this address, by GET.

    `typed` is kept for `kept`. The form itself is not sent again: the person has to.
    """
    forms = {path: held for path, held in _all(request).items() if path != request.path}
    request.session[KEPT] = dict(list(forms.items())[1 - MOST :]) | {request.path: dict(typed)}
    ways = get_adapter().get_reauthentication_methods(request.user)
    way = ways[0]["url"] if ways else reverse("account_reauthenticate")
    return HttpResponseRedirect(f"{way}?{urlencode({'next': request.path})}")


def kept(request: HttpRequest) -> dict[str, str] | None:
    """What was typed at this address before the person was asked for proof; None if nothing was."""
    return _all(request).get(request.path)


def forget(request: HttpRequest) -> None:
    """The form at this address has done what it was for."""
    forms = _all(request)
    if forms.pop(request.path, None) is not None:
        request.session[KEPT] = forms


def _all(request: HttpRequest) -> dict[str, dict[str, str]]:
    forms: dict[str, dict[str, str]] = request.session.get(KEPT, {})
    return forms
