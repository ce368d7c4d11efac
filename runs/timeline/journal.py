"""What happened to a run, in order: its events as a table, and the same as lanes of a chart.

1. One page covers a stretch of checkpoints and everything else that happened in that stretch.
2. Times of checkpoints come from the worker's clock, all others from the database's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.urls import reverse

from accounts.models import User
from runs import chain, ports, standing
from runs.admission import OF_A_FORM
from runs.chain import Checkpoint
from runs.models import Attempt, Intervention, Run
from runs.status import OUTCOMES, Outcome, State, Status
from runs.story import Event, phrase
from runs.timeline import drawing
from runs.timeline.drawing import Chart, Drive, Lane, Mark

MOST_ATTEMPTS = 500
FIRST_STEP = "first step"

ACCEPTED = State(
    value="accepted",
    label="Accepted",
    tone="neutral",
    icon="inbox",
    sentence="The run was stored with its input.",
)
TAKEN = State(
    value="taken",
    label="Taken",
    tone="info",
    icon="play",
    sentence="A worker took the lease and began to drive.",
)
SAVED = State(
    value="saved",
    label="Saved",
    tone="ok",
    icon="check",
    sentence="A step ended and its checkpoint was saved.",
)
INTERVENED = State(
    value="intervened",
    label="By hand",
    tone="human",
    icon="hand",
    sentence="A person changed the course of the run.",
)
REST: dict[str, tuple[str, str]] = {
    Outcome.WAITED: ("human", "waits for a person"),
    Outcome.PARKED: ("warn", "parked"),
    Outcome.RAISED: ("neutral", "waits to try again"),
    Outcome.LOST: ("warn", "nobody drives: the worker was lost"),
}
"""Outcome of an attempt to the tone and the name of the idle time after it."""
TONES: dict[str, str] = {Outcome.RAISED: "bad", Outcome.LOST: "warn"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """One page of what happened."""

    events: list[Event]
    chart: Chart
    older: str
    """The checkpoint before which the page of older events ends; empty: there is none."""
    newest: bool


def read(run: Run, user: User, *, now: datetime, before: str = "") -> Journal:
    """The newest page for this reader, or the one that ends before the checkpoint `before`."""
    page = chain.page(run.pk, before=before)
    attempts = list(run.attempts.order_by("fence")[:MOST_ATTEMPTS])
    since = page.rows[0].at if page.before else run.created_at
    until = page.until
    told = [
        event
        for story in ports.stories()
        for event in story.events(run.pk, user, since=since, until=until)
    ]
    own = [*_of_attempts(attempts), *_of_interventions(run), *_of_checkpoints(run.pk, page)]
    if not page.before:
        own.append(_accepted(run))
    events = [e for e in (*own, *told) if since <= e.at and (until is None or e.at < until)]
    events.sort(key=lambda event: event.at)
    return Journal(
        events=events,
        chart=_chart(run, page, attempts, told, now=now, since=since),
        older=page.rows[0].id if page.before else "",
        newest=page.newest,
    )


# --- events --------------------------------------------------------------------------------------


def _accepted(run: Run) -> Event:
    key = run.idempotency_key or ""
    note = "" if key.startswith(OF_A_FORM) else f"with the key {key}" * bool(key)
    return Event(
        at=run.created_at, state=ACCEPTED, text=f"Started by {run.starter}", note=phrase(note)
    )


def _of_attempts(attempts: Sequence[Attempt]) -> Iterator[Event]:
    for attempt in attempts:
        yield Event(
            at=attempt.started_at,
            state=TAKEN,
            text=f"{attempt.holder} took the lease",
            note=phrase(f"fence {attempt.fence} · {attempt.cause}"),
        )
        if attempt.ended_at is None:
            continue
        state = OUTCOMES[attempt.outcome]
        error = f"{attempt.error_class}: {attempt.error}" if attempt.error_class else ""
        yield Event(
            at=attempt.ended_at,
            state=state,
            text=error or state.sentence,
            note=phrase(attempt.detail),
            length=attempt.ended_at - attempt.started_at,
        )


def _of_interventions(run: Run) -> Iterator[Event]:
    for done in Intervention.objects.filter(run=run).order_by("at"):
        yield Event(
            at=done.at,
            state=INTERVENED,
            text=f"{done.get_kind_display()} by {done.label}",
            note=phrase(done.reason),
        )


def _of_checkpoints(run_id: UUID, page: chain.Page) -> Iterator[Event]:
    known = {(row.ns, row.id): row for row in (*page.rows, *filter(None, (page.before,)))}
    begun = {(row.ns, row.parent_id) for row in page.rows}
    for row in page.rows:
        if row.nodes == "input" and (row.ns, row.id) in begun:
            continue  # the next one holds the input where the agent's code finds it
        parent = known.get((row.ns, row.parent_id or ""))
        ran = _named(parent) if parent else ""
        yield Event(
            at=row.at,
            state=SAVED,
            text=f"{ran} finished" if ran and ran != "input" else "Input saved",
            note=phrase(_number(row)),
            length=row.at - parent.at if parent and ran != "input" else None,
            url=reverse("runs:checkpoint", args=[run_id, row.id]),
            anchor=_anchor(row.id),
        )


def _named(row: Checkpoint) -> str:
    """What ran from this checkpoint, with the subgraph's name."""
    return f"{row.subgraph} / {row.nodes}" if row.ns and row.nodes else row.nodes


