"""Reading what somebody typed into the search of a list of runs.

    refund 10366              words of the title, by their beginnings; all of them
    019acf3e-... or 0000c41e  an id: the whole of it, its beginning, or its last characters
    key:order-10366           the whole idempotency key, as does the key alone
    order_id:10366            a field of the input has this value; `=` does the same
    input.customer.city="Den Haag"   the same, spelled out; needed for fields called like the others
    agent: version: error:    what the filters of these names do

Places in lists are left out of paths. What is in quotation marks is one word, colons and all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby

from django.utils.translation import gettext as _

from runs import masking
from runs.masking import Cloak

NAMES = ("id", "key", "agent", "version", "error")
"""Qualifiers besides the fields of inputs."""
INPUT = "input."
MOST = 8
"""Words and qualifiers of one search."""
LIKE_AN_ID = re.compile(r"[0-9a-fA-F-]{4,36}")
_TOKEN = re.compile(
    r'\s*(?:(?P<name>[^\W\d][\w.-]*)[:=](?P<value>"[^"]*"|\S*)|"(?P<quoted>[^"]*)"|(?P<word>\S+))'
)
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")
_PUNCTUATION = str.maketrans(dict.fromkeys("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", " "))
"""What `runs_words` takes for a space, too."""
_UPPER = str.maketrans({chr(code): chr(code + 32) for code in range(ord("A"), ord("Z") + 1)})


class BadSearch(ValueError):
    """What was typed cannot be searched for; the message says why and what to write instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One value of the input that is looked for."""

    path: str
    value: str

    @property
    def spellings(self) -> list[str]:
        """The value in the ways in which it may be known.

        In lower case as the database makes it, which may know no letters but those of ASCII.
        """
        return sorted(f"{self.path}={form}" for form in self.forms)

    @property
    def forms(self) -> set[str]:
        forms = {self.value.lower(), self.value.translate(_UPPER)}
        if _NUMBER.fullmatch(self.value):
            forms.add(format(Decimal(self.value).normalize() + 0, "f"))
        return forms

    def hidden(self, cloak: Cloak) -> bool:
        """Pages would hide this value at this place from the reader, in one of its spellings."""
        return any(self._hidden(form, cloak) for form in {self.value, *self.forms})

    def _hidden(self, form: str, cloak: Cloak) -> bool:
        there: object = form or "something"
        for name in reversed(self.path.split(".")):
            there = {name: there}
        return masking.mask(there, cloak).hidden > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What was typed, as it was understood."""

    text: str = ""
    """What stands for itself: words of the title, an id or a key."""
    leaves: tuple[Leaf, ...] = ()
    named: dict[str, str] = field(default_factory=dict)
    """Value by name of NAMES."""

    @property
    def words(self) -> list[str]:
        """The words of `text` as titles are known by."""
        return words(self.text)

    def __bool__(self) -> bool:
        return bool(self.text or self.leaves or self.named)


def words(text: str) -> list[str]:
    return text.translate(_PUNCTUATION).split()


def read(typed: str) -> Search:
    """Raises BadSearch."""
    tokens = list(_tokens(typed))
    if len(tokens) > MOST:
        raise BadSearch(
            _("At most %(most)s words and fields are searched at once. Take some away.")
            % {"most": MOST}
        )
    named = [(name, value) for name, value in tokens if name in NAMES]
    for name, group in groupby(sorted(named), key=lambda each: each[0]):
        if len(list(group)) > 1:
            raise BadSearch(_("“%(name)s:” stands there twice. Keep one.") % {"name": name})
    return Search(
        text=" ".join(value for name, value in tokens if not name),
        leaves=tuple(_leaf(name, value) for name, value in tokens if name and name not in NAMES),
        named=dict(named),
    )


def told(typed: str) -> str:
    """What was typed, without the values of fields: they may be hidden from who reads it."""
    return _TOKEN.sub(_told, typed)


def _told(found: re.Match[str]) -> str:
    name = found["name"]
    return found[0] if name is None or name in NAMES else f" {name}:*"


def _tokens(typed: str) -> Iterator[tuple[str, str]]:
    """Name and value; words have no name."""
    for found in _TOKEN.finditer(typed.strip()):
        name, value = found["name"], found["value"]
        if name is None:
            yield "", found["quoted"] or found["word"] or ""
            continue
        value = value.strip('"').strip()
        if not value:
            raise BadSearch(
                _("Write a value behind “%(name)s:”, without a space between.") % {"name": name}
            )
        if name == "id" and not LIKE_AN_ID.fullmatch(value):
            raise BadSearch(
                _("“%(id)s” is no id. Copy the whole of it, or its last eight characters.")
                % {"id": value}
            )
        yield name, value


def _leaf(name: str, value: str) -> Leaf:
    path = name.removeprefix(INPUT)
    if "" in path.split("."):
        raise BadSearch(
            _("“%(path)s” is no field. Join names by single dots, as in customer.city.")
            % {"path": path}
        )
    return Leaf(path=path, value=value)
