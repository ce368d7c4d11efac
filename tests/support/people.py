"""The people of every test.

Ada operates, Ben approves, Cy audits, Rut administers, Dee may nothing.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group

from accounts import groups
from accounts.models import User

PASSWORD = "correct horse battery staple"
IN_GROUP = {
    "Ada": groups.OPERATOR,
    "Ben": groups.APPROVER,
    "Cy": groups.AUDITOR,
    "Rut": groups.ADMIN,
}


def person(name: str, *more: str, **fields: Any) -> User:
    """Make one of them, in the group that fits the name and in those called `more`."""
    address = f"{name.lower()}@example.com"
    user = User.objects.create_user(address, PASSWORD, **{"first_name": name} | fields)
    for group in filter(None, (IN_GROUP.get(name), *more)):
        user.groups.add(Group.objects.get_or_create(name=group)[0])
    return user
