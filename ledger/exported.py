"""What the file about a run tells of its effects: calls, look-ups, drift, incidents, messages."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from accounts.models import User
from ledger.models import Drift, Effect, EffectAttempt, Incident, Look, Message
from runs import masking
from runs.story import Hide, Section

SEE_EFFECTS = "ledger.view_effect"
SEE_MESSAGES = "ledger.view_message"
PAGE = 500

Row = dict[str, object]


def sections(run_id: UUID, user: User, hide: Hide) -> list[Section]:
    effects = (
        ("effects", _effects(run_id, hide)),
        ("drifts", _drifts(run_id, hide)),
        ("incidents", _incidents(run_id, hide)),
    )
    why = "" if user.has_perm(SEE_EFFECTS) else "You may not see effects."
    shut = "" if user.has_perm(SEE_MESSAGES) else "You may not see the outbox."
    return [
        *(Section(name=name, rows=() if why else rows, left_out=why) for name, rows in effects),
        Section(name="outbox", rows=() if shut else _messages(run_id, hide), left_out=shut),
    ]


def _effects(run_id: UUID, hide: Hide) -> Iterator[Row]:
    found = Effect.objects.filter(run_id=run_id).order_by("created_at", "uid")
    related = found.prefetch_related("calls", "looks").select_related("undoes")
    for effect in related.iterator(chunk_size=PAGE):
        yield _effect(effect, hide)


def _effect(effect: Effect, hide: Hide) -> Row:
    return {
        "id": effect.uid,
        "idempotency_key": effect.idempotency_key,
        "step": effect.step,
        "tool": effect.tool,
        "idempotency": effect.idempotency,
        "status": effect.status,
        "args": masking.arguments(effect.args, hide),
        "args_hash": effect.args_hash,
        "result": hide(effect.result),
        "result_cut": effect.result_cut,
        "provider_ref": effect.provider_ref,
        "error": hide(effect.error),
        "permit": effect.permit,
        "undoes": effect.undoes.uid if effect.undoes else None,
        "settled_by": effect.settled_by,
        "settle_reason": hide(effect.settle_reason),
        "settled_at": effect.settled_at,
        "created_at": effect.created_at,
        "updated_at": effect.updated_at,
        "calls": [_call(call, hide) for call in sorted(effect.calls.all(), key=_number)],
        "looks": [_look(look, hide) for look in sorted(effect.looks.all(), key=_when)],
    }


def _number(call: EffectAttempt) -> int:
    return call.number


def _when(look: Look) -> tuple[object, int]:
    return look.at, look.pk


def _call(call: EffectAttempt, hide: Hide) -> Row:
    return {
        "number": call.number,
        "attempt": call.fence,
        "holder": call.holder,
        "outcome": call.outcome,
        "http_status": call.http_status,
        "replayed": call.replayed,
        "provider_ref": call.provider_ref,
        "response": hide(call.response),
        "error": hide(call.error),
        "started_at": call.started_at,
        "ended_at": call.ended_at,
    }


def _look(look: Look, hide: Hide) -> Row:
    return {
        "at": look.at,
        "answer": look.answer,
        "counts": look.counts,
        "provider_ref": look.provider_ref,
        "error": hide(look.error),
    }


def _drifts(run_id: UUID, hide: Hide) -> Iterator[Row]:
    found = Drift.objects.filter(run_id=run_id).select_related("before").order_by("at", "pk")
    for drift in found.iterator(chunk_size=PAGE):
        yield {
            "id": drift.uid,
            "at": drift.at,
            "step": drift.step,
            "tool": drift.tool,
            "before": drift.before.uid,
            "attempt_before": drift.fence_before,
            "attempt": drift.fence,
            "args": masking.arguments(drift.args, hide),
            "args_hash": drift.args_hash,
            "stopped": drift.stopped,
            "withdrawn_at": drift.withdrawn_at,
            "accepted_by": drift.accepted_by,
            "accept_reason": hide(drift.accept_reason),
            "accepted_at": drift.accepted_at,
        }


def _incidents(run_id: UUID, hide: Hide) -> Iterator[Row]:
    found = Incident.objects.filter(run_id=run_id).select_related("effect").order_by("at", "pk")
    for incident in found.iterator(chunk_size=PAGE):
        yield {
            "at": incident.at,
            "kind": incident.kind,
            "effect": incident.effect.uid,
            "facts": hide(incident.facts),
        }


def _messages(run_id: UUID, hide: Hide) -> Iterator[Row]:
    found = Message.objects.filter(run_id=run_id).order_by("seq")
    for message in found.iterator(chunk_size=PAGE):
        yield {
            "id": message.uid,
            "destination": message.destination,
            "status": message.status,
            "payload": hide(message.payload),
            "tries": message.tries,
            "error": hide(message.error),
            "created_at": message.created_at,
            "due_at": message.due_at,
            "closed_at": message.closed_at,
        }
