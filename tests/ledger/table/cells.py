"""The cells of the table: who guards x what is found on reserve x how the call ends.

What is expected is written down here as data and owes nothing to the code that it is about:

1. FIRST says what may be done about what is found, for each guard: make the call, make it again
   under the same key, ask the provider, put it in doubt, or tell what is stored.
2. AFTER says what a fresh call leads to, and how many requests the provider receives for it.
3. AGAIN says how many it receives if it remembers the key and performed under it before.

A row of FIRST that makes no call is one cell, in which every end lies in wait and none may come.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

GUARDS = ("provider", "provider_blind", "lookup", "ledger")
"""`provider_blind` deduplicates but cannot be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How the call of a cell ends."""

    fault: str = ""
    """What fakepay does: see `agents.fakepay.faults`."""
    read: float = 10.0
    """Seconds that the tool waits for an answer."""
    closed: bool = False
    """Nobody listens where the call goes."""
    killed_at: str = ""
    """The kill point at which the worker process gets SIGKILL."""


IMPATIENT = 0.1
ENDS: dict[str, End] = {
    "success": End(),
    "402": End(fault="402"),
    "409": End(fault="409"),
    "429": End(fault="429:120"),
    "503": End(fault="503"),
    "500_before": End(fault="500_before"),
    "500_after": End(fault="500_after"),
    "timeout_before": End(fault="delay:0.25,drop_before", read=IMPATIENT),
    "timeout_then_performed": End(fault="delay:0.25", read=IMPATIENT),
    "timeout_after": End(fault="delay_after:0.25", read=IMPATIENT),
    "cut_before": End(fault="drop_before"),
    "cut_after": End(fault="drop_after"),
    "no_connection": End(closed=True),
    "killed_reserved": End(killed_at="effect.reserved"),
    "killed_called": End(killed_at="effect.called"),
    "killed_settled": End(killed_at="effect.settled"),
}

CALL, AGAIN, ASK, DOUBT, TELL = "call", "again", "ask", "doubt", "tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a driver finds when it reserves, and what of it has happened outside."""

    performed: int
    received: int
    """Requests that the provider has received already."""
    first: dict[str, str]
    """What is to be done about it, for each guard."""
    told: str = ""
    """How the effect stands where there is nothing to do."""


def each(provider: str, blind: str, lookup: str, ledger: str) -> dict[str, str]:
    return dict(zip(GUARDS, (provider, blind, lookup, ledger), strict=True))


FOUND: dict[str, Found] = {
    "nothing": Found(performed=0, received=0, first=each(CALL, CALL, CALL, CALL)),
    "open_here": Found(performed=0, received=0, first=each(CALL, CALL, CALL, CALL)),
    "open_dead_unsent": Found(performed=0, received=0, first=each(AGAIN, AGAIN, ASK, DOUBT)),
    "open_dead_performed": Found(performed=1, received=1, first=each(AGAIN, AGAIN, ASK, DOUBT)),
    "unknown_unperformed": Found(performed=0, received=1, first=each(AGAIN, AGAIN, ASK, DOUBT)),
    "unknown_performed": Found(performed=1, received=1, first=each(AGAIN, AGAIN, ASK, DOUBT)),
    "refused_for_now": Found(performed=0, received=1, first=each(CALL, CALL, CALL, CALL)),
    "allowed_by_a_person": Found(performed=0, received=0, first=each(CALL, CALL, CALL, CALL)),
    "key_too_old_unperformed": Found(performed=0, received=1, first=each(ASK, DOUBT, ASK, DOUBT)),
    "key_too_old_performed": Found(performed=1, received=1, first=each(ASK, DOUBT, ASK, DOUBT)),
    "refused_for_good": Found(
        performed=0, received=1, first=each(TELL, TELL, TELL, TELL), told="failed"
    ),
    "sent": Found(performed=1, received=1, first=each(TELL, TELL, TELL, TELL), told="done"),
    "confirmed": Found(performed=1, received=1, first=each(TELL, TELL, TELL, TELL), told="done"),
    "in_doubt_unperformed": Found(
        performed=0, received=0, first=each(TELL, TELL, TELL, TELL), told="in_doubt"
    ),
    "in_doubt_performed": Found(
        performed=1, received=1, first=each(TELL, TELL, TELL, TELL), told="in_doubt"
    ),
}

MANY = 20
"""A provider that says "in progress" may be asked so often."""
After = tuple[str, int, int]
"""How the effect stands at last; the fewest and the most requests received for it."""

