"""Which nodes a run is at now, or was at when it failed: read from the lanes of its chart."""

from __future__ import annotations

from collections.abc import Iterable

from runs.models import Run
from runs.status import Status
from runs.timeline.lanes import Lane

TONES = {
    Status.RUNNING: "info",
    Status.WAITING: "human",
    Status.PARKED: "warn",
    Status.FAILED: "bad",
}
STRENGTH = ("neutral", "info", "human", "warn", "bad")
ASKS = "approvals"
Path = tuple[str, ...]


def of(run: Run, lanes: Iterable[Lane], above: Path = ()) -> dict[Path, str]:
    """Each node as its path through the graphs that call each other, and the tone of what it is."""
    found: dict[Path, str] = {}
    for lane in lanes:
        path = (*above, lane.node) if lane.node else above
        here = lane.current or (lane.tone == "bad" and not lane.saved)
        if here and lane.span is None:
            if lane.node:
                found[path] = _stronger(found.get(path), _tone(run, lane))
            found |= of(run, lane.below, path)
    return found


def _stronger(one: str | None, other: str) -> str:
    """Of two tasks of the same node: a question is told before work."""
    return one if one and STRENGTH.index(one) >= STRENGTH.index(other) else other


def _tone(run: Run, lane: Lane) -> str:
    asks = any(
        each.span and each.span.kind == ASKS and each.span.end is None for each in lane.below
    )
    return "human" if asks else TONES.get(Status(run.status), "neutral")
