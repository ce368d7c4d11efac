"""What a driver holds while it drives, as seen by the code that runs inside the graph.

1. One authority per drive. Nodes find it through a context variable, which LangGraph copies into
   its threads and tasks. Savers do not: their writes come from callbacks without that context.
2. `may_start()` is about this process's own clock: who could not renew the lease in time starts no
   further effect, even if the database cannot be asked.
3. The flags are only ever raised. They are hints to stop early; the database refuses anyway.
"""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to drive one run, until somebody takes it over."""

    run_id: UUID
    fence: int
    holder: str


class Control(Protocol):
    """What can ask a graph to stop at the next step's boundary: LangGraph's RunControl."""

    @property
    def drain_requested(self) -> bool: ...

    @property
    def drain_reason(self) -> str | None: ...

    def request_drain(self, reason: str = ...) -> None: ...


@dataclass(slots=True, kw_only=True)
class Authority:
    """A lease in use, with everything that can tell its driver to stop."""

    lease: Lease
    agent: str
    deadline: float
    """On this process's monotonic clock: expiry of the lease minus the margin."""
    control: Control
    lost: threading.Event = field(default_factory=threading.Event)
    cancelled: threading.Event = field(default_factory=threading.Event)
    draining: threading.Event = field(default_factory=threading.Event)

    def may_start(self) -> bool:
        """Whether this process may still believe that it holds the lease."""
        return not self.lost.is_set() and time.monotonic() < self.deadline

    def drain(self, flag: threading.Event, reason: str) -> None:
        """Raise `flag` and have the graph stop at the next step's boundary."""
        flag.set()
        self.control.request_drain(reason)


_current: ContextVar[Authority | None] = ContextVar("signalbox_authority", default=None)


def current() -> Authority | None:
    """The authority under which this code runs; None outside a driven graph."""
    return _current.get()


class using:  # noqa: N801 (reads as a verb: `with authority.using(...)`)
    """Run the block under this authority; None: as Signalbox itself, though a node called it."""

    def __init__(self, authority: Authority | None) -> None:
        self._authority = authority

    def __enter__(self) -> Authority | None:
        self._token = _current.set(self._authority)
        return self._authority

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)
