"""Conditions on what an agent asks leave for, one per line: `args.amount_cents > 50000`.

A condition is met, is not met, or is in doubt: the value is missing or of another type than the
condition compares. Doubt never opens anything: see `rule.Policy.fits` and `book.Book.find`.
"""

from __future__ import annotations

import fnmatch
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from accounts.speech import later
from approvals.policies.subjects import MISSING, Subject, is_path
from audit import canonical

WORDS = {
    "=": later("is"),
    "!=": later("is not"),
    "in": later("is one of"),
    "not in": later("is none of"),
    ">": later("is more than"),
    "<": later("is less than"),
    "within": later("is within"),
    "outside": later("is outside of"),
    "matches": later("looks like"),
    "missing": later("is missing"),
}
"""Operator to how it is read."""
_LINE = re.compile(
    r"(?P<path>\S+)\s+(?P<operator>not\s+in|in|within|outside|matches|missing|!=|=|>|<)"
    r"(?:\s+(?P<operand>.*))?",
    re.DOTALL,
)
_DOMAIN = re.compile(r"(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9-]+")
_ADDRESS = re.compile(r"[^\s@,;:/?#\\<>\"()]+@([^\s@,;<>\"()]+)")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://([A-Za-z0-9.-]+)(?::\d{1,5})?(?:[/?#][^\s\\]*)?")
"""Without a name before the host: readers do not agree on where the host begins then."""
MOST = 20
"""Conditions of one policy."""
LONGEST = 1000
"""Characters of one condition."""
HOW = later(
    "Write a field, an operator and a value, such as: args.amount_cents > 50000. Operators:"
    " {operators}.",
    operators=", ".join(WORDS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One comparison of one field."""

    path: str
    operator: str
    operand: object = None
    """A plain JSON value; a tuple of them for `in` and `not in`, of names for domains."""

    @classmethod
    def parse(cls, line: object) -> Condition:
        """Raises ValueError, whose words say what is wrong."""
        if isinstance(line, Condition):
            return line
        found = _LINE.fullmatch(line.strip()) if isinstance(line, str) else None
        if not isinstance(line, str) or found is None or len(line) > LONGEST:
            raise ValueError(
                later("“{line}” is not a condition. {how}", line=str(line)[:100], how=HOW)
            )
        path, operator = found["path"], " ".join(found["operator"].split())
        if not is_path(path):
            raise ValueError(
                later(
                    "“{path}” is not a field. Fields start with args, payload, agent, node or"
                    " tool: args.order.total",
                    path=path[:100],
                )
            )
        try:
            operand = _OPERANDS[operator]((found["operand"] or "").strip())
        except ValueError as exc:
            raise ValueError(f"{path} {operator}: {exc}") from exc
        return cls(path=path, operator=operator, operand=operand)

    def __str__(self) -> str:
        """The line that `parse` reads back."""
        if self.operator == "missing":
            return f"{self.path} missing"
        if isinstance(self.operand, tuple):
            words = map(str, self.operand) if self.operator in DOMAINS else map(_json, self.operand)
            return f"{self.path} {self.operator} {', '.join(words)}"
        plain = self.operator == "matches"
        return f"{self.path} {self.operator} {self.operand if plain else _json(self.operand)}"

    @property
    def sentence(self) -> str:
        operand = str(self)[len(f"{self.path} {self.operator}") :]
        return f"{self.path} {WORDS[self.operator]}{operand}"

    def met_by(self, subject: Subject) -> bool | None:
        """Whether the field is as the condition says; None if that is in doubt. Never raises."""
        value = subject.look(self.path)
        if self.operator == "missing":
            return value is MISSING
        return None if value is MISSING else _TESTS[self.operator](value, self.operand)


DOMAINS = ("within", "outside")


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- reading operands -----------------------------------------------------------------------------


def _one(text: str) -> object:
    """A number, true, false, null, a quoted text, or a word as it stands."""
    if not text:
        raise ValueError(later("a value is needed."))
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        if text[0] in '"[{':
            raise ValueError(later("“{text}” is no JSON value.", text=text[:100])) from None
        value = text
    if isinstance(value, dict | list):
        raise ValueError(later("a single value is needed."))
    try:
        canonical.dumps(value)
    except canonical.NotCanonical as exc:
        raise ValueError(later("this value cannot be compared.")) from exc
    return value


def _several(text: str) -> tuple[object, ...]:
    parts = re.findall(r'\s*("(?:[^"\\]|\\.)*"|[^,]+)\s*(?:,|$)', text)
    if not parts:
        raise ValueError(later("at least one value is needed."))
    return tuple(_one(part.strip()) for part in parts)


def _number(text: str) -> object:
    value = _one(text)
    if not _is_number(value):
        raise ValueError(later("a number is needed."))
    return value


def _domains(text: str) -> tuple[object, ...]:
    names = [name.strip().lower() for name in text.split(",")]
    for name in names:
        if not _DOMAIN.fullmatch(name):
            raise ValueError(later("needs domains such as example.com or *.example.com."))
    return tuple(names)


def _pattern(text: str) -> object:
    if not text:
        raise ValueError(later("a pattern is needed, such as refund-*."))
    return text


def _nothing(text: str) -> None:
    if text:
        raise ValueError(later("takes no value."))


_OPERANDS: Mapping[str, Callable[[str], object]] = {
    "=": _one,
    "!=": _one,
    "in": _several,
    "not in": _several,
    ">": _number,
    "<": _number,
    "within": _domains,
    "outside": _domains,
    "matches": _pattern,
    "missing": _nothing,
}


# --- comparing ------------------------------------------------------------------------------------


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool | str):
        return type(value).__name__
    return "number" if _is_number(value) else ""


def _equal(value: object, operand: object) -> bool | None:
    if not _kind(value) or _kind(value) != _kind(operand):
        return None
    return value == operand


def _among(value: object, operand: object) -> bool | None:
    assert isinstance(operand, tuple)  # noqa: S101  (what _several made)
    found = [_equal(value, each) for each in operand]
    if True in found:
        return True
    return None if set(found) == {None} else False


def _domain_of(value: object) -> str | None:
    """The host that an e-mail address or a web address names beyond doubt."""
    if not isinstance(value, str):
        return None
    found = _ADDRESS.fullmatch(value) or _URL.fullmatch(value)
    host = found[1].lower() if found else ""
    return host if _DOMAIN.fullmatch(host) and not host.startswith("*") else None


def _within(value: object, operand: object) -> bool | None:
    """Of several addresses, all must be within."""
    assert isinstance(operand, tuple)  # noqa: S101  (what _domains made)
    hosts = [_domain_of(each) for each in value] if isinstance(value, list) else [_domain_of(value)]
    if not hosts or None in hosts:
        return None
    return all(any(_is_of(host or "", str(name)) for name in operand) for host in hosts)


def _is_of(host: str, name: str) -> bool:
    return host.endswith(name[1:]) if name.startswith("*.") else host == name


def _like(value: object, operand: object) -> bool | None:
    return fnmatch.fnmatchcase(value, str(operand)) if isinstance(value, str) else None


def _compared(value: object, operand: object, larger: bool) -> bool | None:
    if not isinstance(value, int | float) or not isinstance(operand, int | float):
        return None
    if not _is_number(value):
        return None
    return value > operand if larger else value < operand


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


_TESTS: Mapping[str, Callable[[object, object], bool | None]] = {
    "=": _equal,
    "!=": lambda value, operand: _not(_equal(value, operand)),
    "in": _among,
    "not in": lambda value, operand: _not(_among(value, operand)),
    ">": lambda value, operand: _compared(value, operand, larger=True),
    "<": lambda value, operand: _compared(value, operand, larger=False),
    "within": _within,
    "outside": lambda value, operand: _not(_within(value, operand)),
    "matches": _like,
}
