"""The people of a seeded database: many approvers, some operators and auditors, few admins."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import Group, Permission

from accounts import groups
from accounts.models import User

FINANCE = "finance"
PEOPLE = 300
OWNERS = "owners"
OWN = (50, 7)
"""Every fiftieth person, from the eighth on, may only look at what is theirs."""
LOOK = ("view_run", "view_effect", "view_request")
EVERY = {groups.ADMIN: 100, groups.AUDITOR: 30, groups.OPERATOR: 15}
"""One of so many is in this group; almost everybody else approves."""
FIRST = (
    *("Ada", "Amir", "Beatriz", "Chidi", "Dana", "Elif", "Farah", "Goran", "Hana", "Ines"),
    *("Jonas", "Kemal", "Lena", "Mateo", "Nadia", "Olga", "Pavel", "Rosa", "Samir", "Tove"),
)
LAST = (
    *("Adeyemi", "Bergmann", "Castillo", "Dvorak", "Eriksen", "Fontaine", "Galli", "Haddad"),
    *("Ivanova", "Jansen", "Kowalski", "Lindqvist", "Moreau", "Novak", "Okafor"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """Who plays in the originals; copies have others in their places."""

    requester: User
    approver: User
    operator: User


def make() -> Cast:
    """Make all of them; return those of the originals."""
    for group in (*EVERY, groups.APPROVER, FINANCE, OWNERS):
        Group.objects.get_or_create(name=group)
    looking = Permission.objects.filter(codename__in=LOOK)
    Group.objects.get(name=OWNERS).permissions.set(looking)
    people = User.objects.bulk_create(map(_person, range(PEOPLE)))
    known = {group.name: group for group in Group.objects.all()}
    for number, user in enumerate(people):
        user.groups.set([known[name] for name in _groups(number)])
    first = EVERY[groups.OPERATOR]
    return Cast(requester=people[first], approver=people[1], operator=people[3 * first])


def _person(number: int) -> User:
    first, last = FIRST[number % len(FIRST)], LAST[number // len(FIRST)]
    email = f"{first}.{last}@seed.example".lower()
    return User(email=email, first_name=first, last_name=last)


def _groups(number: int) -> list[str]:
    every, first = OWN
    if number % every == first:
        return [OWNERS]
    role = next((name for name, every in EVERY.items() if number % every == 0), "")
    return [role] if role else [groups.APPROVER, FINANCE]
