"""The people of a seeded database: many approvers, some operators and auditors, few admins."""

from __future__ import annotations

from django.contrib.auth.models import Group

from accounts import groups
from accounts.models import User

FINANCE = "finance"
PEOPLE = 300
EVERY = {groups.ADMIN: 100, groups.AUDITOR: 30, groups.OPERATOR: 15}
"""One of so many is in this group; everybody else approves."""


def make() -> tuple[User, User, User]:
    """Make all of them; return a requester, an approver and an operator for the originals."""
    for group in (*EVERY, groups.APPROVER, FINANCE):
        Group.objects.get_or_create(name=group)
    people = User.objects.bulk_create(
        User(email=f"person{n}@seed.example", first_name=f"Person {n}") for n in range(PEOPLE)
    )
    known = {group.name: group for group in Group.objects.all()}
    for number, user in enumerate(people):
        role = next((name for name, every in EVERY.items() if number % every == 0), "")
        names = [role] if role else [groups.APPROVER, FINANCE]
        user.groups.set([known[name] for name in names])
    first = EVERY[groups.OPERATOR]
    return people[first], people[1], people[3 * first]
