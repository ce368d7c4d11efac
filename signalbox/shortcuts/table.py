"""Every key and what it does. `static/js/keys.js` gives them their effect."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """`keys` are pressed one after another; those joined by a space stand for each other."""

    keys: tuple[str, ...]
    does: str | Promise
    together: bool = False
    """Held down at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    title: str | Promise
    keys: tuple[Key, ...]


EVERYWHERE = Group(
    title=_("On every page"),
    keys=(
        Key(keys=("/",), does=_("Search this page")),
        Key(keys=("u",), does=_("Up, to the page that this one belongs to")),
        Key(keys=("p",), does=_("Pause updates, or go on")),
        Key(keys=("?",), does=_("Show these keys")),
        Key(keys=("Ctrl", "K"), does=_("Go to a page or run by its name"), together=True),
        Key(
            keys=("Ctrl", "Enter"),
            does=_("Send the form; of a decision, move to its button"),
            together=True,
        ),
        Key(keys=("Esc",), does=_("Close what lies over the page")),
    ),
)
LISTS = Group(
    title=_("In lists and between items"),
    keys=(
        Key(keys=("j",), does=_("Next row")),
        Key(keys=("k",), does=_("Previous row")),
        Key(keys=("Enter",), does=_("Open the row")),
        Key(keys=("[",), does=_("Previous item or page")),
        Key(keys=("]",), does=_("Next item or page")),
        Key(keys=(".",), does=_("Show new rows")),
    ),
)
RUN = Group(
    title=_("On a run"),
    keys=(Key(keys=("1\N{EN DASH}8",), does=_("Open its first to eighth tab")),),
)
REQUEST = Group(
    title=_("On a request for approval"),
    keys=(
        Key(keys=("a",), does=_("Move to Approve")),
        Key(keys=("r",), does=_("Move to Reject")),
        Key(keys=("e",), does=_("Move to changing what is asked")),
    ),
)
