"""How sign-in differs from django-allauth's defaults."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.stagekit import clear_login
from django.http import HttpRequest, HttpResponse

from accounts import proof
from accounts.models import User
from accounts.signals import identity_confirmed


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Nobody signs up by themselves, and demo accounts work only in demo mode."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def pre_login(self, request: HttpRequest, user: User, **login: Any) -> HttpResponse | None:
        """Passed by every way in, passkeys too. A response ends the sign-in."""
        if not user.may_sign_in:
            clear_login(request)
            response: HttpResponse = self.respond_user_inactive(request, user)
            return response
        proof.leave(request, user)
        answer: HttpResponse | None = super().pre_login(request, user, **login)
        return answer

    def reauthenticate(self, user: User, password: str) -> bool:
        confirmed: bool = super().reauthenticate(user, password)
        if confirmed:
            identity_confirmed.send(User, user=user, method="password")
        return confirmed
