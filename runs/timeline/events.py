"""What happened to a run itself, for the table: accepted, attempts, acts of people, checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from accounts import speech
from accounts.speech import later
from runs import stop
from runs.admission import OF_A_FORM
from runs.chain import Checkpoint, Page
from runs.models import Attempt, Intervention, Run
from runs.status import OUTCOMES, Outcome, State
from runs.story import Event, exact, phrase
from runs.timeline import kinds
from runs.timeline.lanes import anchor
from runs.timeline.naming import INPUT

ACCEPTED = State(
    value="accepted",
    label=later("Accepted"),
    tone="neutral",
    icon="inbox",
    sentence=later("The run was stored with its input."),
)
TAKEN = State(
    value="taken",
    label=later("Taken"),
    tone="info",
    icon="play",
    sentence=later("A worker took the lease and began to drive."),
)
SAVED = State(
    value="saved",
    label=later("Saved"),
    tone="ok",
    icon="check",
    sentence=later("A step ended and its checkpoint was saved."),
)
INTERVENED = State(
    value="intervened",
    label=later("By hand"),
    tone="human",
    icon="hand",
    sentence=later("A person changed the course of the run."),
)


def accepted(run: Run) -> Event:
    key = run.idempotency_key or ""
    note = "" if not key or key.startswith(OF_A_FORM) else _("with the key %(key)s") % {"key": key}
    return Event(
        at=run.created_at,
        state=ACCEPTED,
        text=_("Started by %(starter)s") % {"starter": run.starter},
        note=phrase(note),
        kind=kinds.ATTEMPTS,
    )


def of_attempts(attempts: Sequence[Attempt]) -> Iterator[Event]:
    for attempt in attempts:
        yield Event(
            at=attempt.started_at,
            state=TAKEN,
            text=_("%(worker)s took the lease") % {"worker": attempt.holder},
            note=phrase(
                _("fence %(fence)s · %(cause)s")
                % {"fence": attempt.fence, "cause": speech.shown(attempt.cause)}
            ),
            kind=kinds.ATTEMPTS,
        )
        if attempt.ended_at is not None:
            yield _ended(attempt)


def _ended(attempt: Attempt) -> Event:
    state = OUTCOMES[attempt.outcome]
    error = stop.told(attempt.error_class, attempt.error)
    note = phrase(speech.shown(attempt.detail))
    if attempt.outcome == Outcome.LOST and attempt.seen_at:
        note = (
            *phrase(_("last heartbeat ")),
            *exact(attempt.seen_at),
            *phrase(_(" · its lease ran out ")),
            *exact(attempt.expired_at),
        )
    return Event(
        at=attempt.ended_at or attempt.started_at,
        state=state,
        text=error or str(state.sentence),
        note=note,
        length=attempt.took,
        kind=kinds.ATTEMPTS,
    )


def of_interventions(run: Run) -> Iterator[Event]:
    for done in Intervention.objects.filter(run=run).order_by("at"):
        told = {"what": done.get_kind_display(), "who": done.label}
        yield Event(
            at=done.at,
            state=INTERVENED,
            text=_("%(what)s by %(who)s") % told,
            note=phrase(done.reason),
            kind=kinds.ATTEMPTS,
        )


def of_checkpoints(run_id: UUID, page: Page) -> Iterator[Event]:
    known = {(row.ns, row.id): row for row in (*page.rows, *filter(None, (page.before,)))}
    begun = {(row.ns, row.parent_id) for row in page.rows}
    for row in page.rows:
        if row.nodes == INPUT and (row.ns, row.id) in begun:
            continue  # the next one holds the input where the agent's code finds it
        parent = known.get((row.ns, row.parent_id or ""))
        ran = _named(parent) if parent and parent.nodes != INPUT else ""
        yield Event(
            at=row.at,
            state=SAVED,
            text=_("%(step)s finished") % {"step": ran} if ran else _("Input saved"),
            note=phrase(_number(row)),
            length=row.at - parent.at if parent and ran else None,
            url=reverse("runs:checkpoint", args=[run_id, row.id]),
            anchor=anchor(row.id),
            kind=kinds.STEPS,
        )


def _named(row: Checkpoint) -> str:
    """What ran from this checkpoint, with the subgraph's name."""
    return f"{row.subgraph} / {row.nodes}" if row.ns and row.nodes else row.nodes


def _number(row: Checkpoint) -> str:
    return _("checkpoint") if row.step is None else _("checkpoint %(step)s") % {"step": row.step}
