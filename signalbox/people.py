"""Accounts from the command line: make one, change one, say which groups it is in.

1. What is asked for is what is there afterwards; what is not asked for stays as it is.
2. Everything that changed is one entry of the audit log, in the same transaction. A password is
   never in it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from django.contrib.auth import password_validation
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction

from accounts.actors import Actor
from accounts.errors import AccountsError
from accounts.models import User
from audit import trail

LONGEST_GROUP = 150


class BadPerson(AccountsError):
    """This account cannot be made or changed so. Correct what was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What an account is to be; None leaves it as it is."""

    name: str | None = None
    groups: tuple[str, ...] | None = None
    """Exactly these."""
    active: bool | None = None
    password: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The account as it is now, and what was changed: empty if nothing was."""

    user: User
    made: bool
    changes: dict[str, object]


def change(address: str, wish: Wish, *, actor: Actor, make_groups: bool = False) -> Done:
    """Make the account of this address if there is none, and give it what is wished for.

    Groups that do not exist are refused, unless `make_groups`: then they are made, and allow
    nothing by themselves; policies may name them. Raises BadPerson.
    """
    email = User.objects.normalize_email(address)
    try:
        validate_email(email)
    except ValidationError:
        raise BadPerson(f"{address!r} is not an e-mail address. Correct it.") from None
    with transaction.atomic():
        user = User.objects.select_for_update(no_key=True).filter(email=email).first()
        made = user is None
        user = user or User(email=email)
        changes = dict(_fields(user, wish))
        if made:
            changes |= {"email": email}
        if wish.password is not None:
            _check_password(wish.password, user)
            user.set_password(wish.password)
            changes |= {"password": "set"}
        elif made:
            user.set_unusable_password()
        if made or changes:
            user.save()
        changes |= _regroup(user, wish.groups, make_groups=make_groups)
        if changes:
            trail.record(
                "person.changed",
                actor=actor,
                target=("person", str(user.pk)),
                data={"email": email, "made": made, **changes},
            )
    return Done(user=user, made=made, changes=changes)


def _fields(user: User, wish: Wish) -> Iterable[tuple[str, object]]:
    if wish.name is not None and (not wish.name.strip() or wish.name != user.get_full_name()):
        first, _, last = " ".join(wish.name.split()).partition(" ")
        if not first or max(len(first), len(last)) > LONGEST_GROUP:
            raise BadPerson("A name has 1 to 150 characters before and after its first space.")
        user.first_name, user.last_name = first, last
        yield "name", user.get_full_name()
    if wish.active is not None and wish.active != user.is_active:
        user.is_active = wish.active
        yield "active", wish.active


def _check_password(password: str, user: User) -> None:
    try:
        password_validation.validate_password(password, user)
    except ValidationError as error:
        raise BadPerson(f"The password is refused: {' '.join(error.messages)}") from error


def _regroup(user: User, names: tuple[str, ...] | None, *, make_groups: bool) -> dict[str, object]:
    if names is None:
        return {}
    wanted = {name: _group(name, make_groups=make_groups) for name in names}
    before = set(user.groups.values_list("name", flat=True))
    if before == set(wanted):
        return {}
    user.groups.set(wanted.values())
    return {
        "added": sorted(set(wanted) - before),
        "removed": sorted(before - set(wanted)),
    }


def _group(name: str, *, make_groups: bool) -> Group:
    if not 0 < len(name) <= LONGEST_GROUP or not name.isprintable():
        raise BadPerson(f"{name!r} cannot be the name of a group. Use 1 to 150 characters.")
    found = Group.objects.filter(name=name).first()
    if found:
        return found
    if make_groups:
        return Group.objects.create(name=name)
    known = list(Group.objects.order_by("name").values_list("name", flat=True))
    near = next(iter(difflib.get_close_matches(name, known, n=1)), "")
    raise BadPerson(
        f"There is no group {name!r}."
        + (f" Did you mean {near!r}?" if near else "")
        + f" There are {', '.join(known)}. To make it, add --make-groups."
    )
