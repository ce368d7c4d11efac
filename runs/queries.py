"""Runs as lists show them: filters, pages by key, counts. A constant number of queries per page."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Least

from accounts.models import User
from audit.models import ClockTimestamp
from runs import chain, errors, fleet, ports, standing, visible
from runs.models import Attempt, Run
from runs.standing import Seen, Standing
from runs.status import LIVE, Status
from runs.story import Remark

PAGE = 50
MOST_NEW = 99
"""Newer runs are counted up to here."""
MOST_TROUBLED = 1000
RECENTLY = timedelta(hours=24)
_LIKE_AN_ID = re.compile(r"[0-9a-fA-F-]{4,36}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which runs to show; an empty field shows all."""

    status: str = ""
    """A stored state, or "stuck", "stalled"."""
    attention: bool = False
    agent: str = ""
    owner: str = ""
    """The primary key of the person who started it."""
    since: timedelta | None = None
    q: str = ""
    """Part of the title, an id or its last characters, or an idempotency key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One run of a list."""

    run: Run
    standing: Standing
    worked: timedelta | None
    """Sum of its attempts; None if it never started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Runs, newest first; the ids to go on from, None where there are no more."""

    rows: list[Row]
    newer: UUID | None
    older: UUID | None


def page(  # noqa: PLR0913 (where to start is one of three)
    filters: Filters,
    *,
    user: User,
    after: UUID | None = None,
    before: UUID | None = None,
    upto: UUID | None = None,
    limit: int = PAGE,
) -> Page:
    """The newest runs, or those older than `after`, newer than `before`, not newer than `upto`."""
    found = matching(filters, user).select_related("lease", "started_by")
    if upto is not None:
        found = found.filter(_older(upto, itself=True))
    if before is not None:
        shown = list(found.filter(_newer(before)).order_by("created_at", "id")[: limit + 1])[::-1]
        more_newer, more_older = len(shown) > limit, True
        shown = shown[-limit:]
    else:
        if after is not None:
            found = found.filter(_older(after))
        shown = list(found.order_by("-created_at", "-id")[: limit + 1])
        more_newer, more_older = after is not None, len(shown) > limit
        shown = shown[:limit]
    return Page(
        rows=rows(shown, user),
        newer=shown[0].pk if shown and more_newer else None,
        older=shown[-1].pk if shown and more_older else None,
    )


def count_newer(filters: Filters, than: UUID, user: User) -> int:
    """How many matching runs are newer than run `than`, up to MOST_NEW."""
    return matching(filters, user).filter(_newer(than))[:MOST_NEW].count()


