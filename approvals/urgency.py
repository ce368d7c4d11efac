"""Which open request comes first in an inbox.

1. Those whose deadline is near, the nearest first: they are lost otherwise.
2. Of the others, high risk before usual before low, so that what can do harm is read while people
   are awake; of equal risk, the nearest deadline first.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from approvals.models import Request
from approvals.policy import Risk
from approvals.status import Status

NEAR = 0.25
"""A deadline is near when less than this part of the time for deciding is left."""
_RISKS = tuple(reversed(Risk.values))


def is_near(request: Request, now: datetime) -> bool:
    """Whether an open request is close to its deadline."""
    if request.status != Status.PENDING:
        return False
    whole: timedelta = request.deadline - request.created_at
    return request.deadline - now < whole * NEAR


def place(request: Request, risk: str, now: datetime) -> tuple[int, datetime, str]:
    """To sort by. A request that was closed since keeps the place that it had at `now`."""
    whole: timedelta = request.deadline - request.created_at
    near = request.deadline - now < whole * NEAR
    return (0 if near else 1 + _RISKS.index(risk), request.deadline, str(request.pk))