_SHARED: dict[str, After] = {
    "success": ("done", 1, 1),
    "402": ("failed", 1, 1),
    "429": ("done", 2, 2),
    "no_connection": ("done", 1, 1),
    "killed_settled": ("done", 1, 1),
}
_KEYED: dict[str, After] = _SHARED | {
    "409": ("done", 2, 2),
    "503": ("done", 2, 2),
    "500_before": ("done", 3, 3),  # its stored 500 is recognised, asked about, and the key changed
    "500_after": ("done", 2, 2),  # the same, and found
    "timeout_before": ("done", 2, MANY),
    "timeout_then_performed": ("done", 2, MANY),
    "timeout_after": ("done", 2, MANY),
    "cut_before": ("done", 2, 2),
    "cut_after": ("done", 2, 2),
    "killed_reserved": ("done", 1, 1),
    "killed_called": ("done", 2, 2),
}
AFTER: dict[str, dict[str, After]] = {
    "provider": _KEYED,
    "provider_blind": _KEYED | {"500_before": ("in_doubt", 2, 2), "500_after": ("in_doubt", 2, 2)},
    "lookup": _SHARED
    | {
        "409": ("done", 2, 2),
        "503": ("done", 2, 2),
        "500_before": ("done", 2, 2),
        "500_after": ("done", 1, 1),
        "timeout_before": ("done", 2, 2),
        "timeout_then_performed": ("done", 1, 1),
        "timeout_after": ("done", 1, 1),
        "cut_before": ("done", 2, 2),
        "cut_after": ("done", 1, 1),
        "killed_reserved": ("done", 1, 1),
        "killed_called": ("done", 1, 1),
    },
    "ledger": _SHARED
    | {
        "409": ("in_doubt", 1, 1),
        "503": ("in_doubt", 1, 1),
        "500_before": ("in_doubt", 1, 1),
        "500_after": ("in_doubt", 1, 1),
        "timeout_before": ("in_doubt", 1, 1),
        "timeout_then_performed": ("in_doubt", 1, 1),
        "timeout_after": ("in_doubt", 1, 1),
        "cut_before": ("in_doubt", 1, 1),
        "cut_after": ("in_doubt", 1, 1),
        "killed_reserved": ("in_doubt", 0, 0),
        "killed_called": ("in_doubt", 1, 1),
    },
}
AGAIN_PERFORMED: dict[str, After] = {
    "success": ("done", 1, 1),
    "402": ("done", 1, 1),  # the endpoint does not run a second time
    "409": ("done", 2, 2),
    "429": ("done", 2, 2),
    "503": ("done", 2, 2),
    "500_before": ("done", 1, 1),
    "500_after": ("done", 1, 1),
    "timeout_before": ("done", 2, 2),
    "timeout_then_performed": ("done", 2, 2),
    "timeout_after": ("done", 2, 2),
    "cut_before": ("done", 2, 2),
    "cut_after": ("done", 2, 2),
    "no_connection": ("done", 1, 1),
    "killed_reserved": ("done", 1, 1),
    "killed_called": ("done", 2, 2),
    "killed_settled": ("done", 1, 1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One case, and how it has to come out."""

    guard: str
    found: str
    end: str
    """Empty: no call may be made, whatever would come of it."""
    standing: str
    fewest: int
    most: int
    """Requests that the provider may have received in all."""

    def __str__(self) -> str:
        return f"{self.guard}-{self.found}-{self.end or 'any'}"


def every() -> Iterator[Cell]:
    """All cells of the table."""
    for guard in GUARDS:
        for name, found in FOUND.items():
            yield from _row(guard, name, found)


def _row(guard: str, name: str, found: Found) -> Iterator[Cell]:
    first, before = found.first[guard], found.received
    if first == ASK:
        first = TELL if found.performed else CALL
    if first in (TELL, DOUBT):
        standing = "in_doubt" if first == DOUBT else found.told or "done"
        yield _cell(guard, name, "", (standing, before, before))
        return
    ends = AGAIN_PERFORMED if first == AGAIN and found.performed else AFTER[guard]
    for end in ENDS:
        standing, fewest, most = ends[end]
        yield _cell(guard, name, end, (standing, before + fewest, before + most))


def _cell(guard: str, found: str, end: str, after: After) -> Cell:
    standing, fewest, most = after
    return Cell(guard=guard, found=found, end=end, standing=standing, fewest=fewest, most=most)
