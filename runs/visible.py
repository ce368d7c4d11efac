"""Which runs somebody may see: one rule, asked by every list, page and number.

1. Whoever has the permission to see every run sees every run.
2. Everybody else who may see runs sees those that they started, and those in which the layers above
   have something for them: an approver's groups were asked.
"""

from __future__ import annotations

from django.db.models import Q, QuerySet

from accounts.models import User
from runs import ports
from runs.models import Run

EVERY = "runs.view_every_run"


def to(user: User) -> QuerySet[Run]:
    """The runs that this person may see."""
    where = rule(user)
    return Run.objects.all() if where is None else Run.objects.filter(where)


def rule(user: User) -> Q | None:
    """The same as a condition on runs; None: every run."""
    if user.has_perm(EVERY):
        return None
    mine = Q(started_by=user.pk)
    for story in ports.stories():
        theirs = story.mine(user)
        if theirs is not None:
            mine |= Q(pk__in=theirs)
    return mine


def within(user: User, field: str) -> Q:
    """The same as a condition on rows that have a run in `field`."""
    return Q() if user.has_perm(EVERY) else Q(**{f"{field}__in": to(user).values("pk")})
