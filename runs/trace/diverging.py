"""Two attempts of one run side by side, and where the later one went another way.

1. The steps of both are lined up by the checkpoint from which they ran: from the same checkpoint
   the same nodes run. What can differ is what these nodes do, and so what they write.
2. What they did outside is lined up by its place in the graph and its kind: what has one key is
   the same thing, what is known to replace another thing stands beside that, the rest is taken in
   order. They went another way where one asked for another thing. What only one of them has is no
   proof of that: the other may not have come to it, or may have found it done.
3. An attempt that was lost has saved nothing of its last step. That it was at work there is told by
   what it did outside, and by what was to run from where it stood.
4. What tasks saved between two checkpoints stays, so a task of such a step may have run once only.
5. Arguments are compared as they are and shown masked. Where only hidden values differ, that is
   said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal
from uuid import UUID

from django.db import connection

from runs import chain, masking, statements
from runs.chain import Checkpoint
from runs.masking import Cloak
from runs.status import Outcome
from runs.story import Deed
from runs.trace import listing, showing
from runs.trace.attempts import Row

MOST = 30
"""Steps that are lined up: the last of the first attempt, and the first of the second."""
BEGINNING = ""

Did = Literal["saved", "asked", "at_work", "had_it", "not_reached"]
"""It saved this step; it stopped there to ask; it was at it and did not save it; it went on from
what an earlier attempt had saved; it did not come so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What one attempt did at one step."""

    did: Did
    node: str
    """What ran, or was to run."""
    saved: Checkpoint | None = None
    """What came of it."""
    deeds: list[Deed] = field(default_factory=list)

    @property
    def tried(self) -> bool:
        return self.did in ("saved", "asked", "at_work")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """What both did outside at one place, or what is recorded of one of them only."""

    first: Deed | None
    second: Deed | None
    before: object = None
    after: object = None
    """The arguments of both, masked."""
    differs: bool = False
    hidden: bool = False
    """They differ in what is hidden from this reader only."""
    other_key: bool = False
    """The arguments are the same: what differs is the key that the agent gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One row: the same step in both attempts."""

    start: Checkpoint | None
    """From which it runs; None: from the beginning."""
    first: Cell
    second: Cell
    pairs: list[Pair]

    @property
    def both(self) -> bool:
        return self.first.tried and self.second.tried

    @property
    def differing(self) -> list[Pair]:
        return [pair for pair in self.pairs if pair.differs] if self.both else []

    @property
    def diverges(self) -> bool:
        return bool(self.differing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two attempts, the earlier one first."""

    first: Row
    second: Row
    steps: list[Step]
    cut: bool
    """There are more steps than are lined up."""

    @property
    def shared(self) -> Step | None:
        """The step that both were at, if there is one."""
        return next((step for step in self.steps if step.both), None)

    @property
    def divergence(self) -> Step | None:
        """The first step at which they went different ways."""
        return next((step for step in self.steps if step.diverges), None)


def compare(run_id: UUID, first: Row, second: Row, hides: Cloak | None) -> Comparison:
    """`first` is the earlier one."""
    tracks = [_track(run_id, first, last=True), _track(run_id, second, last=False)]
    starts = sorted({start for track in tracks for start in track.cells})
    known = {
        row.id: row for track in tracks for row in (*track.known.values(),) if row.id in starts
    }
    steps = [
        Step(
            start=known.get(start),
            first=(one := _cell(tracks[0], start, known)),
            second=(two := _cell(tracks[1], start, known)),
            pairs=list(_pairs(one.deeds, two.deeds, hides)),
        )
        for start in starts
    ]
    return Comparison(
        first=first, second=second, steps=steps, cut=any(track.cut for track in tracks)
    )


@dataclass(slots=True, kw_only=True)
class _Track:
    """What one attempt did, by the id of the checkpoint from which it did it."""

    begins: str
    """Where it took the run up."""
    cells: dict[str, Cell]
    known: dict[str, Checkpoint]
    cut: bool


