"""A replay of a run: step after step what was given, what came of it, and what happened meanwhile.

1. A step is a saved checkpoint, of the graph or of a subgraph, in the order of saving.
2. What was given is the state of the checkpoint before it in the same graph.
3. Nothing runs again. It shows what is stored, and what retention has taken away is not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from accounts.models import User
from runs import chain
from runs.masking import Cloak
from runs.models import Run
from runs.story import Event
from runs.trace import listing, moments, showing, states
from runs.trace.showing import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One step."""

    place: int
    """Counted from 1."""
    total: int
    result: Shown
    given: Shown | None
    """None: it is the first of its graph, or the one before is not kept any more."""
    took: timedelta | None
    """Since the step before it was saved."""
    events: list[Event]
    """While it ran."""
    after: list[Event]
    """Since it was saved, if it is the newest."""

    @property
    def previous(self) -> int | None:
        return self.place - 1 if self.place > 1 else None

    @property
    def following(self) -> int | None:
        return self.place + 1 if self.place < self.total else None


def frame(run: Run, user: User, place: int, hides: Cloak | None) -> Frame | None:
    """The step at this place, or the nearest there is; None: the run has saved nothing."""
    total = listing.count(run.pk)
    place = min(max(place, 1), total)
    ids = listing.at_place(run.pk, max(place - 1, 1), most=2) if total else []
    saved = states.load(run.pk, ids[-1] if place > 1 else ids[0]) if ids else None
    if saved is None:
        return None
    parent = states.load(run.pk, saved.parent_id) if saved.parent_id else None
    since = _saved_at(run, ids[0]) if place > 1 else run.created_at
    newest = place == total
    return Frame(
        place=place,
        total=total,
        result=showing.state(saved, hides),
        given=showing.state(parent, hides) if parent else None,
        took=saved.at - since if place > 1 else None,
        events=moments.between(run, user, hides, since=since, until=saved.at),
        after=moments.between(run, user, hides, since=saved.at) if newest else [],
    )


def place_of(run: Run, checkpoint_id: str) -> int:
    """The step that saved this checkpoint; the first for one that is not there."""
    if chain.place(run.pk, checkpoint_id) is None:
        return 1
    return listing.place_of(run.pk, checkpoint_id)[0]


def _saved_at(run: Run, checkpoint_id: str) -> datetime:
    place = chain.place(run.pk, checkpoint_id)
    return place.at if place else run.created_at
