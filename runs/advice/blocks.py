"""Which advices apply to a run as it stands: a pure function of the run and the house.

1. What keeps every run of its kind comes before what is particular to this one.
2. Keys of states that the layers above know more about (`TOLD_ABOVE`) are theirs to tell.
3. A run that is being cancelled needs one thing, a worker that ends it: whatever else it waits for
   will not happen any more. Only `OUTLIVES` is told besides.
"""

from __future__ import annotations

from collections.abc import Iterator

from runs import standing
from runs.advice.house import House
from runs.models import Run
from runs.standing import Standing
from runs.status import Park, Status

TOLD_ABOVE = (Park.EFFECT_IN_DOUBT, Park.EMERGENCY_STOP, Park.DRIFT)
"""Reasons for being parked that the ledger explains, with the way to what it waits for."""
OUTLIVES = ("in_doubt", f"parked.{Park.EFFECT_IN_DOUBT}")
"""What somebody has to do also for a run that ends."""


def keys(run: Run, stands: Standing, house: House) -> Iterator[str]:
    """Of the table, for this run. Nothing for a run that goes on, or that has ended well."""
    if run.status == Status.FAILED:
        yield "failed"
    if run.ended:
        return
    if run.cancel_asked_at:
        yield _cancelling(run, stands, house)
        return
    yield from _particular(run, stands, house)
    if run.read_only and run.park_reason != Park.READ_ONLY:
        yield "read_only"


def _cancelling(run: Run, stands: Standing, house: House) -> str:
    """Any worker ends a run, whether it knows the agent or not."""
    if stands.stalled:
        return "cancelling.stalled"
    if run.status == Status.RUNNING and not stands.stuck:
        return "cancelling"
    if not house.anybody:
        return "cancelling.no_worker"
    if not house.broker:
        return "cancelling.broker_away"
    if stands.stuck:
        return "cancelling.stuck" if house.sweeper else "cancelling.sweeper_quiet"
    return "cancelling.resting"


def _particular(run: Run, stands: Standing, house: House) -> Iterator[str]:
    match run.status:
        case Status.PARKED if run.park_reason not in TOLD_ABOVE:
            yield f"parked.{run.park_reason}"
        case Status.QUEUED if standing.retrying(run):
            yield "retrying"
        case Status.QUEUED:
            yield _queued(run, house)
        case Status.RUNNING if stands.stuck:
            yield _stuck(run, house)
        case Status.RUNNING if stands.stalled:
            yield "stalled"


def _queued(run: Run, house: House) -> str:
    if not house.anybody:
        return "queued.no_worker"
    if run.agent not in house.rooms:
        return "queued.unknown_agent"
    if not house.broker:
        return "queued.broker_away"
    if house.rooms[run.agent].full:
        return "queued.busy"
    return "queued" if house.sweeper else "queued.sweeper_quiet"


def _stuck(run: Run, house: House) -> str:
    if not house.anybody:
        return "stuck.no_worker"
    if run.agent not in house.rooms:
        return "stuck.unknown_agent"
    if not house.broker:
        return "stuck.broker_away"
    return "stuck" if house.sweeper else "stuck.sweeper_quiet"
