"""The chain held against itself: contents against digests, links against what they were made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from audit import canonical
from audit.seal import GENESIS, linked
from audit.verify import report
from audit.verify.reading import Held, Place
from audit.verify.report import Findings, Head

LATE = timedelta(hours=2)
"""An entry that is older by this than one sealed before it did not just commit late: the sealer's
hourly pass over everything would have found it."""
MOST_SWAPS = 50
"""Broken links among which exchanged entries are looked for; the work grows with the square."""


@dataclass(slots=True, kw_only=True)
class _Broken:
    """A seal whose hash does not come from the seal before it and from its entry."""

    previous: str
    before: int
    """The entry of the seal before it; 0: it is the first."""
    seal: Place
    entry: Held

    def fits(self, other: Held) -> bool:
        """Whether this seal was made for what `other` says now."""
        return any(
            self.seal.hash == _link(self.previous, self.seal, entry_id, other)
            for entry_id in (self.entry.id, other.id)
        )


@dataclass(slots=True, kw_only=True)
class Links:
    """One walk along the chain."""

    found: Findings
    head: Head = field(default_factory=lambda: Head(seq=0, hash=GENESIS))
    newest: str = ""
    """The latest time among the entries sealed so far."""
    checked: int = 0
    waiting: int = 0
    before: int = 0
    """The entry of the seal before."""
    broken: list[_Broken] = field(default_factory=list)

    @property
    def enough(self) -> bool:
        return len(self.found.problems) + len(self.broken) >= report.MOST_PROBLEMS

    def place(self, seal: Place) -> None:
        """The next place of the chain."""
        entry = seal.entry
        previous, self.head = self.head, Head(seq=seal.seq, hash=seal.hash)
        self.checked += 1
        if entry is None:
            what = f"Entry {seal.entry_id}, sealed at place {seal.seq}, is gone."
            self.found.add("missing", what, seal.entry_id, seal.seq)
        else:
            self._content(entry, seal.seq)
            self._age(entry, seal.seq)
            # Whatever an entry claims, it is not younger than its seal.
            self.newest = max(self.newest, min(entry.at, seal.sealed_at))
        if seal.seq != previous.seq + 1:
            what = f"Seals {previous.seq + 1} to {seal.seq - 1} are gone."
            self.found.add("gap", what, seq=previous.seq + 1)
        elif entry and seal.hash != _link(previous.hash, seal, entry.id, entry):
            self.broken.append(
                _Broken(previous=previous.hash, before=self.before, seal=seal, entry=entry)
            )
        self.before = seal.entry_id

    def not_sealed(self, entry: Held) -> None:
        """An entry that no seal names yet."""
        self.waiting += 1
        self._content(entry, None)
        self._age(entry, None)

    def end(self, known: set[int]) -> None:
        """Say what broken links mean, but for entries of which more is `known` than that."""
        named = self.found.entries() | known
        for one in self.broken:
            # A seal that is not where it was made does not fit the one after it either.
            if not named & {one.entry.id, one.before}:
                self._explain(one)

    def _content(self, entry: Held, seq: int | None) -> None:
        if not canonical.matches(entry.content, entry.digest):
            what = f"Entry {entry.id} does not say what it said when it was recorded."
            self.found.add("altered", what, entry.id, seq)

    def _age(self, entry: Held, seq: int | None) -> None:
        if entry.at < self.newest and _is_late(entry.at, self.newest):
            what = (
                f"Entry {entry.id} claims to be from {entry.at}, but the log had been "
                f"sealed up to {self.newest} without it."
            )
            self.found.add("late", what, entry.id, seq)

    def _explain(self, one: _Broken) -> None:
        others = (other.entry for other in self.broken if other is not one)
        few = len(self.broken) <= MOST_SWAPS
        origin = next((other for other in others if few and one.fits(other)), None)
        if origin:
            what = f"Place {one.seal.seq} holds entry {one.entry.id} where {origin.id} was."
            self.found.add("reordered", what, one.entry.id, one.seal.seq)
        else:
            what = (
                f"The seal at place {one.seal.seq} fits neither entry {one.entry.id} nor the "
                "seal before it: one of them was altered, replaced or moved."
            )
            self.found.add("broken", what, one.entry.id, one.seal.seq)


def _is_late(at: str, newest: str) -> bool:
    try:
        return datetime.fromisoformat(newest) - datetime.fromisoformat(at) > LATE
    except ValueError:  # no time that Python knows, so none that we recorded
        return True


def _link(previous: str, seal: Place, entry_id: int, entry: Held) -> str:
    return linked(previous, seal.seq, seal.sealed_at, entry_id, entry.digest, entry.at)
