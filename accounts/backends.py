"""Who may be signed in at all. Asked at sign-in and again on every request of a live session."""

from __future__ import annotations

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, Permission
from django.db.models import Model, Q, QuerySet

from accounts import known, rights
from accounts.models import User


class PeopleBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """allauth's sign-in by e-mail, for people who may sign in now."""

    def user_can_authenticate(self, user: AbstractBaseUser | AnonymousUser | None) -> bool:
        return isinstance(user, User) and user.may_sign_in

    def get_user(self, user_id: int) -> AbstractBaseUser | None:
        found = known.find(user_id) or super().get_user(user_id)
        return found if self.user_can_authenticate(found) else None

    def get_all_permissions(
        self, user_obj: AbstractBaseUser | AnonymousUser, obj: Model | None = None
    ) -> set[str]:
        """As Django's own, in one query instead of two."""
        if not isinstance(user_obj, User) or not user_obj.is_active or obj is not None:
            return set()
        return set(rights.of(user_obj).permissions)

    def with_perm(self, permission: str, *, include_superusers: bool = True) -> QuerySet[User]:
        """Active people who have "app.codename", by themselves or by a group.

        As Django's own, but for two sets of ids: Django asks a subquery for each person.
        """
        app, _, codename = permission.partition(".")
        meant = Permission.objects.filter(content_type__app_label=app, codename=codename)
        by_group = User.groups.through.objects.filter(group__permissions__in=meant)
        by_themselves = User.user_permissions.through.objects.filter(permission__in=meant)
        may = Q(pk__in=by_group.values("user")) | Q(pk__in=by_themselves.values("user"))
        if include_superusers:
            may |= Q(is_superuser=True)
        return User.objects.filter(may, is_active=True)
