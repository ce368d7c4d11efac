"""Runs as rows, and how many an operator must look at. Which are listed: `runs.listing`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db.models import Case, Count, F, IntegerField, Q, Sum, Value, When, Window
from django.db.models.functions import Coalesce, Greatest, Least

from accounts import clock, once
from accounts.models import User
from audit.models import ClockTimestamp
from runs import chain, errors, planner, ports, standing, visible, workers
from runs.advice import house
from runs.models import Attempt, Run
from runs.standing import Seen, Standing
from runs.status import Status
from runs.story import Remark

PAGE = 50
MOST_TROUBLED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run of a list."""

    run: Run
    standing: Standing
    worked: timedelta | None
    """Sum of its attempts; None if it never started."""


def rows(runs: Sequence[Run], user: User) -> list[Row]:
    """`runs` (each with its lease) as rows of a list for this reader.

    The number of queries does not depend on how many there are.
    """
    ids = [run.pk for run in runs]
    now = clock.page()
    attempts = _attempts(ids)
    tips = chain.tips([run.pk for run in runs if run.status == Status.RUNNING])
    remarks = _remarks(ids, user)
    queued = any(run.status == Status.QUEUED for run in runs)
    offers = workers.Offers.now() if queued else workers.Offers({})
    crowded = _crowded() if queued else {}
    return [
        Row(
            run=run,
            worked=attempts[run.pk][1] if run.pk in attempts else None,
            standing=standing.of(
                run,
                Seen(
                    now=now,
                    last=attempts[run.pk][0] if run.pk in attempts else None,
                    node=tips[run.pk].nodes if run.pk in tips else "",
                    remark=remarks.get(run.pk),
                    offered=run.status != Status.QUEUED
                    or offers.may_drive(run.agent, run.agent_version),
                    busy=crowded.get(run.agent),
                ),
            ),
        )
        for run in runs
    ]


def one(run_id: UUID, user: User) -> Row:
    """Raises NoSuchRun, also for a run that this person may not see."""
    run = visible.to(user).select_related("lease", "started_by").filter(pk=run_id).first()
    if run is None:
        raise errors.NoSuchRun
    return rows([run], user)[0]


def _crowded() -> dict[str, tuple[int, int]]:
    """Where all workers that know an agent have their hands full: how many they drive and may."""
    return {agent: (room.taken, room.slots) for agent, room in house.rooms().items() if room.full}


def _remarks(ids: Collection[UUID], user: User) -> dict[UUID, Remark]:
    """What the layers above say: a state of its own wins, then what comes last in RUNS_STORIES."""
    found: dict[UUID, Remark] = {}
    for story in ports.stories():
        for run_id, remark in story.remarks(ids, user).items():
            known = found.get(run_id)
            if known is None or remark.state or not known.state:
                found[run_id] = remark
    return found


# --- what an operator must look at ----------------------------------------------------------------


@once.a_page
def attention() -> Q:
    """Runs that an operator must look at. One query for each layer above that knows of some."""
    found = (story.troubled() for story in ports.stories())
    ids = {run_id for each in found if each is not None for run_id in each[:MOST_TROUBLED]}
    troubled = planner.within("pk", planner.Ids.of(ids))
    still = standing.stuck() | standing.stalled() | Q(status=Status.PARKED)
    # The first part alone is answered by indexes; the rest looks at the few that are left.
    likely = Q(status__in=(Status.RUNNING, Status.PARKED)) | troubled
    return likely & (still | troubled)


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubled:
    """Runs that an operator must look at."""

    runs: list[Run]
    """The first of them, stuck ones before all others; each with its lease."""
    count: int
    """Of all of them."""


def troubled(user: User, most: int) -> Troubled:
    """Of what this person may see. One query, besides those of `attention`."""
    first = Case(
        When(standing.stuck(), then=Value(0)),
        When(status=Status.RUNNING, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    found = visible.to(user).filter(attention()).select_related("lease", "started_by")
    # All are counted, and so held for a moment: without what may be large.
    light = found.defer("input", "output").annotate(count=Window(Count("pk")))
    runs = list(light.order_by(first, "created_at")[:most])
    return Troubled(runs=list[Run](runs), count=runs[0].count if runs else 0)


def driven(user: User) -> int:
    """How many runs that this person may see somebody drives now."""
    return visible.to(user).filter(standing.driven()).count()


# --- what rows need besides the run ---------------------------------------------------------------


def _attempts(ids: Sequence[UUID]) -> dict[UUID, tuple[Attempt, timedelta]]:
    """The newest attempt of each run, and how long all of its attempts have worked.

    None of these ends before it began. One whose worker was lost ends with its last heartbeat, or
    with its lease until that is noticed.
    """
    left = Coalesce(
        F("seen_at"), F("ended_at"), Least(F("run__lease__expires_at"), ClockTimestamp())
    )
    end = Greatest(left, F("started_at"))
    worked = Window(Sum(end - F("started_at")), partition_by=F("run_id"))
    of_these = planner.among("run_id", planner.Ids.of(ids))
    each = Attempt.objects.filter(of_these).annotate(worked=worked)
    newest = each.order_by("run_id", "-fence").distinct("run_id")
    return {attempt.run_id: (attempt, attempt.worked) for attempt in newest}
