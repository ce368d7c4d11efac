"""What the chart shows, as a tree: steps, their branches, graphs within, and what these touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from runs.chain import Page
from runs.models import Run
from runs.story import Span
from runs.timeline.drives import Drive


@dataclass(slots=True, kw_only=True)
class Lane:
    """One line of the chart, and the lines below it."""

    label: str
    start: datetime
    end: datetime
    tone: str = "ok"
    anchor: str = ""
    """Id of the event in the table that tells the same."""
    saved: bool = True
    """It ended with a checkpoint, or a result that was saved."""
    current: bool = False
    """The run is at it."""
    node: str = ""
    """The one that ran; empty if there were several, or none."""
    span: Span | None = None
    """What a layer above tells; its stages are drawn instead of the drives."""
    below: list[Lane] = field(default_factory=list)

    def every(self) -> Iterator[Lane]:
        """Itself and all below."""
        yield self
        for lane in self.below:
            yield from lane.every()

    def sort(self) -> None:
        """What stands below it, in order of time."""
        self.below.sort(key=lambda lane: lane.start)
        for lane in self.below:
            lane.sort()


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What one page of a run's timeline is made from."""

    run: Run
    page: Page
    drives: Sequence[Drive]
    spans: Sequence[Span]
    end: datetime
    """Of the chart."""


def anchor(checkpoint_id: str) -> str:
    return f"at-{checkpoint_id}"
