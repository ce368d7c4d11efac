"""What a person may do to a run as it stands: one table for buttons, notices and confirmations.

The rules themselves are in `runs.controls`, which checks again when somebody acts. What is offered
here is what makes sense and would not be refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from accounts.models import User
from accounts.speech import later as _
from runs import standing
from runs.queries import Row
from runs.status import Park, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One thing that a person can do to a run."""

    name: str
    """Of its address: `runs:<name>`."""
    label: str
    permission: str
    fits: Callable[[Row], bool]
    """Whether it makes sense for the run as it stands."""

    @property
    def route(self) -> str:
        return f"runs:{self.name}"


def _asks_person(row: Row) -> bool:
    parked = row.run.status == Status.PARKED
    return parked and row.run.park_reason in (Park.BAD_ANSWER, Park.DEADLINE)


def _may_be_retried(row: Row) -> bool:
    return standing.retrying(row.run) or row.run.park_reason == Park.BAD_ANSWER


def _rests(row: Row) -> bool:
    """Nobody drives it and no worker will unasked; what the ledger wakes is left out."""
    if row.run.status == Status.PARKED:
        woken = (Park.EFFECT_IN_DOUBT, Park.EMERGENCY_STOP, Park.DRIFT)
        return row.run.park_reason not in woken
    return row.standing.stuck or row.standing.stalled or row.run.status == Status.WAITING


CONTROLS = (
    Control(
        name="ask_again",
        label=_("Ask again"),
        permission="runs.ask_again_run",
        fits=_asks_person,
    ),
    Control(
        name="retry",
        label=_("Retry now"),
        permission="runs.retry_run",
        fits=_may_be_retried,
    ),
    Control(
        name="resume",
        label=_("Force resume"),
        permission="runs.force_resume_run",
        fits=_rests,
    ),
    Control(
        name="cancel",
        label=_("Cancel"),
        permission="runs.cancel_run",
        fits=lambda row: not row.run.ended and row.run.cancel_asked_at is None,
    ),
)


def to(user: User, row: Row) -> list[Control]:
    """What this person may do to this run now."""
    return [
        control for control in CONTROLS if control.fits(row) and user.has_perm(control.permission)
    ]
