"""Whom to ask for what one may not do oneself, by name."""

from __future__ import annotations

from django.utils.translation import gettext as _

from accounts import groups
from accounts.backends import PeopleBackend
from accounts.models import User

MOST = 3
"""People who are named."""


def to_ask(permission: str) -> str:
    """A sentence that names who has the permission: "Ask an operator: Ada Marsh, Olu Bello." """
    named = [person.label for person in able(permission)[: MOST + 1]]
    group = groups.right(permission).groups[0]
    if not named:
        return _(
            "Nobody here may do that: whoever runs this server adds somebody to the group"
            " %(group)s."
        ) % {"group": group}
    more = "…" if len(named) > MOST else ""
    return _("Ask somebody of the group %(group)s: %(people)s%(more)s.") % {
        "group": group,
        "people": ", ".join(named[:MOST]),
        "more": more,
    }


def able(permission: str) -> list[User]:
    """Everybody who may sign in and has the permission, in the order of their addresses."""
    found = PeopleBackend().with_perm(permission, include_superusers=False).order_by("email")
    return [person for person in found if person.may_sign_in]
