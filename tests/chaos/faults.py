"""What goes wrong, and when: a plan per run, drawn from the seed and from nothing else.

At each place a run reaches, its next random number says whether a fault happens: the process is
killed, frozen for longer than the lease, or the node raises. How many places a run has reached, and
how many faults it has had, is counted in memory that all processes share, so it survives them.
"""

from __future__ import annotations

import inspect
import os
import random
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from multiprocessing.sharedctypes import RawArray
from typing import Any

from tests.chaos import record


class Kind(IntEnum):
    KILL = 0
    """SIGKILL of the process; sometimes a moment later, so that its other threads go on."""
    FREEZE = 1
    """SIGSTOP of the process; its parent continues it when the lease has long run out."""
    LAPSE = 2
    """The node raises an error that may pass, by its class."""
    GRUMBLE = 3
    """The node raises an error that looks permanent; the agent's declaration says it may pass."""
    REFUSE = 4
    """The node raises because it cannot use the answer it was given."""
    LINGER = 5
    """The thread waits a moment, while others go on."""


OFTEN = {
    Kind.KILL: 0.05,
    Kind.FREEZE: 0.02,
    Kind.LAPSE: 0.08,
    Kind.GRUMBLE: 0.08,
    Kind.REFUSE: 0.3,
    Kind.LINGER: 0.04,
}
"""How probable each is at one place that allows it, while the run has some left."""
OFTENER = {
    ("saver.put", Kind.KILL): 0.1,
    ("lease.lock", Kind.LINGER): 0.25,
}
"""The same, for places that are reached less often than others, and where much can go wrong."""
MOMENT = (0.05, 0.4)
"""Seconds that a lingering thread waits; less than a lease."""
ANYWHERE = (Kind.KILL, Kind.FREEZE, Kind.LINGER)
IN_A_NODE = (*ANYWHERE, Kind.LAPSE, Kind.GRUMBLE)
AFTER_AN_ANSWER = (*IN_A_NODE, Kind.REFUSE)


class Lapse(ConnectionError):
    """The harness raised this; it may pass."""


class Grumble(ValueError):
    """The harness raised this; it looks permanent."""


class Refusal(ValueError):
    """The harness raised this instead of using an answer."""


def may_pass(exc: BaseException) -> bool | None:
    """The `transient` of the declarations."""
    if isinstance(exc, Grumble):
        return True
    return False if isinstance(exc, Refusal) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many faults of each kind one run can have."""

    seed: int
    number: int
    most: Mapping[Kind, int]

    @classmethod
    def draw(cls, seed: int, number: int) -> Plan:
        rng = random.Random(f"{seed}/{number}")  # noqa: S311 (times of faults)
        most = {
            Kind.KILL: rng.choice((0, 1, 2, 3, 4, 6)),
            Kind.FREEZE: rng.choice((0, 0, 0, 1, 1, 2)),
            Kind.LAPSE: rng.choice((0, 0, 1, 2, 3)),
            Kind.GRUMBLE: rng.choice((0, 0, 1, 2)),
            Kind.REFUSE: rng.choice((0, 0, 0, 1, 2)),
            Kind.LINGER: rng.choice((0, 1, 2, 4)),
        }
        return cls(seed=seed, number=number, most=most)

    def next(self, place: str, nth: int, kinds: Sequence[Kind], had: Sequence[int]) -> Kind | None:
        """What happens at the nth place, if anything, after `had` faults of each kind."""
        rng = random.Random(f"{self.seed}/{self.number}/{nth}")  # noqa: S311 (times of faults)
        drawn = {kind: rng.random() for kind in Kind}
        left = (kind for kind in kinds if had[kind] < self.most[kind])
        often = {kind: OFTENER.get((place, kind), OFTEN[kind]) for kind in kinds}
        return next((kind for kind in left if drawn[kind] < often[kind]), None)


@dataclass(slots=True)
class Board:
    """The plans of all runs and what has happened to each so far. Shared by forked processes."""

    plans: list[Plan]
    index: Mapping[str, int] = field(default_factory=dict)
    """Run id to number."""
    counts: Any = None
    width: int = len(Kind) + 1

    def __post_init__(self) -> None:
        self.counts = RawArray("i", max(1, len(self.plans)) * self.width)

    def draw(self, place: str, run: str, kinds: Sequence[Kind]) -> Kind | None:
        """Count one place more for the run, and one fault if there is one."""
        number = self.index.get(run)
        if number is None:
            return None
        start = number * self.width
        self.counts[start] += 1
        had = self.counts[start + 1 : start + self.width]
        kind = self.plans[number].next(place, self.counts[start], kinds, had)
        if kind is not None:
            self.counts[start + 1 + kind] += 1
        return kind


_board: Board | None = None


def use(board: Board) -> None:
    """From now on faults happen in this process, as the board says."""
    global _board
    _board = board


def reach(place: str, run: str, kinds: Sequence[Kind] = ANYWHERE) -> None:
    """A place that the run has reached. Kills, freezes, raises, or returns."""
    kind = _board.draw(place, run, kinds) if _board is not None else None
    if kind is None:
        return
    record.note(run, place, "fault", kind.name.lower())
    match kind:
        case Kind.KILL:
            if random.random() < 0.5:  # noqa: S311 (length of a wait)
                _linger()
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(10)  # nothing more is done until it arrives
        case Kind.FREEZE:
            if place == "saver.pipeline":
                _send_what_is_queued()
            # To this very thread: otherwise another one might be the one that has to stop it.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)
        case Kind.LINGER:
            _linger()
        case Kind.LAPSE:
            raise Lapse(place)
        case Kind.GRUMBLE:
            raise Grumble(place)
        case Kind.REFUSE:
            raise Refusal(place)


def _linger() -> None:
    time.sleep(random.uniform(*MOMENT))  # noqa: S311 (length of a wait)


def _send_what_is_queued() -> None:
    """Statements leave a pipeline when its buffer is full: have the server lock the lease now."""
    frame = inspect.currentframe()
    while frame is not None and "cursor" not in frame.f_locals:
        frame = frame.f_back
    if frame is not None:
        frame.f_locals["cursor"].connection.pgconn.flush()


def only_kill(place: str, run: str) -> None:
    """For processes of people, which hold no lease: freezing them shows nothing."""
    reach(place, run, (Kind.KILL,))
