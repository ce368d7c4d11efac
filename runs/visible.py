"""Which runs somebody may see: one rule, asked by every list, page and number.

1. Whoever has the permission to see every run sees every run.
2. Everybody else who may see runs sees those that they started, and those in which the layers above
   have something for them: an approver's groups were asked.

All of it is asked of each row by itself, so that lists walk down their index and stop when a page
is full. Sets of ids would be made whole for each question, however few rows are shown.
"""

from __future__ import annotations

import hashlib
import json

from django.db.models import Q, QuerySet
from django.utils import timezone, translation

from accounts import reading
from accounts.models import User
from runs import planner, ports, web
from runs.models import Run

EVERY = "runs.view_every_run"
EVERY_REQUEST = (web.REVEAL, "audit.view_entry")
"""Whoever has one of these sees what everybody is asked: see `approvals.queries.visible_to`."""
SIGHT = "runs.sight"
"""Key of a request's META under which a view leaves the reader's sight for `signalbox.sharing`."""


def to(user: User) -> QuerySet[Run]:
    """The runs that this person may see."""
    where = rule(user)
    return Run.objects.all() if where is None else Run.objects.filter(where)


def rule(user: User, run: str = "") -> Q | None:
    """The same as a condition on runs, or on rows that have their run in this field; None: every
    run."""
    if user.has_perm(EVERY):
        return None
    mine = Q(**{f"{run}__started_by" if run else "started_by": user.pk})
    for story in ports.stories():
        theirs = story.mine(user)
        if theirs is not None:
            mine |= Q(planner.beside(theirs, run=run or "pk"))
    return mine


def within(user: User, field: str) -> Q:
    """The same as a condition on rows that have a run in `field`; empty: every row."""
    return rule(user, field) or Q()


def few(user: User, most: int) -> planner.Ids | None:
    """The ids of the runs that this person may see; None if these are every run, or more than
    `most`."""
    if user.has_perm(EVERY):
        return None
    mine = Run.objects.filter(started_by=user.pk).values_list("pk", flat=True)
    theirs = (story.mine(user) for story in ports.stories())
    return planner.Ids.found([mine, *(each for each in theirs if each is not None)], most=most)


def sight(user: User, *besides: object) -> str:
    """The same for people who are told the same of all runs, in the same words.

    They may do the same and read the same language, zone and style of times; and whoever may not
    see every run and every request sees what nobody else does. `besides`: what a page tells
    them of themselves.
    """
    whole = user.has_perm(EVERY) and any(map(user.has_perm, EVERY_REQUEST))
    style = reading.style()
    seen = {
        "person": None if whole else user.pk,
        "may": sorted(user.get_all_permissions()),
        "language": translation.get_language(),
        "zone": timezone.get_current_timezone_name(),
        "times": [style.absolute, style.twelve],
        "besides": [str(each) for each in besides],
    }
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()
