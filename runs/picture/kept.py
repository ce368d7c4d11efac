"""The shapes of graphs that workers have kept, for pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from runs.models import Picture, Run
from runs.picture.shape import Shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The shape that is shown for a run."""

    shape: Shape
    version: str
    made_at: datetime


def of(run: Run) -> Kept | None:
    """That of the run's own version, or else the newest of its agent; None: there is none."""
    found = Picture.objects.filter(agent=run.agent).order_by("-made_at")
    own = found.filter(version=run.agent_version).first() or found.first()
    if own is None:
        return None
    return Kept(shape=Shape.read(own.shape), version=own.version, made_at=own.made_at)
