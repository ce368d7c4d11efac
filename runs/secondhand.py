"""Filters that one person has typed and another sees: saved views, orders to many runs.

1. Who may look behind masks reads everything.
2. Nobody else reads a value of a field that is hidden from them, or what is hidden for what it is.
3. While policies mask anything from somebody, they read nothing that others typed: any of it may be
   one of the values that are hidden wherever they occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Protocol

from django.http import QueryDict

from accounts.models import User
from runs import masking, ports, web
from runs.masking import Cloak


class Compared(Protocol):
    """A field and a value that filters compare it with."""

    def hidden(self, cloak: Cloak) -> bool:
        """Pages would hide it."""


def reads(
    user: User, names: Iterable[str], compared: Callable[[QueryDict], Iterable[Compared]]
) -> Callable[[QueryDict], bool]:
    """Tells of filters whether this person may read what is typed in the parameters `names`.

    `compared` tells what is compared there; it raises ValueError where that cannot be understood.
    """
    reveals = user.has_perm(web.REVEAL)

    @cache
    def cloak() -> Cloak:
        return ports.masks().anywhere(user)

    def reads(query: QueryDict) -> bool:
        typed = [text for name in names if (text := query.get(name))]
        if reveals or not typed:
            return True
        if cloak().paths or masking.mask(typed).hidden:
            return False
        try:
            return not any(each.hidden(cloak()) for each in compared(query))
        except ValueError:
            return False

    return reads
