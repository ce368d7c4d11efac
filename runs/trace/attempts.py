"""The attempts of a run: who drove, from which checkpoint, what was saved and done until when.

An attempt goes on from the newest checkpoint of the graph itself that earlier attempts have saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from django.db import connection

from accounts import speech
from accounts.models import User
from runs import chain, ports, statements, stop
from runs.chain import Checkpoint
from runs.masking import Cloak
from runs.models import Attempt, Run
from runs.status import OUTCOMES, State
from runs.story import Deed
from runs.trace import showing

PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One attempt."""

    attempt: Attempt
    state: State
    """How it ended."""
    took: timedelta | None
    """None: it has not ended."""
    said: str
    """Its error, or what else is known of its end."""
    resumed_from: Checkpoint | None
    """None: it began at the beginning."""
    left_at: Checkpoint | None
    """The last one that it saved itself; None: it saved none."""
    steps: int
    """Checkpoints of the graph itself that it saved."""
    inner: int
    """Those of subgraphs."""
    deeds: list[Deed]

    @property
    def fence(self) -> int:
        return self.attempt.fence

    @property
    def stands_at(self) -> Checkpoint | None:
        """Where the run stood when it ended."""
        return self.left_at or self.resumed_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Attempts, newest first; fences to go on from, None where there are no more."""

    rows: list[Row]
    newer: int | None
    older: int | None


def page(
    run: Run,
    user: User,
    hides: Cloak | None,
    *,
    before: int | None = None,
    after: int | None = None,
) -> Page:
    """The newest attempts, those older than `before`, or those newer than `after`."""
    found = run.attempts.order_by("fence" if after is not None else "-fence")
    if before is not None:
        found = found.filter(fence__lt=before)
    if after is not None:
        found = found.filter(fence__gt=after)
    taken = list(found[: PAGE + 1])
    more, shown = len(taken) > PAGE, taken[:PAGE]
    if after is not None:
        shown.reverse()
    newer, older = (more, True) if after is not None else (before is not None, more)
    return Page(
        rows=rows(run.pk, user, shown, hides),
        newer=shown[0].fence if shown and newer else None,
        older=shown[-1].fence if shown and older else None,
    )


def pick(run: Run, user: User, fences: Sequence[int], hides: Cloak | None) -> list[Row]:
    """These attempts, oldest first; those that do not exist are left out."""
    return rows(run.pk, user, list(run.attempts.filter(fence__in=fences).order_by("fence")), hides)


def rows(run_id: UUID, user: User, attempts: Sequence[Attempt], hides: Cloak | None) -> list[Row]:
    """In the same order; texts are masked, arguments of deeds are not.

    The number of queries does not depend on how many there are.
    """
    fences = [attempt.fence for attempt in attempts]
    saved = _saved(run_id)
    deeds = [
        _masked(deed, hides)
        for story in ports.stories_for(user)
        for deed in story.deeds(run_id, user, fences)
    ]
    resumed = {fence: _resumed_from(saved, fence) for fence in fences}
    left = {fence: saved[fence].last for fence in fences if fence in saved}
    known = _checkpoints(run_id, {*resumed.values(), *left.values()} - {""})
    return [
        Row(
            attempt=attempt,
            state=OUTCOMES[attempt.outcome],
            took=attempt.took,
            said=showing.text(_said(attempt), hides),
            resumed_from=known.get(resumed[attempt.fence]),
            left_at=known.get(left.get(attempt.fence, "")),
            steps=saved[attempt.fence].steps if attempt.fence in saved else 0,
            inner=saved[attempt.fence].inner if attempt.fence in saved else 0,
            deeds=[deed for deed in deeds if deed.fence == attempt.fence],
        )
        for attempt in attempts
    ]


def _said(attempt: Attempt) -> str:
    return stop.told(attempt.error_class, attempt.error) or speech.shown(attempt.detail)


def _masked(deed: Deed, hides: Cloak | None) -> Deed:
    title, note = (showing.text(said, hides) for said in (deed.title, deed.note))
    return replace(deed, title=title, note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saved:
    """What one attempt has saved."""

    steps: int
    inner: int
    last: str
    """Of the graph itself; empty if it saved none."""


def _saved(run_id: UUID) -> dict[int, _Saved]:
    with connection.cursor() as cursor:
        cursor.execute(statements.read("runs", "saved_by"), {"thread": str(run_id)})
        return {
            fence: _Saved(steps=steps, inner=total - steps, last=last)
            for fence, total, steps, last in cursor.fetchall()
        }


def _resumed_from(saved: dict[int, _Saved], fence: int) -> str:
    return max((each.last for before, each in saved.items() if before < fence), default="")


def _checkpoints(run_id: UUID, ids: set[str]) -> dict[str, Checkpoint]:
    if not ids:
        return {}
    return {row.id: row for row in chain.rows(run_id, only=sorted(ids), most=len(ids))}
