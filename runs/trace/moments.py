"""What happened to a run in a stretch of time, besides the steps that were saved.

Times of checkpoints come from the worker's clock, all others from the database's: what happened
within the difference of the two may stand at the step before or after.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from django.db.models import Q

from accounts.models import User
from runs import ports
from runs.masking import Cloak
from runs.models import Run
from runs.story import Event
from runs.timeline import events
from runs.trace import showing

MOST = 200
"""Attempts of one stretch."""


def between(
    run: Run, user: User, hides: Cloak | None, *, since: datetime, until: datetime | None = None
) -> list[Event]:
    """From `since` to before `until`, in order, as far as this person may see it; masked."""
    told = [
        event
        for story in ports.stories_for(user)
        for event in story.events(run.pk, user, since=since, until=until)
    ]
    own = [*_of_attempts(run, since, until), *events.of_interventions(run)]
    within = [_masked(each, hides) for each in (*own, *told) if _within(each.at, since, until)]
    return sorted(within, key=lambda event: event.at)


def _masked(event: Event, hides: Cloak | None) -> Event:
    note = tuple(replace(piece, text=showing.text(piece.text, hides)) for piece in event.note)
    return replace(event, text=showing.text(event.text, hides), note=note)


def _within(at: datetime, since: datetime, until: datetime | None) -> bool:
    return since <= at and (until is None or at < until)


def _span(field: str, since: datetime, until: datetime | None) -> Q:
    where = Q(**{f"{field}__gte": since})
    return where & Q(**{f"{field}__lt": until}) if until else where


def _of_attempts(run: Run, since: datetime, until: datetime | None) -> Iterator[Event]:
    where = _span("started_at", since, until) | _span("ended_at", since, until)
    return events.of_attempts(list(run.attempts.filter(where).order_by("fence")[:MOST]))
