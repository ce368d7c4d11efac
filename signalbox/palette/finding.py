"""Which runs and pages a text means, for one reader.

1. Nobody is offered what they may not open, nor a run that they may not see.
2. The text is cut at LONGEST characters, and the answers at MOST, of which MOST_RUNS are runs. They
   are looked up in the indexes of the list of runs, by two queries, and not for long.
3. Pages and actions match when each word of the text begins a word of their name.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise

from accounts.models import User
from runs import visible
from runs.errors import SearchTooSlow
from runs.listing import finding as listing
from runs.listing.filters import Filters
from runs.listing.search import Search
from runs.models import Run
from runs.patience import patience
from signalbox.palette import destinations

LONGEST = 100
MOST = 12
MOST_RUNS = 5
SHORTEST = 3
"""Characters of the text before runs are looked for."""
SEE_RUNS = "runs.view_run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A link: what it is called, where it leads, and what tells it from others of that name."""

    label: str | Promise
    url: str
    icon: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    text: str
    answers: tuple[Answer, ...]
    exactly: str = ""
    """The address of the run whose whole id, or its last eight characters, was typed."""


def find(user: User, text: str) -> Found:
    """With an empty text: the pages and actions that come first."""
    text = text.strip()[:LONGEST]
    runs = _runs(user, text)
    named = [run for run in runs if _is_id_of(run, text)]
    answers = (*map(_of_run, runs), *_pages(user, text))
    return Found(
        text=text,
        answers=answers[:MOST],
        exactly=_url(named[0]) if len(named) == 1 else "",
    )


def _runs(user: User, text: str) -> list[Run]:
    """The newest first. Raises SearchTooSlow."""
    if len(text) < SHORTEST or not user.has_perm(SEE_RUNS):
        return []
    if whole := _uuid(text):
        return list(visible.to(user).filter(pk=whole))
    with patience(SearchTooSlow):
        return listing.of(Filters(search=Search(text=text)), user).page(limit=MOST_RUNS)


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None


def _is_id_of(run: Run, text: str) -> bool:
    return _uuid(text) == run.pk or str(run.pk)[-8:] == text.lower()


def _of_run(run: Run) -> Answer:
    return Answer(label=run.title, url=_url(run), icon="play", detail=str(run.pk)[-8:])


def _url(run: Run) -> str:
    return reverse("runs:run", args=(run.pk,))


def _pages(user: User, text: str) -> Iterator[Answer]:
    wanted = _words(text)
    for one in destinations.open_to(user):
        words = _words(str(one.label))
        if all(any(word.startswith(start) for word in words) for start in wanted):
            yield Answer(label=one.label, url=one.url, icon=one.icon)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