def _track(run_id: UUID, row: Row, *, last: bool) -> _Track:
    ids = listing.ids(run_id, after="" if last else "0", fence=row.fence, most=MOST + 1)
    saved = chain.rows(run_id, only=ids[:MOST], most=MOST) if ids else []
    known = {each.id: each for each in listing.parents(run_id, saved).values()}
    stands = row.stands_at
    if stands is not None:
        known.setdefault(stands.id, stands)
    deeds = _by_start(run_id, row.deeds, stands.id if stands else BEGINNING)
    cells = {each.parent_id or BEGINNING: _saved_cell(each, known, deeds) for each in saved}
    at = stands.id if stands else BEGINNING
    if at not in cells and (at in deeds or _was_at_work(row)):
        did: Did = "asked" if row.state.value == Outcome.WAITED else "at_work"
        cells[at] = Cell(did=did, node=_due(stands, deeds[at]), deeds=deeds[at])
    for start, done in deeds.items():
        if start not in cells:
            cells[start] = Cell(did="at_work", node=_due(known.get(start), done), deeds=done)
    begins = row.resumed_from.id if row.resumed_from else BEGINNING
    return _Track(begins=begins, cells=cells, known=known, cut=len(ids) > MOST)


def _saved_cell(
    saved: Checkpoint, known: dict[str, Checkpoint], deeds: dict[str, list[Deed]]
) -> Cell:
    start = saved.parent_id or BEGINNING
    parent = known.get(start)
    return Cell(
        did="saved",
        node=parent.nodes if parent else "input",
        saved=saved,
        deeds=deeds.get(start, []),
    )


def _was_at_work(row: Row) -> bool:
    """Something was to run where it ended."""
    stands = row.stands_at
    return row.state.value not in (Outcome.FINISHED, Outcome.OPEN) and (
        stands is None or bool(stands.nodes)
    )


def _due(stands: Checkpoint | None, deeds: Sequence[Deed]) -> str:
    """What was to run there; what the deeds say where that is not known."""
    if stands is not None and stands.nodes:
        return stands.nodes
    return ", ".join(sorted({deed.node for deed in deeds if deed.node})) or "input"


def _by_start(run_id: UUID, deeds: Sequence[Deed], otherwise: str) -> dict[str, list[Deed]]:
    """By the checkpoint from which their task ran; one that never saved anything was the last."""
    with connection.cursor() as cursor:
        cursor.execute(
            statements.read("runs", "starts"),
            {"thread": str(run_id), "tasks": sorted({deed.task for deed in deeds})},
        )
        starts = dict(cursor.fetchall())
    found: dict[str, list[Deed]] = defaultdict(list)
    for deed in deeds:
        found[starts.get(deed.task, otherwise)].append(deed)
    return found


def _cell(track: _Track, start: str, known: dict[str, Checkpoint]) -> Cell:
    if start in track.cells:
        return track.cells[start]
    there = known.get(start)
    had = start < track.begins
    return Cell(did="had_it" if had else "not_reached", node=there.nodes if there else "input")


def _pairs(first: Iterable[Deed], second: Iterable[Deed], hides: Cloak | None) -> Iterator[Pair]:
    lined: dict[tuple[str, str], tuple[list[Deed], list[Deed]]] = {}
    for side, deeds in enumerate((first, second)):
        for deed in deeds:
            lined.setdefault((deed.place, deed.kind), ([], []))[side].append(deed)
    for ours, theirs in lined.values():
        for one, other in _lined_up(ours, theirs):
            yield _pair(one, other, hides)


def _lined_up(
    ours: Sequence[Deed], theirs: Sequence[Deed]
) -> Iterator[tuple[Deed | None, Deed | None]]:
    by_key = {deed.key: deed for deed in ours}
    rest: list[Deed] = []
    met: set[str] = set()
    for other in theirs:
        one = by_key.get(other.instead_of) or by_key.get(other.key)
        if one is None:
            rest.append(other)
        else:
            met.add(one.key)
            yield one, other
    yield from zip_longest([deed for deed in ours if deed.key not in met], rest)


def _pair(one: Deed | None, other: Deed | None, hides: Cloak | None) -> Pair:
    if one is None or other is None:
        return Pair(first=one, second=other)
    before, after = (
        masking.arguments(deed.args, lambda each: showing.masked(each, hides).value)
        for deed in (one, other)
    )
    differs, same = one.key != other.key, one.args == other.args
    return Pair(
        first=one,
        second=other,
        before=before,
        after=after,
        differs=differs,
        hidden=differs and not same and before == after,
        other_key=differs and same,
    )
