"""What the list of entries needs to know from the apps above, without importing them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

from accounts.models import User

Target = tuple[str, str]
"""Kind and id of what an entry is about."""


class Titles(Protocol):
    """What things are called, for one reader: nothing that they may not see has a title."""

    def __call__(self, targets: Collection[Target], user: User) -> Mapping[Target, str]: ...


def titles(targets: Collection[Target], user: User) -> Mapping[Target, str]:
    """As AUDIT_TITLES says; a constant number of queries."""
    return cast(Titles, import_string(settings.AUDIT_TITLES))(targets, user)
