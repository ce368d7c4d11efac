"""Values of a request as its reader may see them: facts at a glance, and all of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from accounts.speech import later as _
from approvals.amounts import MINOR, Amount
from runs import masking

MOST_FACTS = 12
LONGEST = 60_000
"""Characters of JSON that are shown on the page."""
SHORT = 280
"""Characters of a text that the tree of values shows without cutting it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One argument, to be read at a glance."""

    label: str
    value: str = ""
    amount: Amount | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Values as this reader may see them."""

    value: object
    text: str = ""
    """The whole as indented JSON, where a tree of values would cut or fold something."""
    too_long: int = 0
    """Characters, where there are too many for the page."""
    hidden: int = 0
    """Values hidden from this reader."""

    @classmethod
    def of(cls, value: object, *, unmasked: bool) -> Shown:
        masked = masking.Masked(value=value, hidden=0) if unmasked else masking.mask(value)
        # Tabs: many blanks in a row would be marked as something that hides.
        text = json.dumps(masked.value, indent="\t", ensure_ascii=False)
        if len(text) > LONGEST:
            return cls(value=None, too_long=len(text), hidden=masked.hidden)
        whole = "" if _is_plain(masked.value) else text
        return cls(value=masked.value, text=whole, hidden=masked.hidden)


def facts(values: object, amount: Amount | None) -> list[Fact]:
    """Plain arguments by name; what is nested is left to the tree below."""
    if not isinstance(values, Mapping):
        return []
    found = [Fact(label=_("Amount"), amount=amount)] if amount else []
    for name, value in values.items():
        if amount and name in (*MINOR, "currency"):
            continue
        if isinstance(value, str) and len(value) <= SHORT:
            found.append(Fact(label=_words(name), value=value))
        elif isinstance(value, int | float | Decimal | bool):
            found.append(Fact(label=_words(name), value=json.dumps(value)))
    return found[:MOST_FACTS]


def _words(name: str) -> str:
    """`order_id` as a heading."""
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _is_plain(value: object, depth: int = 0) -> bool:
    """Whether a tree of values shows all of it at once."""
    if isinstance(value, str):
        return len(value) <= SHORT
    if isinstance(value, dict):
        return depth < 2 and all(_is_plain(item, depth + 1) for item in value.values())
    if isinstance(value, list):
        return depth < 2 and all(_is_plain(item, depth + 1) for item in value)
    return True
