"""What one person may, and in which groups they are, as one query finds it.

Asked once for a person as they were read, and kept with them: whoever acts is read anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import Group, Permission
from django.db.models import CharField, F, QuerySet, Value

from accounts.models import User

KEPT = "_rights"
APP, CODENAME = "content_type__app_label", "codename"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """By themselves and by their groups."""

    permissions: frozenset[str]
    """As "app.codename"."""
    groups: frozenset[str]
    """Names."""


def of(user: User) -> Rights:
    """Those of somebody in the database, whether they may sign in or not."""
    found: Rights | None = getattr(user, KEPT, None)
    if found is None:
        found = _read(user)
        setattr(user, KEPT, found)  # through the proxy that a request has for its user
    return found


def _read(user: User) -> Rights:
    rows = list(_by_groups(user).union(_by_themselves(user), all=True))
    return Rights(
        permissions=frozenset(f"{app}.{codename}" for _, app, codename in rows if codename),
        groups=frozenset(name for name, _, _ in rows if name),
    )


def _by_groups(user: User) -> QuerySet[Group, tuple[str, str | None, str | None]]:
    """A group that may nothing is there, too."""
    return Group.objects.filter(user=user).values_list(
        "name", f"permissions__{APP}", f"permissions__{CODENAME}"
    )


def _by_themselves(user: User) -> QuerySet[Permission, tuple[str, str | None, str | None]]:
    """Everything, where they are a superuser."""
    may = Permission.objects.all() if user.is_superuser else Permission.objects.filter(user=user)
    # Django's permissions come in an order of their own, which a part of a union may not have.
    return may.order_by().values_list(Value("", CharField()), F(APP), F(CODENAME))
