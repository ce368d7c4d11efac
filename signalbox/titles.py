"""What the targets of audit entries are called, for one reader."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from uuid import UUID

from accounts.models import User
from approvals import queries as approvals
from audit.ports import Target
from ledger.models import Effect
from runs import visible
from runs.operations import kinds, progress

Named = Iterable[tuple[object, str]]
"""Ids and names."""


def of(targets: Collection[Target], user: User) -> dict[Target, str]:
    """A query for each kind that is among them; what this person may not see has no title."""
    found: dict[Target, str] = {}
    for kind, named in KINDS.items():
        ids = {identity for each, identity in targets if each == kind}
        if ids:
            found |= {(kind, str(key)): name for key, name in named(ids, user)}
    return found


def _runs(ids: Collection[str], user: User) -> Named:
    if not user.has_perm("runs.view_run"):
        return ()
    return visible.to(user).filter(pk__in=_uuids(ids)).values_list("pk", "title")


def _requests(ids: Collection[str], user: User) -> Named:
    return approvals.visible_to(user).filter(pk__in=_uuids(ids)).values_list("pk", "title")


def _effects(ids: Collection[str], user: User) -> Named:
    if not user.has_perm("ledger.view_effect"):
        return ()
    shown = Effect.objects.filter(visible.within(user, "run"), uid__in=_uuids(ids))
    return shown.values_list("uid", "tool")


def _operations(ids: Collection[str], user: User) -> Named:
    if not user.has_perm("runs.view_operation"):
        return ()
    refused = [(kind.value, str(kind.verb)) for kind in kinds.KINDS.values()]
    return [*progress.names(_uuids(ids)), *refused]


def _people(ids: Collection[str], user: User) -> Named:
    if not user.has_perm("audit.view_entry"):
        return ()
    known = [each for each in ids if each.isascii() and each.isdecimal() and len(each) < 10]
    return [(person.pk, person.label) for person in User.objects.filter(pk__in=known)]


KINDS: dict[str, Callable[[Collection[str], User], Named]] = {
    "run": _runs,
    "request": _requests,
    "effect": _effects,
    "operation": _operations,
    "person": _people,
}


def _uuids(ids: Iterable[str]) -> list[UUID]:
    found = []
    for each in ids:
        try:
            found.append(UUID(each))
        except ValueError:
            continue  # an entry may be about what never was
    return found
