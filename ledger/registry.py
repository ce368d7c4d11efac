"""The tools that are declared in this process, by name.

A tool that changes something says who prevents a second performance; a tool that only reads says
so. One that declares nothing is not here, which is a finding (`declared` tells).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings

from audit.canonical import Json
from ledger import errors
from ledger.models import Idempotency
from ledger.outcomes import Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """An effect that happened, as the function sees it that says how to take it back."""

    args: Mapping[str, Json]
    result: Json
    reference: str
    """The provider's."""


LookUp = Callable[[str], Found | None]
Permit = bool | Callable[[Mapping[str, object]], bool]
UndoArgs = Callable[[Done], Mapping[str, object]]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]{0,119}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tool:
    """How one kind of effect is performed, found again, and kept from happening twice."""

    name: str
    function: Callable[..., object]
    idempotency: Idempotency
    signature: inspect.Signature
    """Of the arguments that make the effect; what the ledger passes itself is not in it."""
    passes: frozenset[str]
    """What the function wants from the ledger: `idempotency_key`, `timeout`."""
    window: timedelta | None = None
    """How long the provider remembers a key, from the first call with it."""
    lookup: LookUp | None = None
    visibility: timedelta = timedelta(0)
    """How long a look-up may miss what has happened."""
    timeout: timedelta | None = None
    permit: Permit = False
    key: str | None = None
    """Template of a business key."""
    drift: str = ""
    """What to do about an attempt that asks for something else: "stop" or "flag"; empty:
    LEDGER_DRIFT."""
    redact: frozenset[str] = frozenset()
    """Fields whose values are never stored in clear."""
    undo: str = ""
    """The tool that takes it back; empty: none does."""
    undo_args: UndoArgs | None = None
    """The arguments of that; None: those that it has in common with this one, and `reference`."""
    fingerprint: Callable[..., Mapping[str, object]] | None = None
    """Reads a few facts about the present state of what a call with these arguments is about."""

    @property
    def call_timeout(self) -> timedelta:
        timeout: timedelta = self.timeout or settings.LEDGER_CALL_TIMEOUT
        return timeout

    def needs_permit(self, args: Mapping[str, object]) -> bool:
        return self.permit(args) if callable(self.permit) else self.permit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reader:
    """A tool that changes nothing outside."""

    name: str
    function: Callable[..., object]


_tools: dict[str, Tool | Reader] = {}


def add(tool: Tool | Reader) -> None:
    """Declare a tool. Raises NotAnEffect for a bad name, or one that another function has."""
    if not _NAME.fullmatch(tool.name):
        raise errors.NotAnEffect(
            f"{tool.name!r} cannot name a tool: up to 120 letters, digits and _ . / -."
        )
    there = _tools.get(tool.name)
    if there is not None and _place(there) != _place(tool):
        raise errors.NotAnEffect(
            f"Two tools are called {tool.name!r}: {_place(there)} and {_place(tool)}."
            " The ledger tells effects apart by it; rename one."
        )
    _tools[tool.name] = tool


def find(name: str) -> Tool | None:
    """The tool of this name that changes something; None if this process does not know it."""
    found = _tools.get(name)
    return found if isinstance(found, Tool) else None


def declared(function: object) -> Tool | Reader | None:
    """What this function was declared as; None is a finding."""
    found = getattr(function, "__ledger_tool__", None)
    return found if isinstance(found, Tool | Reader) else None


def names() -> list[str]:
    """The names of all tools that change something, sorted."""
    return sorted(name for name, tool in _tools.items() if isinstance(tool, Tool))


def everything() -> list[Tool | Reader]:
    """All tools that are declared, by name."""
    return [_tools[name] for name in sorted(_tools)]


def _place(tool: Tool | Reader) -> str:
    return f"{tool.function.__module__}.{tool.function.__qualname__}"
