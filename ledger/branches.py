"""Who in this process wants which effect: threads and tasks of one driver that meet at one call.

1. Whose node is at an effect will learn how its call ends, so nobody else resolves that call.
2. Whoever waits for a call of another branch is told when something has changed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from ledger.keys import Intent


@dataclass(slots=True)
class Busy:
    """The threads and tasks of one driver that want one effect."""

    wanting: int = 0
    resolving: int = 0
    news: threading.Event = field(default_factory=threading.Event)

    def announce(self) -> None:
        """Tell all who wait that something has changed."""
        old, self.news = self.news, threading.Event()
        old.set()


_all: dict[tuple[str, int], Busy] = {}
_guard = threading.Lock()


@contextmanager
def at(intent: Intent) -> Iterator[Busy]:
    """Be counted among those who want this effect."""
    name = (intent.key, intent.fence)
    change = (0, 1) if intent.resolving else (1, 0)
    with _guard:
        busy = _all.setdefault(name, Busy())
        busy.wanting, busy.resolving = busy.wanting + change[0], busy.resolving + change[1]
    try:
        yield busy
    finally:
        with _guard:
            busy.wanting, busy.resolving = busy.wanting - change[0], busy.resolving - change[1]
            if not busy.wanting and not busy.resolving:
                del _all[name]
        busy.announce()


def in_hand(fence: int, key: str) -> bool:
    """Whether a node of this driver is at it, so that its end will be known without us."""
    return wanting(fence, key) > 0


def wanting(fence: int, key: str) -> int:
    """How many branches of this driver want the effect."""
    with _guard:
        busy = _all.get((key, fence))
        return busy.wanting if busy is not None else 0
