"""What earlier attempts say about the head at which a run stands now.

1. Errors and crashes count only at the very head at which they happened, and only if they are newer
   than the last time an operator forgave them.
2. A worker that was lost before anybody could read the head counts at every head: it may be the
   reading that kills.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from uuid import UUID

from django.conf import settings

from runs import status
from runs.models import Attempt, Run
from runs.moves import Failure
from runs.registry import Declaration

LOOK_BACK = 50
HANDED_ON = "handed on to"
"""How the detail of an attempt begins that has given the run to another worker."""
SILENT = (status.Outcome.DRAINED, status.Outcome.RELEASED, status.Outcome.OPEN)
"""Outcomes that say nothing about the head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What happened at this head so far."""

    failure: Failure | None = None
    """The newest error that nobody has dealt with yet."""
    errors: int = 0
    """Errors in a row that count against the tries."""
    lost: int = 0
    """Workers lost in a row."""
    retrying: bool = False


EMPTY = History()


def at(run_id: UUID, mark: str, *, declared: Declaration) -> History:
    """The history of the run at the head called `mark`."""
    run = Run.objects.only("forgiven_fence", "granted_fence").get(pk=run_id)
    attempts = Attempt.objects.filter(run_id=run_id).exclude(outcome__in=SILENT).order_by("-fence")
    here = []
    for attempt in attempts[:LOOK_BACK]:
        if attempt.head != mark and not _unseen(attempt):
            break
        here.append(attempt)
    counted = [attempt for attempt in here if attempt.fence > run.forgiven_fence]
    failed = [attempt for attempt in counted if attempt.failure]
    errors = sum(not (attempt.failure or {})["free"] for attempt in failed)
    unanswered = bool(failed) and failed[0].fence > run.granted_fence
    left = errors < tries(declared)
    return History(
        failure=_failure(failed[0], tries_left=left) if unanswered else None,
        errors=errors,
        lost=_lost_in_a_row(counted),
        retrying=any(attempt.failure for attempt in here),
    )


def unseen(run_id: UUID) -> int:
    """How many workers in a row were lost before anybody had read where the run stands."""
    forgiven = Run.objects.values_list("forgiven_fence", flat=True).get(pk=run_id)
    newest = Attempt.objects.filter(run_id=run_id, fence__gt=forgiven).exclude(outcome__in=SILENT)
    return sum(1 for _ in takewhile(_unseen, newest.order_by("-fence")[:LOOK_BACK]))


def handed_on(run_id: UUID) -> int:
    """How many workers in a row have handed the run on to another one."""
    newest = Attempt.objects.filter(run_id=run_id).exclude(outcome=status.Outcome.OPEN)
    return sum(1 for _ in takewhile(_handed_on, newest.order_by("-fence")[:LOOK_BACK]))


def _handed_on(attempt: Attempt) -> bool:
    return attempt.outcome == status.Outcome.RELEASED and attempt.detail.startswith(HANDED_ON)


def _unseen(attempt: Attempt) -> bool:
    return attempt.outcome == status.Outcome.LOST and not attempt.head


def _lost_in_a_row(newest_first: list[Attempt]) -> int:
    """Being parked is no success: whatever wakes the run, the workers lost before still count."""
    parked = status.Outcome.PARKED
    seen = (each for each in newest_first if each.outcome != parked or each.failure)
    return sum(1 for _ in takewhile(lambda each: each.outcome == status.Outcome.LOST, seen))


def note_lost(run_id: UUID, fence: int, mark: str) -> None:
    """Write down at which head the worker of attempt `fence` was lost."""
    Attempt.objects.filter(run_id=run_id, fence=fence).update(head=mark)


def tries(declared: Declaration) -> int:
    return declared.tries or int(settings.RUNS_TRIES)


def _failure(attempt: Attempt, *, tries_left: bool) -> Failure:
    kept = attempt.failure or {}
    return Failure(
        error_class=attempt.error_class,
        error=attempt.error,
        transient=kept["transient"],
        park=status.Park(kept["park"]) if kept["park"] else None,
        free=kept["free"],
        tries_left=tries_left,
    )
