"""What holds runs up from outside: whether workers live, know an agent, are busy, and are rung."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from accounts import once
from runs import dispatch, signs, workers
from runs.models import Worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The workers that know one agent."""

    slots: int
    """How many runs they drive at once; 0: some of them does not say."""
    taken: int

    @property
    def full(self) -> bool:
        return 0 < self.slots <= self.taken


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """As of one look."""

    rooms: Mapping[str, Room] = field(default_factory=dict)
    """By agent; an agent that no live worker knows has none."""
    anybody: bool = False
    """Some worker that takes runs is alive."""
    broker: bool = True
    sweeper: bool = True


def look() -> House:
    """Four queries, and the broker is asked now and then."""
    driving = workers.driving()
    return House(
        rooms=rooms(),
        anybody=bool(driving),
        broker=dispatch.reachable(),
        sweeper=signs.sweeper().well,
    )


@once.a_page
def rooms() -> dict[str, Room]:
    """By agent. Two queries."""
    driving, taken = workers.driving(), workers.taken()
    knowing: dict[str, list[Worker]] = {}
    for worker in driving:
        for agent in worker.agents:
            knowing.setdefault(agent, []).append(worker)
    return {
        agent: Room(
            slots=sum(each.slots for each in able) if all(each.slots for each in able) else 0,
            taken=sum(taken.get(each.name, 0) for each in able),
        )
        for agent, able in knowing.items()
    }
