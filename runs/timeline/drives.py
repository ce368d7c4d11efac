"""Who drove a run when, and why nobody did in between.

1. An attempt whose worker was lost is drawn up to the last sign of that worker. Until its lease ran
   out nobody else may have taken it; from then on it was free to be taken over.
2. Times are the database's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from runs import standing
from runs.chain import Checkpoint
from runs.models import Attempt, Run
from runs.status import OUTCOMES, Outcome
from runs.story import Stage
from runs.timeline.scale import Idle

QUEUED = ("neutral", gettext_lazy("waits for a worker"))
EARLIER = ("neutral", gettext_lazy("earlier attempts, not shown here"))
ENDED = ("neutral", gettext_lazy("the run has ended"))
REST = {
    Outcome.WAITED: ("human", gettext_lazy("waits for a person")),
    Outcome.PARKED: ("warn", gettext_lazy("parked")),
    Outcome.RAISED: ("neutral", gettext_lazy("waits to try again")),
    Outcome.LOST: ("warn", gettext_lazy("nobody drives: the worker was lost")),
}
"""Outcome of an attempt to the tone and the name of the idle time after it."""
TONES: dict[str, str] = {Outcome.RAISED: "bad", Outcome.LOST: "warn"}
"""Of work that an attempt began and did not complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """A time in which somebody drove the run, and what the time after it is."""

    start: datetime
    end: datetime
    """Of a lost one: the last sign of its worker."""
    tone: str = ""
    """Of work that this drive began and did not complete; empty: the lane's."""
    rest: str = "neutral"
    """Tone of the idle time that follows."""
    why: str = ""
    """What the idle time that follows is."""
    lost: bool = False
    expired: datetime | None = None
    """When the lease of a lost one ran out, if that is known."""
    fence: int = 0
    holder: str = ""
    outcome: str = ""


def of(
    run: Run, attempts: Sequence[Attempt], rows: Sequence[Checkpoint], now: datetime
) -> list[Drive]:
    """One for each attempt; `rows` are checkpoints, which are signs of life."""
    return [_drive(run, attempt, rows, now) for attempt in attempts]


def _drive(run: Run, attempt: Attempt, rows: Sequence[Checkpoint], now: datetime) -> Drive:
    tone, why = _after_it(run, attempt)
    end, expired = attempt.ended_at or now, attempt.expired_at
    lost = attempt.outcome == Outcome.LOST
    if lost:
        signs = [row.at for row in rows if row.fence == attempt.fence]
        end = min(end, attempt.seen_at or max([attempt.started_at, *signs]))
    elif attempt.ended_at is None and standing.is_stuck(run, now):
        lost = True
        tone, why = REST[Outcome.LOST]
        end, expired = run.lease.renewed_at or attempt.started_at, run.lease.expires_at
    return Drive(
        start=attempt.started_at,
        end=max(end, attempt.started_at),
        tone="warn" if lost else TONES.get(attempt.outcome, ""),
        rest=tone,
        why=str(why),
        lost=lost,
        expired=expired,
        fence=attempt.fence,
        holder=attempt.holder,
        outcome=Outcome.LOST if lost else attempt.outcome,
    )


def _after_it(run: Run, attempt: Attempt) -> tuple[str, Promise]:
    """Tone and name of the idle time that follows an attempt."""
    if run.ended_at and attempt.ended_at and attempt.ended_at >= run.ended_at:
        return ENDED
    return REST.get(Outcome(attempt.outcome), QUEUED)


def idle(drives: Sequence[Drive], start: datetime, end: datetime) -> list[Idle]:
    """The times between `start` and `end` in which nobody drove, as far as `drives` go back."""
    in_order = sorted(drives, key=lambda each: each.start)
    tone, before = EARLIER if in_order and in_order[0].fence > 1 else QUEUED
    found, at, why = [], start, str(before)
    for drive in in_order:
        if drive.start > at:
            found.append(Idle(start=at, end=min(drive.start, end), tone=tone, why=why))
        at = max(at, drive.end)
        tone, why = drive.rest, drive.why
    if at < end:
        found.append(Idle(start=at, end=end, tone=tone, why=why))
    return [each for each in found if each.start < each.end]


def held(drives: Sequence[Drive], start: datetime, end: datetime) -> Iterator[Stage]:
    """Who held the lease from `start` to `end`, and why nobody did in between."""
    gaps = {gap.start: gap for gap in idle(drives, start, end)}
    if (first := gaps.get(start)) is not None:
        yield _gap(first.start, first.end, first.tone, first.why)
    for drive in drives:
        if drive.start <= end and drive.end >= start:
            yield _holding(drive)
        gap = gaps.get(drive.end)
        if gap is not None and gap is not first:
            yield from _after(drive, gap)


def _holding(drive: Drive) -> Stage:
    state = OUTCOMES[drive.outcome or Outcome.OPEN]
    tone = drive.tone or ("info" if drive.outcome in ("", Outcome.OPEN) else "neutral")
    told = {"fence": drive.fence, "holder": drive.holder, "outcome": state.label}
    label = _("Fence %(fence)s, %(holder)s: %(outcome)s") % told
    return Stage(start=drive.start, end=drive.end, tone=tone, label=label)


def _after(drive: Drive, gap: Idle) -> Iterator[Stage]:
    """Of a lost worker, first the time in which its lease still kept others away."""
    at = gap.start
    if drive.lost and drive.expired and drive.expired > at:
        until = min(drive.expired, gap.end)
        says = _("no sign of the worker, whose lease has not run out yet")
        yield _gap(at, until, "warn", says)
        at = until
    if at < gap.end:
        yield _gap(at, gap.end, gap.tone, gap.why)


def _gap(start: datetime, end: datetime, tone: str, why: str) -> Stage:
    return Stage(start=start, end=end, tone=tone, label=why, idle=True)
