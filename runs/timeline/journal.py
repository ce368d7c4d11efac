"""One page of a run's timeline: what happened, as a table, and the same as a chart.

1. One page covers a stretch of checkpoints and everything else that happened in that stretch.
2. Times of checkpoints come from the worker's clock, all others from the database's.
3. Every part is bounded, so a page of a run of any length is read in the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from accounts.models import User
from runs import chain, ports
from runs.models import Attempt, Run
from runs.status import Status
from runs.story import Event, Span
from runs.timeline import drawing, drives, events, tree, whereabouts
from runs.timeline.drawing import Chart
from runs.timeline.lanes import Told
from runs.timeline.whereabouts import Path

PAGE = 50
"""Checkpoints on one page."""
MOST_ATTEMPTS = 500
"""Holdings of the lease that one page draws, the last ones of its stretch."""
MOST_EVENTS = 120
"""Rows of the table."""
STEADY = timedelta(minutes=5)
"""What has rested for longer is drawn to the minute, so that its page stays the same as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """One page of what happened."""

    events: list[Event]
    left_out: int
    """Events of this stretch that the table has no room for."""
    chart: Chart
    attempts_left_out: int
    """Earlier attempts of this stretch that neither chart nor table has."""
    attempts_from: int | None
    """The fence before which they are; None: none are left out."""
    older: str
    """The checkpoint before which the page of older events ends; empty: there is none."""
    newest: bool
    at: dict[Path, str]
    """The nodes that the run is at, each with a tone."""


def read(run: Run, user: User, *, now: datetime, before: str = "", kind: str = "") -> Journal:
    """The newest page for this reader, or the one that ends before the checkpoint `before`.

    `kind`: only these events are in the table; empty: all.
    """
    page = chain.page(run.pk, before=before, limit=PAGE)
    since, until = page.rows[0].at if page.before else run.created_at, page.until
    attempts = _attempts(run, until)
    found = _events(run, user, page, attempts, since)
    found = [event for event in found if kind in ("", event.kind)]
    spans = _spans(run, user, since, until)
    end = page.until or _end(run, spans, now)
    driven = drives.of(run, attempts, page.rows, now)
    grown = tree.grow(Told(run=run, page=page, drives=driven, spans=spans, end=end))
    chart = drawing.draw(
        grown,
        driven,
        start=since,
        end=end,
        zero=run.created_at,
        now=page.newest and not run.ended,
    )
    first = attempts[0].fence if len(attempts) == MOST_ATTEMPTS else None
    return Journal(
        attempts_left_out=_left_out(run, first, since),
        attempts_from=first,
        events=found[:MOST_EVENTS] if until else found[-MOST_EVENTS:],
        left_out=max(len(found) - MOST_EVENTS, 0),
        chart=chart,
        older=page.rows[0].id if page.before else "",
        newest=page.newest,
        at=whereabouts.of(run, grown) if page.newest else {},
    )


def _attempts(run: Run, until: datetime | None) -> list[Attempt]:
    """The last ones that began before `until`, oldest first. Why nobody drove at the beginning of
    the stretch is told by the one before it."""
    begun = run.attempts.filter(started_at__lt=until) if until else run.attempts.all()
    return list(begun.order_by("-fence")[:MOST_ATTEMPTS])[::-1]


def _left_out(run: Run, first: int | None, since: datetime) -> int:
    """How many before `first` have anything to do with a stretch that begins at `since`."""
    if first is None:
        return 0
    lasting = Q(ended_at__isnull=True) | Q(ended_at__gte=since)
    return run.attempts.filter(lasting, fence__lt=first).count()


def _events(
    run: Run, user: User, page: chain.Page, attempts: Sequence[Attempt], since: datetime
) -> list[Event]:
    """In order of time."""
    until = page.until
    found = [*events.of_attempts(attempts), *events.of_interventions(run)]
    found += events.of_checkpoints(run.pk, page)
    found += [] if page.before else [events.accepted(run)]
    for story in ports.stories():
        found += story.events(run.pk, user, since=since, until=until)
    found = [event for event in found if since <= event.at and (until is None or event.at < until)]
    return sorted(found, key=lambda event: event.at)


def _spans(run: Run, user: User, since: datetime, until: datetime | None) -> list[Span]:
    return [
        span
        for story in ports.stories()
        for span in story.spans(run.pk, user, since=since, until=until)
    ]


def _end(run: Run, spans: Sequence[Span], now: datetime) -> datetime:
    """Where the chart of the newest page ends: with the run, or what outlasts it; else now."""
    if run.ended_at:
        return max([run.ended_at, *(span.end or run.ended_at for span in spans)])
    rests = run.status != Status.RUNNING and now - run.updated_at > STEADY
    return max(now.replace(second=0, microsecond=0), run.updated_at) if rests else now
