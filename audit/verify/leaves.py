"""Holding the chain against what was signed when it was sealed.

1. What the signatures promise and what the chain holds are walked side by side, by place. Where
   they name different entries, both wait until the other side names them too.
2. An entry that was promised and never comes is gone; one that comes and was never promised was put
   in; one that comes elsewhere was moved, unless so many went or came before it that its place had
   to change; one with another leaf was altered.
3. Places that no genuine signature covers are named as ranges.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from audit import signatures, signing
from audit.models import Entry
from audit.signatures import Promise
from audit.verify import reading, report
from audit.verify.reading import Place
from audit.verify.report import Findings


@dataclass(slots=True)
class _Run:
    """Neighbours that were moved by the same number of places."""

    seq: int
    """The first place that was promised."""
    by: int
    ids: list[int] = field(default_factory=list)
    length: int = 0

    def takes(self, seq: int, by: int) -> bool:
        return by == self.by and seq == self.seq + self.length

    def add(self, entry_id: int) -> None:
        self.length += 1
        if len(self.ids) < report.MOST_PROBLEMS:
            self.ids.append(entry_id)


class Leaves:
    """One walk along the signatures."""

    def __init__(self, found: Findings, upto: reading.Extent) -> None:
        self.signed = 0
        """Places of the chain that a genuine signature covers."""
        self.unsigned: list[tuple[int, int]] = []
        self._found = found
        self._upto = upto
        self._promises = self._all_promises()
        self._next = next(self._promises, None)
        self._lost: dict[int, Promise] = {}
        self._strange: dict[int, Promise] = {}
        self._runs: list[_Run] = []

    def place(self, seal: Place) -> None:
        """The next place of the chain."""
        while self._next and self._next.seq < seal.seq:
            self._lose(self._next)
            self._next = next(self._promises, None)
        held = Promise(seal.seq, seal.entry_id, _leaf(seal))
        if self._next is None or self._next.seq > seal.seq:
            if held.entry_id in self._lost:  # it was signed, for a place before this one
                self._find(held)
            else:
                self._not_signed(seal.seq)
            return
        self.signed += 1
        promise, self._next = self._next, next(self._promises, None)
        if held.entry_id == promise.entry_id:
            self._compare(promise, held)
        else:
            self._lose(promise)
            self._find(held)

    def end(self) -> None:
        """The chain is at its end: say what was gone, put in and moved."""
        while self._next and not self.enough:
            self._lose(self._next)
            self._next = next(self._promises, None)
        gone = sorted(promise.seq for promise in self._lost.values())
        new = sorted(held.seq for held in self._strange.values())
        self._name_lost()
        for held in self._strange.values():
            what = f"Entry {held.entry_id}, at place {held.seq}, was put in: it was never sealed."
            self._found.add("inserted", what, held.entry_id, held.seq)
        for run in self._runs:
            seq = run.seq + run.by
            if run.by != bisect_left(new, seq) - bisect_left(gone, run.seq):
                self._name_moved(run)

    @property
    def enough(self) -> bool:
        """More is wrong than is listed."""
        wrong = len(self._lost) + len(self._strange) + len(self._found.problems)
        return wrong >= report.MOST_PROBLEMS

    # --- what was signed -------------------------------------------------------------------------

    def _all_promises(self) -> Iterator[Promise]:
        """What genuine signatures promise, in order; what is wrong with the others is noted."""
        keys, strangers, end = signing.known(), set(), 0
        for row in reading.signed(self._upto):
            key = keys.get(row.key_id)
            where = f"places {row.first} to {row.last}"
            if key is None:
                if row.key_id not in strangers:
                    self._found.add("key", _unknown(row.key_id, where), seq=row.first)
                strangers.add(row.key_id)
            elif not signatures.holds(row, key):
                what = f"The signature of {where} is not genuine: it was altered."
                self._found.add("signature", what, seq=row.first)
            elif row.first <= end:
                what = f"Seals were removed and made anew: {where} were signed twice."
                self._found.add("signature", what, seq=row.first)
            else:
                end = row.last
                yield from signatures.promises(row)

    def _not_signed(self, seq: int) -> None:
        if self.unsigned and self.unsigned[-1][1] == seq - 1:
            self.unsigned[-1] = (self.unsigned[-1][0], seq)
        else:
            self.unsigned.append((seq, seq))

    # --- entries that are not where they were promised -------------------------------------------

    def _lose(self, promise: Promise) -> None:
        held = self._strange.pop(promise.entry_id, None)
        if held is None:
            self._lost[promise.entry_id] = promise
        else:
            self._moved(promise, held)

    def _find(self, held: Promise) -> None:
        promise = self._lost.pop(held.entry_id, None)
        if promise is None:
            self._strange[held.entry_id] = held
        else:
            self._moved(promise, held)

    def _moved(self, promise: Promise, held: Promise) -> None:
        self._compare(promise, held)
        by = held.seq - promise.seq
        run = next((run for run in reversed(self._runs[-4:]) if run.takes(promise.seq, by)), None)
        if run is None:
            run = _Run(seq=promise.seq, by=by)
            self._runs.append(run)
        run.add(promise.entry_id)

    def _compare(self, promise: Promise, held: Promise) -> None:
        if held.leaf not in (promise.leaf, b""):
            what = f"Entry {held.entry_id} is not what it was when it was sealed and signed."
            self._found.add("altered", what, held.entry_id, held.seq)

    def shifted(self) -> set[int]:
        """Entries that are as they were, but for places that went or came before them."""
        return {entry_id for run in self._runs for entry_id in run.ids}

    def _name_lost(self) -> None:
        still = set(Entry.objects.filter(id__in=list(self._lost)).values_list("id", flat=True))
        for promise in self._lost.values():
            end = "is in the chain no longer" if promise.entry_id in still else "is gone"
            what = f"Entry {promise.entry_id}, sealed at place {promise.seq}, {end}."
            self._found.add("missing", what, promise.entry_id, promise.seq)

    def _name_moved(self, run: _Run) -> None:
        for place, entry_id in enumerate(run.ids, start=run.seq):
            what = f"Entry {entry_id} was sealed at place {place} and is at {place + run.by} now."
            self._found.add("reordered", what, entry_id, place + run.by)


def _leaf(place: Place) -> bytes:
    """The leaf of what the chain holds; empty where the entry is gone, which its seal tells."""
    entry = place.entry
    if entry is None:
        return b""
    return signatures.leaf(entry.id, entry.digest, entry.at, place.sealed_at)


def _unknown(key_id: str, where: str) -> str:
    return (
        f"The key {key_id} that signed {where} is not known here. If it is yours, add its public"
        " half to AUDIT_PUBLIC_KEYS."
    )