def rows(runs: Sequence[Run], user: User) -> list[Row]:
    """`runs` (each with its lease) as rows of a list for this reader.

    The number of queries does not depend on how many there are.
    """
    ids = [run.pk for run in runs]
    now = clock()
    last, worked = _last_attempts(ids), _worked(ids)
    tips = chain.tips([run.pk for run in runs if run.status == Status.RUNNING])
    remarks = _remarks(ids, user)
    offers = fleet.offered() if any(run.status == Status.QUEUED for run in runs) else ()
    return [
        Row(
            run=run,
            worked=worked.get(run.pk),
            standing=standing.of(
                run,
                Seen(
                    now=now,
                    last=last.get(run.pk),
                    node=tips[run.pk].nodes if run.pk in tips else "",
                    remark=remarks.get(run.pk),
                    offered=run.status != Status.QUEUED or run.agent in offers,
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


def clock() -> datetime:
    """The database's clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


def _remarks(ids: Collection[UUID], user: User) -> dict[UUID, Remark]:
    """What the layers above say: a state of its own wins, then what comes last in RUNS_STORIES."""
    found: dict[UUID, Remark] = {}
    for story in ports.stories():
        for run_id, remark in story.remarks(ids, user).items():
            known = found.get(run_id)
            if known is None or remark.state or not known.state:
                found[run_id] = remark
    return found


# --- filters -------------------------------------------------------------------------------------


def matching(filters: Filters, user: User) -> QuerySet[Run]:
    """Of the runs that this person may see."""
    where = Q()
    if filters.status == "stuck":
        where &= standing.stuck()
    elif filters.status == "stalled":
        where &= standing.stalled()
    elif filters.status:
        where &= Q(status=filters.status)
    if filters.attention:
        where &= attention()
    if filters.agent:
        where &= Q(agent=filters.agent)
    if filters.owner:
        where &= Q(started_by=filters.owner)
    if filters.since:
        where &= Q(created_at__gte=ClockTimestamp() - filters.since)
    if filters.q:
        where &= _search(filters.q)
    return visible.to(user).filter(where)


def attention() -> Q:
    """Runs that an operator must look at. One query for each layer above that knows of some."""
    troubled = {
        run_id
        for story in ports.stories()
        if (found := story.troubled()) is not None
        for run_id in found[:MOST_TROUBLED]
    }
    still = standing.stuck() | standing.stalled() | Q(status=Status.PARKED)
    # The first part alone is answered by indexes; the rest looks at the few that are left.
    likely = Q(status__in=(Status.RUNNING, Status.PARKED)) | Q(pk__in=troubled)
    return likely & (still | Q(pk__in=troubled))


def _search(text: str) -> Q:
    where = Q(title__icontains=text) | Q(idempotency_key=text)
    if not _LIKE_AN_ID.fullmatch(text):
        return where
    try:
        return where | Q(pk=UUID(text))
    except ValueError:  # a part of one: what pages show of an id is its end
        return where | Q(pk__endswith=text.lower()) | Q(pk__startswith=text.lower())


def _place(run_id: UUID) -> tuple[datetime, UUID] | None:
    return Run.objects.filter(pk=run_id).values_list("created_at", "id").first()


def _older(run_id: UUID, *, itself: bool = False) -> Q:
    """Runs after this one in a list. Of an unknown run: all."""
    place = _place(run_id)
    if place is None:
        return Q()
    created_at, key = place
    last = Q(id__lte=key) if itself else Q(id__lt=key)
    # Written so that the first part is one range of the index.
    return Q(created_at__lte=created_at) & (Q(created_at__lt=created_at) | last)


def _newer(run_id: UUID) -> Q:
    """Runs before this one in a list. Of an unknown run: all."""
    place = _place(run_id)
    if place is None:
        return Q()
    created_at, key = place
    return Q(created_at__gte=created_at) & (Q(created_at__gt=created_at) | Q(id__gt=key))


# --- counts ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Of runs that are under way, and of those that failed lately."""

    attention: int
    stuck: int
    waiting: int
    running: int
    """With a live lease or without."""
    queued: int
    parked: int
    failed: int
    """Started within RECENTLY."""


def counts(user: User) -> Counts:
    """Of what this person may see. Two queries; both look at live and at recent runs only."""
    recently = Q(status=Status.FAILED, created_at__gte=ClockTimestamp() - RECENTLY)
    found = (
        visible.to(user)
        .filter(Q(status__in=LIVE) | recently)
        .aggregate(
            **{name: Count("pk", filter=Q(status=name)) for name in LIVE},
            failed=Count("pk", filter=Q(status=Status.FAILED)),
            stuck=Count("pk", filter=standing.stuck()),
        )
    )
    return Counts(attention=matching(Filters(attention=True), user).count(), **found)


# --- what rows need besides the run ---------------------------------------------------------------


def _last_attempts(ids: Sequence[UUID]) -> dict[UUID, Attempt]:
    newest = Attempt.objects.filter(run_id__in=ids).order_by("run_id", "-fence").distinct("run_id")
    return {attempt.run_id: attempt for attempt in newest}


def _worked(ids: Sequence[UUID]) -> dict[UUID, timedelta]:
    """Sum of the attempts; one whose worker is gone ends with its lease."""
    end = Coalesce(F("ended_at"), Least(F("run__lease__expires_at"), ClockTimestamp()))
    sums = (
        Attempt.objects.filter(run_id__in=ids)
        .values("run_id")
        .annotate(worked=Sum(end - F("started_at")))
    )
    return {found["run_id"]: found["worked"] for found in sums}
