"""Comparing arguments: `amount_cents >= 60000, currency = EUR`, as text in a filter.

1. A condition is a field, an operator and a value. The field's names are joined by dots; places in
   lists are left out, so that `lines.price >= 5` means any of the lines.
2. `=` compares numbers with numbers and texts with texts; `10382` means both, the number and the
   text. `"10382"` in quotation marks means the text alone. `true`, `false` and `null` are what
   they are.
3. `>=` and `<=` compare numbers of up to twelve digits. The numbers of payment cards are longer, so
   that nobody can find one out by asking whether it is larger.
4. Several conditions are separated by commas, and all of them have to hold.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from accounts.speech import later
from audit import canonical
from runs import masking
from runs.masking import Cloak

OPERATORS = (">=", "<=", "=")
MOST = 5
LARGEST = 10**12
_CONDITION = re.compile(
    r'\s*([^\s=<>,"]{1,200})\s*(>=|<=|=)\s*("(?:[^"\\]|\\.)*"|[^\s,"=<>][^,"]*?)\s*(?:,|$)'
)
_NUMBER = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,15})?")


SHAPE = later("Write conditions such as amount_cents >= 60000, with commas between them.")


class BadCondition(ValueError):
    """Write conditions such as amount_cents >= 60000, with commas between them."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or SHAPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One comparison."""

    path: str
    operator: str
    written: str
    """The value as it was written."""

    def __str__(self) -> str:
        return f"{self.path} {self.operator} {self.written}"

    def hidden(self, cloak: Cloak) -> bool:
        """The values of this field are hidden from who may not see payloads, or what is compared
        is: an e-mail address is, whatever its field is called."""
        there: object = [self._text or "something", self.word]
        for name in reversed(["args", *self.path.split(".")]):
            there = {name: there}
        return masking.mask(there, cloak).hidden > 0

    @property
    def number(self) -> Decimal | None:
        """None: the value is no number."""
        return Decimal(self.written) if _NUMBER.fullmatch(self.written) else None

    @property
    def word(self) -> str:
        """The value as searches know it; empty for those they do not."""
        if self.written in ("true", "false", "null"):
            return ""
        return plain(self.number) if self.number is not None else self._text

    @property
    def test(self) -> str:
        """What jsonpath has to ask of a value at the path."""
        if self.operator != "=" and self.number is not None:
            number = plain(self.number)
            return f"(@ {self.operator} {number} && @ > -{LARGEST} && @ < {LARGEST})"
        return f"({' || '.join(f'@ == {each}' for each in self._equal)})"

    @property
    def _equal(self) -> list[str]:
        if self.written in ("true", "false", "null"):
            return [self.written]
        text = json.dumps(self._text)
        return [text] if self.number is None else [text, plain(self.number)]

    @property
    def _text(self) -> str:
        """As it would be kept."""
        if not self.written.startswith('"'):
            return self.written
        return canonical.text(json.loads(self.written))


def jsonpath(path: str, conditions: Iterable[Condition]) -> str:
    """Some value at the path meets all of these, as jsonpath; in lax mode it looks into lists."""
    return f"{place(path)} ? ({' && '.join(each.test for each in conditions)})"


def place(path: str) -> str:
    """The values at the path, as jsonpath."""
    return "$" + "".join(f".{json.dumps(name)}" for name in path.split("."))


def plain(number: Decimal) -> str:
    """The one way in which searches write a number."""
    return format(number.normalize() + 0, "f")


def read(text: str) -> tuple[Condition, ...]:
    """The conditions that `text` writes. Raises BadCondition, which says what is wrong."""
    found, place = [], 0
    while text[place:].strip():
        match = _CONDITION.match(text, place)
        if match is None:
            raise BadCondition
        found.append(_condition(*match.groups()))
        place = match.end()
    if len(found) > MOST:
        raise BadCondition(
            later("At most {most} conditions are compared at once. Take some away.", most=MOST)
        )
    return tuple(found)


def _condition(path: str, operator: str, written: str) -> Condition:
    path = path.removeprefix("args.")
    if "" in path.split("."):
        raise BadCondition(
            later("“{path}” is no field. Join names by single dots, as in card.last.", path=path)
        )
    if written.startswith('"'):
        try:
            json.loads(written)
        except ValueError as exc:
            raise BadCondition(
                later("{written} is no text in quotation marks.", written=written)
            ) from exc
    if operator != "=" and not _NUMBER.fullmatch(written):
        raise BadCondition(
            later(
                "{path} {operator} wants a number of up to twelve digits, such as 600 or 599.95.",
                path=path,
                operator=operator,
            )
        )
    return Condition(path=path, operator=operator, written=written)
