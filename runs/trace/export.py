"""Everything that is known of one run as one JSON document: see docs/run-export.md.

1. Sections are always in the same order, and the rows in each as well.
2. A section that its reader may not see is there as null, and `left_out` says why.
3. Rows are read in pages and written as they come: memory does not grow with the run. All of
   it is read in one transaction that sees one moment.
4. Values are masked as on the pages, the same for the same reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from accounts import clock
from accounts.models import User
from audit import queries as log
from audit.models import Entry
from runs import chain, ports
from runs.masking import Cloak
from runs.models import Attempt, Run
from runs.story import Event, Phrase, Section
from runs.trace import listing, moments, showing, states

FORMAT = "signalbox-run/1"
PAGE = 500
SEE_ALL_ENTRIES = "audit.view_entry"

Row = dict[str, object]
Value = object


def sections(run: Run, user: User, hides: Cloak | None, *, snapshot: str) -> Iterator[Section]:
    """All sections but `run`, in order. `snapshot`: of the transaction in which they are read."""

    def hide(value: object) -> object:
        return showing.masked(value, hides).value

    yield Section(name="attempts", rows=(_attempt(each, hides) for each in _attempts(run)))
    yield Section(name="interventions", rows=_interventions(run, hides))
    yield Section(name="erasures", rows=_erasures(run))
    yield Section(name="checkpoints", rows=_checkpoints(run))
    yield Section(name="state", rows=_state(run, hides, snapshot))
    yield Section(name="events", rows=_events(run, user, hides))
    for story in ports.stories():
        yield from story.sections(run.pk, user, hide)
    yield Section(name="audit", rows=_audit(run, user, hides))


def head(run: Run, user: User, hides: Cloak | None, left_out: Mapping[str, str]) -> Row:
    """What the document says of itself and of the run."""
    return {
        "format": FORMAT,
        "exported_at": clock.page(),
        "exported_by": user.label,
        "masked": hides is not None,
        "left_out": dict(left_out),
        "run": _run(run, hides),
        "lease": _lease(run),
    }


def left_out(found: Iterable[Section], user: User) -> dict[str, str]:
    """Why the reader gets less than there is, by section."""
    why = {section.name: section.left_out for section in found if section.left_out}
    if not user.has_perm(SEE_ALL_ENTRIES):
        why["audit"] = "You see only what you did yourself."
    return why


def _run(run: Run, hides: Cloak | None) -> Row:
    return {
        "id": run.pk,
        "agent": run.agent,
        "version": run.agent_version,
        "title": showing.text(run.title, hides),
        "status": run.status,
        "park_reason": run.park_reason or None,
        "park_detail": showing.text(run.park_detail, hides),
        "read_only": run.read_only,
        "started_by": run.starter,
        "idempotency_key": run.idempotency_key,
        "created_at": run.created_at,
        "first_started_at": run.first_started_at,
        "ended_at": run.ended_at,
        "cancel_asked_at": run.cancel_asked_at,
        "cancelled_by": run.cancelled_by,
        "cancel_reason": showing.text(run.cancel_reason, hides),
        "error_class": run.error_class,
        "error": showing.text(run.error, hides),
        "input": showing.masked(run.input, hides).value,
        "output": showing.masked(run.output, hides).value,
    }


def _lease(run: Run) -> Row:
    lease = run.lease
    return {
        "holder": lease.holder,
        "fence": lease.fence,
        "expires_at": lease.expires_at,
        "renewed_at": lease.renewed_at,
        "progress_at": lease.progress_at,
        "progress_note": lease.progress_note,
    }


def _attempts(run: Run) -> Iterator[Attempt]:
    return run.attempts.order_by("fence").iterator(chunk_size=PAGE)


def _attempt(attempt: Attempt, hides: Cloak | None) -> Row:
    return {
        "fence": attempt.fence,
        "holder": attempt.holder,
        "cause": attempt.cause,
        "outcome": attempt.outcome,
        "detail": showing.text(attempt.detail, hides),
        "head": attempt.head,
        "error_class": attempt.error_class,
        "error": showing.text(attempt.error, hides),
        "started_at": attempt.started_at,
        "ended_at": attempt.ended_at,
    }


def _interventions(run: Run, hides: Cloak | None) -> Iterator[Row]:
    for done in run.interventions.order_by("at", "pk").iterator(chunk_size=PAGE):
        yield {
            "at": done.at,
            "kind": done.kind,
            "by": done.label,
            "reason": showing.text(done.reason, hides),
        }


def _erasures(run: Run) -> Iterator[Row]:
    for each in run.erasures.order_by("at", "pk"):
        yield {"at": each.at, "kind": each.kind, "rows": each.rows, "bytes": each.bytes}


def _checkpoints(run: Run) -> Iterator[Row]:
    """Oldest first, without their states: each has a file of its own."""
    after = "0"
    while True:
        rows = listing.oldest(run.pk, after=after, most=PAGE)
        for row in rows:
            each = row.checkpoint
            yield {
                "id": each.id,
                "ns": each.ns,
                "parent_id": each.parent_id,
                "at": each.at,
                "step": each.step,
                "source": each.source,
                "attempt": each.fence,
                "ran": row.ran,
                "next": each.nodes,
                "asked": each.asked,
                "raised": each.raised,
                "bytes": row.size,
            }
        if len(rows) < PAGE:
            return
        after = rows[-1].checkpoint.id


def _state(run: Run, hides: Cloak | None, snapshot: str) -> Iterator[Row]:
    """That of the newest checkpoint of the graph itself, if one is kept."""
    tip = chain.tips([run.pk]).get(run.pk)
    saved = states.load(run.pk, tip.id, snapshot=snapshot) if tip else None
    if saved is not None:
        shown = showing.state(saved, hides)
        yield {
            "checkpoint_id": saved.id,
            "values": shown.values,
            "written": [
                {"task": each.task, "node": each.node, "field": each.channel, "value": each.value}
                for each in shown.written
            ],
        }


def _events(run: Run, user: User, hides: Cloak | None) -> Iterator[Row]:
    """As the pages tell them; up to a number of each kind, while the other sections are whole."""
    for event in moments.between(run, user, hides, since=run.created_at):
        yield {
            "at": event.at,
            "state": event.state.value,
            "label": str(event.state.label),
            "text": event.text,
            "note": _said(event.note),
            "seconds": _seconds(event),
        }


def _seconds(event: Event) -> float | None:
    return event.length.total_seconds() if event.length is not None else None


def _said(note: Phrase) -> str:
    return "".join(piece.text or _iso(piece.at) for piece in note)


def _iso(at: datetime | None) -> str:
    return at.isoformat() if at else ""


def _audit(run: Run, user: User, hides: Cloak | None) -> Iterator[Row]:
    found = log.for_run(run.pk)
    if not user.has_perm(SEE_ALL_ENTRIES):
        found = found.filter(actor_kind="user", actor_id=str(user.pk))
    for entry in found.iterator(chunk_size=PAGE):
        yield _entry(entry, hides)


def _entry(entry: Entry, hides: Cloak | None) -> Row:
    return {
        "id": entry.pk,
        "at": entry.at,
        "verb": entry.verb,
        "by": entry.actor_label,
        "through": entry.entry,
        "target_kind": entry.target_kind,
        "target_id": entry.target_id,
        "allowed": entry.allowed,
        "reason": showing.text(entry.reason, hides),
        "data": showing.masked(entry.data, hides).value,
        "digest": entry.digest,
    }
