"""Proving the audit log, or naming what is wrong with it.

What this can prove: no sealed entry was altered, removed, added or moved, except at the very end.
Whoever can write to the database as its owner can cut off the newest seals together with their
entries, or make a whole new chain. So note the head that `verify` reports somewhere else, and hand
it in the next time: a chain that was cut or remade does not go through a head noted before.
Entries not yet sealed are checked against their own digests only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from audit import canonical
from audit.models import Entry, Seal
from audit.seal import BELOW_ALL, GENESIS, Digested, link, unsealed

LATE = timedelta(hours=2)
"""An entry that is older by this than one sealed before it did not just commit late: the sealer's
hourly pass over everything would have found it."""
MOST_PROBLEMS = 1000
"""Verifying stops here: a log in this state needs no longer list."""
MOST_SWAPS = 50
"""Broken links among which exchanged entries are looked for; the work grows with the square."""
PAGE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A seal that others can be held against."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong.

    `kind` is one of: altered (an entry is not what it was), missing (it is gone), gap (seals are
    gone), broken (a seal does not fit), reordered (two entries were exchanged), late (an entry was
    put in afterwards), head (the chain does not go through the head noted), more (not all listed).
    """

    kind: str
    what: str
    entry_id: int | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What `verify` found."""

    checked: int
    """Sealed entries."""
    unsealed: int
    """Entries that no seal protects yet; a few in a log that is being written."""
    problems: tuple[Problem, ...]
    head: Head | None
    """The newest seal; None in a log without any."""

    @property
    def ok(self) -> bool:
        return not self.problems


def verify(
    noted: Head | None = None, *, progress: Callable[[int], None] = lambda checked: None
) -> Report:
    """Read the whole log and check every digest, every link and every place of the chain.

    `noted` is a head that an earlier report gave. `progress` hears how many entries are done.
    """
    check = _Check(noted=noted)
    for seal, entry in _chain():
        check.sealed(seal, entry)
        if check.checked % PAGE == 0:
            progress(check.checked)
        if check.enough:
            return check.report()
    for entry in _unsealed():
        check.unsealed(entry)
        if check.enough:
            break
    return check.report()


# Both read page by page, each in a statement of its own: nothing long holds back vacuum or meets a
# timeout, and in a log that only grows the pages fit together.


def _chain() -> Iterator[tuple[Seal, Entry | None]]:
    """Every seal in order, with its entry; None where that is gone."""
    seq: int | None = None
    while True:
        seals = Seal.objects.order_by("seq")
        page = list((seals if seq is None else seals.filter(seq__gt=seq))[:PAGE])
        if not page:
            return
        entries = Entry.objects.in_bulk([seal.entry_id for seal in page])
        for seal in page:
            yield seal, entries.get(seal.entry_id)
        seq = page[-1].seq


def _unsealed() -> Iterator[Entry]:
    """Every entry that no seal names."""
    above = BELOW_ALL
    while found := unsealed(above, PAGE * 10):
        for start in range(0, len(found), PAGE):
            ids = [entry.id for entry in found[start : start + PAGE]]
            yield from Entry.objects.filter(id__in=ids).order_by("id")
        above = found[-1].id


@dataclass(slots=True, kw_only=True)
class _Broken:
    """A seal whose hash does not come from the seal before it and from its entry."""

    previous: str
    seal: Seal
    entry: Entry

    def fits(self, other: Entry) -> bool:
        """Whether this seal was made for what `other` says now."""
        return any(
            self.seal.hash == _link(self.previous, self.seal, entry_id, other)
            for entry_id in (self.entry.id, other.id)
        )


@dataclass(slots=True, kw_only=True)
class _Check:
    """One pass over the log."""

    noted: Head | None
    head: Head = field(default_factory=lambda: Head(seq=0, hash=GENESIS))
    newest: datetime | None = None
    """The latest time among the entries sealed so far."""
    checked: int = 0
    waiting: int = 0
    problems: list[Problem] = field(default_factory=list)
    broken: list[_Broken] = field(default_factory=list)

    @property
    def enough(self) -> bool:
        return len(self.problems) + len(self.broken) >= MOST_PROBLEMS

    def sealed(self, seal: Seal, entry: Entry | None) -> None:
        previous, self.head = self.head, Head(seq=seal.seq, hash=seal.hash)
        self.checked += 1
        if self.noted and seal.seq == self.noted.seq and seal.hash != self.noted.hash:
            what = f"Place {seal.seq} has another hash than was noted: the chain was made anew."
            self._add("head", what, seq=seal.seq)
        if entry is None:
            what = f"Entry {seal.entry_id}, sealed at place {seal.seq}, is gone."
            self._add("missing", what, seal.entry_id, seal.seq)
        else:
            self._content(entry, seal.seq)
            self._age(entry, seal.seq)
            self.newest = max(self.newest or entry.at, entry.at)
        if seal.seq != previous.seq + 1:
            what = f"Seals {previous.seq + 1} to {seal.seq - 1} are gone."
            self._add("gap", what, seq=previous.seq + 1)
        elif entry and seal.hash != _link(previous.hash, seal, entry.id, entry):
            self.broken.append(_Broken(previous=previous.hash, seal=seal, entry=entry))

    def unsealed(self, entry: Entry) -> None:
        self.waiting += 1
        self._content(entry, None)
        self._age(entry, None)

    def report(self) -> Report:
        self._explain_broken()
        if self.noted and self.noted.seq > self.head.seq and not self.enough:
            what = f"The chain ends at place {self.head.seq}, but {self.noted.seq} was noted."
            self._add("head", what, seq=self.noted.seq)
        if self.enough:
            self._add("more", f"Stopped after {MOST_PROBLEMS} problems; there may be more.")
        return Report(
            checked=self.checked,
            unsealed=self.waiting,
            problems=tuple(self.problems),
            head=self.head if self.head.seq else None,
        )

    def _content(self, entry: Entry, seq: int | None) -> None:
        if not canonical.matches(entry.content, entry.digest):
            what = f"Entry {entry.id} does not say what it said when it was recorded."
            self._add("altered", what, entry.id, seq)

    def _age(self, entry: Entry, seq: int | None) -> None:
        if self.newest and entry.at + LATE < self.newest:
            what = (
                f"Entry {entry.id} claims to be from {entry.at.isoformat()}, but the log had been "
                f"sealed up to {self.newest.isoformat()} without it."
            )
            self._add("late", what, entry.id, seq)

    def _explain_broken(self) -> None:
        for one in self.broken:
            others = (other.entry for other in self.broken if other is not one)
            few = len(self.broken) <= MOST_SWAPS
            origin = next((other for other in others if few and one.fits(other)), None)
            if origin:
                what = f"Place {one.seal.seq} holds entry {one.entry.id} where {origin.id} was."
                self._add("reordered", what, one.entry.id, one.seal.seq)
            else:
                what = (
                    f"The seal at place {one.seal.seq} fits neither entry {one.entry.id} nor the "
                    "seal before it: one of them was altered, replaced or moved."
                )
                self._add("broken", what, one.entry.id, one.seal.seq)

    def _add(
        self, kind: str, what: str, entry_id: int | None = None, seq: int | None = None
    ) -> None:
        self.problems.append(Problem(kind=kind, what=what, entry_id=entry_id, seq=seq))


def _link(previous: str, seal: Seal, entry_id: int, entry: Entry) -> str:
    return link(previous, seal.seq, seal.sealed_at, Digested(entry_id, entry.digest, entry.at))