def _number(row: Checkpoint) -> str:
    return "checkpoint" if row.step is None else f"checkpoint {row.step}"


# --- the chart -----------------------------------------------------------------------------------


def _chart(  # noqa: PLR0913 (the parts of one page)
    run: Run,
    page: chain.Page,
    attempts: Sequence[Attempt],
    told: Sequence[Event],
    *,
    now: datetime,
    since: datetime,
) -> Chart:
    end = page.until or run.ended_at or now
    drives = list(_drives(run, attempts, page.rows, now))
    lanes = list(_lanes(run, page, drives, end))
    marks = [Mark(at=e.at, tone=e.state.tone, label=e.text) for e in told if e.mark]
    return drawing.draw(lanes, drives, marks, start=since, end=end, zero=run.created_at)


def _drives(
    run: Run, attempts: Sequence[Attempt], rows: Sequence[Checkpoint], now: datetime
) -> Iterator[Drive]:
    for attempt in attempts:
        tone, why = REST.get(attempt.outcome, ("neutral", "waits for a worker"))
        end, lost = attempt.ended_at or now, attempt.outcome == Outcome.LOST
        if lost:
            signs = [row.at for row in rows if row.fence == attempt.fence]
            end = min(end, max([attempt.started_at, *signs]))
        elif attempt.ended_at is None and standing.is_stuck(run, now):
            lost = True
            tone, why = REST[Outcome.LOST]
            end = run.lease.renewed_at or attempt.started_at
        yield Drive(
            start=attempt.started_at,
            end=max(end, attempt.started_at),
            tone="warn" if lost else TONES.get(attempt.outcome, ""),
            rest=tone,
            why=why,
            lost=lost,
        )


def _lanes(run: Run, page: chain.Page, drives: Sequence[Drive], end: datetime) -> Iterator[Lane]:
    if not page.before:
        yield from _first_lanes(run, page, drives, end)
    known = {(row.ns, row.id): row for row in (*page.rows, *filter(None, (page.before,)))}
    for row in page.rows:
        parent = known.get((row.ns, row.parent_id or ""))
        if parent and parent.nodes and parent.nodes != "input":
            yield Lane(label=_named(parent), start=parent.at, end=row.at, anchor=_anchor(row.id))
    if page.newest:
        yield from _open_lane(run, page, drives, end)


def _first_lanes(
    run: Run, page: chain.Page, drives: Sequence[Drive], end: datetime
) -> Iterator[Lane]:
    """Waiting for a worker, and what it takes until the agent's own code runs."""
    began = min((drive.start for drive in drives), default=end)
    if began > run.created_at:
        yield Lane(
            label="in the queue", start=run.created_at, end=began, tone="neutral", saved=False
        )
    ready = next((row for row in page.rows if row.nodes != "input"), None)
    if ready and ready.at > began:
        yield Lane(label="start", start=began, end=ready.at, anchor=_anchor(ready.id))


def _open_lane(
    run: Run, page: chain.Page, drives: Sequence[Drive], end: datetime
) -> Iterator[Lane]:
    """What the run is at, or where it ended without finishing."""
    if run.status == Status.SUCCEEDED or not drives:
        return
    tip = next((row for row in reversed(page.rows) if not row.ns), None)
    start = tip.at if tip else drives[0].start
    nodes = tip.nodes if tip and tip.nodes != "input" else FIRST_STEP
    tone = {Status.FAILED: "bad", Status.RUNNING: "info"}.get(Status(run.status), "neutral")
    if nodes and start < end:
        yield Lane(label=nodes, start=start, end=end, tone=tone, saved=False)


def _anchor(checkpoint_id: str) -> str:
    return f"at-{checkpoint_id}"
