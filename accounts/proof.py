"""Proving once more who one is, before something weighty: on the way there nothing is lost, and on
the way back nothing is done by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import reverse

from accounts import actors
from accounts.actors import Actor
from accounts.models import User

KEPT = "kept_while_proving"
"""Session key: what was typed into forms, by the address of the form."""
OWNER = "kept_for"
"""Session key: for whom. A session outlives the sign-in of somebody else in the same browser."""
MOST = 5
"""Forms that are kept for one person."""
ONLY_PASSKEY = {"only": "passkey"}
"""In the address of the page where somebody proves themselves: no other way would do."""


class Missing(StrEnum):
    """What somebody has still to prove before something counts."""

    NOTHING = ""
    IDENTITY = "identity"
    PASSKEY = "passkey"
    FIRST_PASSKEY = "first passkey"
    """They have none: they have to add one, and then show it."""


def missing(actor: Actor, user: User, *, within: timedelta | None, passkey: bool) -> Missing:
    """What `actor`, who is `user`, has to prove where a proof not older than `within` is asked for;
    with `passkey`, one by passkey. `within` is None where none is asked for."""
    if within is None:
        return Missing.NOTHING
    if not passkey:
        return Missing.NOTHING if actors.fresh(actor, within) else Missing.IDENTITY
    if actors.fresh_passkey(actor, within):
        return Missing.NOTHING
    return Missing.PASSKEY if _owns_passkey(user) else Missing.FIRST_PASSKEY


def ask(
    request: HttpRequest, typed: Mapping[str, str], *, passkey: bool = False
) -> HttpResponseRedirect:
    """To where the person proves who they are; then back to this address, by GET.

    With `passkey`: by their passkey, or to where they add one. `typed` is kept for `kept`. The
    form itself is not sent again: the person has to.
    """
    keep(request, typed, owner=str(request.user.pk))
    query = {"next": request.path} | (ONLY_PASSKEY if passkey else {})
    return HttpResponseRedirect(f"{_way(request.user, passkey)}?{urlencode(query)}")


def keep(request: HttpRequest, typed: Mapping[str, str], *, owner: str) -> None:
    """Keep this for the form at this address, until `owner` has signed in or proved themselves."""
    forms = {path: held for path, held in _of(request, owner).items() if path != request.path}
    request.session[KEPT] = dict(list(forms.items())[1 - MOST :]) | {request.path: dict(typed)}
    request.session[OWNER] = owner


def leave(request: HttpRequest, user: User) -> None:
    """Forget what was kept for anybody but this person, who is about to sign in."""
    if request.session.get(OWNER, str(user.pk)) != str(user.pk):
        request.session.pop(KEPT, None)
        del request.session[OWNER]


def _way(user: User | AnonymousUser, passkey: bool) -> str:
    if passkey:
        return reverse("mfa_reauthenticate_webauthn" if _owns_passkey(user) else "mfa_add_webauthn")
    ways = get_adapter().get_reauthentication_methods(user)
    return str(ways[0]["url"]) if ways else reverse("account_reauthenticate")


def _owns_passkey(user: User | AnonymousUser) -> bool:
    owned = Authenticator.objects.filter(user_id=user.pk, type=Authenticator.Type.WEBAUTHN)
    found: bool = owned.exists()
    return found


def kept(request: HttpRequest) -> dict[str, str] | None:
    """What was typed at this address before the person was asked for proof; None if nothing was."""
    return _all(request).get(request.path)


def unfinished(request: HttpRequest) -> str:
    """The address of the form that was left last for a proof; empty if none waits."""
    return next(reversed(_all(request)), "")


def forget(request: HttpRequest) -> None:
    """The form at this address has done what it was for."""
    forms = _all(request)
    if forms.pop(request.path, None) is not None:
        request.session[KEPT] = forms


def _all(request: HttpRequest) -> dict[str, dict[str, str]]:
    return _of(request, str(request.user.pk))


def _of(request: HttpRequest, owner: str) -> dict[str, dict[str, str]]:
    """What is kept for this person, and nothing that is kept for another."""
    if request.session.get(OWNER) != owner:
        return {}
    forms: dict[str, dict[str, str]] = request.session.get(KEPT, {})
    return forms
