"""Proving once more who one is, before something weighty: on the way there nothing is lost, and on
the way back nothing is done by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.mfa.models import Authenticator
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

KEPT = "kept_while_proving"
"""Session key: what was typed into forms, by the address of the form."""
MOST = 5
"""Forms that are kept for one person."""


def ask(
    request: HttpRequest, typed: Mapping[str, str], *, passkey: bool = False
) -> HttpResponseRedirect:
    """To where the person proves who they are; then back to this address, by GET.

    With `passkey`: by their passkey, or to where they add one. `typed` is kept for `kept`. The
    form itself is not sent again: the person has to.
    """
    forms = {path: held for path, held in _all(request).items() if path != request.path}
    request.session[KEPT] = dict(list(forms.items())[1 - MOST :]) | {request.path: dict(typed)}
    return HttpResponseRedirect(f"{_way(request, passkey)}?{urlencode({'next': request.path})}")


def _way(request: HttpRequest, passkey: bool) -> str:
    if passkey:
        owned = Authenticator.objects.filter(user=request.user, type=Authenticator.Type.WEBAUTHN)
        return reverse("mfa_reauthenticate_webauthn" if owned.exists() else "mfa_add_webauthn")
    ways = get_adapter().get_reauthentication_methods(request.user)
    return str(ways[0]["url"]) if ways else reverse("account_reauthenticate")


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
