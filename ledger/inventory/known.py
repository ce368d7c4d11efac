"""What is known of one tool, as plain data that a worker writes down and other processes read."""

from __future__ import annotations

import inspect
from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from enum import StrEnum
from typing import Any

from ledger.models import Idempotency
from ledger.registry import Reader, Tool

LONGEST = 300
"""Characters of a description."""


class Kind(StrEnum):
    EFFECT = "effect"
    """Declared with `@effect`: it changes something, through the ledger."""
    READS = "reads"
    """Declared with `@reads`, or named in LEDGER_READS: it changes nothing."""
    THROUGH = "through"
    """Declares nothing itself; its code calls tools that do."""
    UNDECLARED = "undeclared"
    """Declares nothing: it may change something past the ledger. A finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One tool as a worker knows it."""

    name: str
    kind: str
    does: str = ""
    """First line of its description."""
    place: str = ""
    """Where it is written."""
    idempotency: str = ""
    window: float | None = None
    """Seconds for which the provider remembers a key."""
    lookup: bool = False
    """The provider can be asked whether it happened."""
    visibility: float = 0.0
    """Seconds for which a look-up may miss what has happened."""
    timeout: float = 0.0
    """Seconds that a call may take."""
    permit: str = ""
    """"always", or "sometimes" where its arguments decide; empty: it needs no approval."""
    key: str = ""
    """Template of its business key."""
    agents: tuple[str, ...] = ()
    """Whose code refers to it, as far as that can be seen."""
    through: tuple[str, ...] = ()
    """The declared tools that it calls."""

    def kept(self) -> dict[str, object]:
        return asdict(self)

    @classmethod
    def read(cls, kept: dict[str, Any]) -> Known:
        """From `kept`, also as another version of Signalbox has written it."""
        names = {each.name for each in fields(cls)}
        found = {name: value for name, value in kept.items() if name in names}
        for name in ("agents", "through"):
            found[name] = tuple(found.get(name, ()))
        return cls(**found)

    def as_tool(self) -> Tool | None:
        """The tool for rules that decide by what it declares; it cannot be called."""
        if self.kind != Kind.EFFECT:
            return None
        return Tool(
            name=self.name,
            function=_elsewhere,
            idempotency=Idempotency(self.idempotency),
            signature=inspect.Signature(),
            passes=frozenset(),
            window=None if self.window is None else timedelta(seconds=self.window),
            lookup=_elsewhere if self.lookup else None,
            visibility=timedelta(seconds=self.visibility),
            timeout=timedelta(seconds=self.timeout),
        )


def of_tool(tool: Tool | Reader, *, agents: tuple[str, ...] = ()) -> Known:
    """What a declaration says."""
    about = Known(
        name=tool.name,
        kind=Kind.READS,
        does=first_line(tool.function.__doc__),
        place=f"{tool.function.__module__}.{tool.function.__qualname__}",
        agents=agents,
    )
    return about if isinstance(tool, Reader) else _effect(about, tool)


def _effect(about: Known, tool: Tool) -> Known:
    return Known(
        name=about.name,
        kind=Kind.EFFECT,
        does=about.does,
        place=about.place,
        agents=about.agents,
        idempotency=tool.idempotency.value,
        window=tool.window.total_seconds() if tool.window is not None else None,
        lookup=tool.lookup is not None,
        visibility=tool.visibility.total_seconds(),
        timeout=tool.call_timeout.total_seconds(),
        permit="sometimes" if callable(tool.permit) else "always" if tool.permit else "",
        key=tool.key or "",
    )


def first_line(text: str | None) -> str:
    return inspect.cleandoc(text or "").partition("\n")[0].strip()[:LONGEST]


def _elsewhere(*_: object, **__: object) -> None:
    raise AssertionError("a tool that is only known by what a worker said cannot be called here")
