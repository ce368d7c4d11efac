"""Who may be signed in at all. Asked at sign-in and again on every request of a live session."""

from __future__ import annotations

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser

from accounts.models import User


class PeopleBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """allauth's sign-in by e-mail, for people who may sign in now."""

    def user_can_authenticate(self, user: AbstractBaseUser | AnonymousUser | None) -> bool:
        return isinstance(user, User) and user.may_sign_in
