"""Effects as rows of a signed export.

1. Rows are read a page at a time: a hundred thousand need no more memory than a thousand. What is
   reserved meanwhile is newer than the first page and is left out.
2. What is sensitive is hidden. Who has the right may hand it out whole, with a reason; the audit
   log keeps it, and the manifest says that nothing is hidden.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar
from uuid import UUID

from accounts.actors import Actor
from accounts.models import User
from audit import exports, trail
from ledger import errors, ports
from ledger.browse.filters import Filters
from ledger.browse.listing import Listing, Place
from ledger.models import Effect, EffectAttempt, Incident, Look
from runs import masking
from runs import ports as upper
from runs.patience import patience

PERMISSION = "ledger.export_effect"
UNMASKED = "ledger.export_unmasked_effect"
PAGE = 500
PATIENT = 30.0
"""Seconds that one statement may take, of several for a page."""
NAME = "ledger-effects"
ABOUT = "Effects of the ledger, newest first: what was sent, what came back, and who allowed it."
COLUMNS = (
    *("effect", "key", "reserved_at", "changed_at", "status", "tool", "agent", "run", "title"),
    *("started_by", "step", "args", "args_hash", "provider_ref", "provider_key", "result", "error"),
    *("permit", "allowed_by", "settled_by", "settled_at", "settle_reason"),
    *("calls", "looks", "incidents"),
)
Cover = Callable[[object], object]
"""Makes of a value what may be handed out."""
T = TypeVar("T", EffectAttempt, Look, Incident)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What somebody wants to have."""

    filters: Filters
    format: str
    unmasked: bool = False
    reason: str = ""


def export(wanted: Wanted, *, user: User, actor: Actor) -> exports.Export:
    """Hand out the effects that match and that `user` may see.

    Raises NotPermitted, which is recorded, ReasonMissing, NoSigningKey and SearchTooSlow.
    """
    if wanted.unmasked and not wanted.reason.strip():
        raise errors.ReasonMissing
    made = exports.package(
        NAME,
        rows(wanted.filters, user, unmasked=wanted.unmasked),
        columns=COLUMNS,
        about=ABOUT,
        filters=_said(wanted),
        actor=actor,
        format=wanted.format,
        permission=UNMASKED if wanted.unmasked else PERMISSION,
    )
    if wanted.unmasked:
        trail.record(
            "payload.viewed",
            actor=actor,
            target=("export", str(made.id)),
            reason=wanted.reason,
            data={"what": "export of the ledger", "rows": made.manifest["file"]},
        )
    return made


def rows(filters: Filters, user: User, *, unmasked: bool = False) -> Iterator[Mapping[str, object]]:
    """Each effect as one row, newest first. Raises SearchTooSlow."""
    with patience(errors.SearchTooSlow, PATIENT):
        listing = Listing.of(filters, user).in_state(filters.status)
    after = None
    while page := _page(listing, after):
        yield from _rows(page, _covers(page, user, unmasked=unmasked))
        after = Place.of(page[-1])


def _page(listing: Listing, after: Place | None) -> list[Effect]:
    with patience(errors.SearchTooSlow, PATIENT):
        return listing.page(after=after, limit=PAGE)


def _covers(page: list[Effect], user: User, *, unmasked: bool) -> Mapping[UUID, Cover]:
    """By run: what is kept from this person."""
    runs = {effect.run_id for effect in page}
    if unmasked:
        return dict.fromkeys(runs, _whole)
    cloaks = upper.masks().of_runs(runs, user)
    return {run_id: partial(_masked, cloaks.get(run_id, masking.BARE)) for run_id in runs}


def _rows(page: list[Effect], covers: Mapping[UUID, Cover]) -> Iterator[Mapping[str, object]]:
    keys = [effect.pk for effect in page]
    calls = _by_effect(EffectAttempt.objects.filter(effect__in=keys).order_by("number"))
    looks = _by_effect(Look.objects.filter(effect__in=keys).order_by("at", "id"))
    incidents = _by_effect(Incident.objects.filter(effect__in=keys).order_by("at", "id"))
    permits = [effect.permit for effect in page if effect.permit]
    allowed = ports.grounds().deciders(permits) if permits else {}
    for effect in page:
        cover = covers[effect.run_id]
        yield _own(effect, allowed, cover) | {
            "calls": [_call(each, cover) for each in calls[effect.pk]],
            "looks": [_look(each) for each in looks[effect.pk]],
            "incidents": [_incident(each, cover) for each in incidents[effect.pk]],
        }


def _by_effect(found: Iterable[T]) -> Mapping[str, list[T]]:
    grouped: defaultdict[str, list[T]] = defaultdict(list)
    for each in found:
        grouped[each.effect_id].append(each)
    return grouped


def _own(effect: Effect, allowed: Mapping[UUID, str], cover: Cover) -> dict[str, object]:
    return {
        "effect": str(effect.uid),
        "key": effect.idempotency_key,
        "reserved_at": _at(effect.created_at),
        "changed_at": _at(effect.updated_at),
        "status": effect.status,
        "tool": effect.tool,
        "agent": effect.run.agent,
        "run": str(effect.run_id),
        "title": effect.run.title,
        "started_by": effect.run.starter,
        "step": effect.step,
        "args": masking.arguments(effect.args, cover),
        "args_hash": effect.args_hash,
        "provider_ref": effect.provider_ref,
        "provider_key": effect.provider_key,
        "result": cover(effect.result),
        "error": cover(effect.error),
        "permit": str(effect.permit) if effect.permit else None,
        "allowed_by": allowed.get(effect.permit, "") if effect.permit else "",
        "settled_by": effect.settled_by,
        "settled_at": _at(effect.settled_at),
        "settle_reason": cover(effect.settle_reason),
    }


def _call(call: EffectAttempt, cover: Cover) -> dict[str, object]:
    return {
        "number": call.number,
        "provider_key": call.provider_key,
        "holder": call.holder,
        "fence": call.fence,
        "started_at": _at(call.started_at),
        "ended_at": _at(call.ended_at),
        "outcome": call.outcome,
        "http_status": call.http_status,
        "provider_ref": call.provider_ref,
        "response": cover(call.response),
        "error": cover(call.error),
    }


def _look(look: Look) -> dict[str, object]:
    return {
        "at": _at(look.at),
        "attempt": look.attempt,
        "answer": look.answer,
        "counts": look.counts,
        "provider_ref": look.provider_ref,
    }


def _incident(incident: Incident, cover: Cover) -> dict[str, object]:
    return {"kind": incident.kind, "at": _at(incident.at), "facts": cover(incident.facts)}


def _at(moment: datetime | None) -> str | None:
    """Text at once: making it of each of a million moments later takes twice as long."""
    return moment.astimezone(UTC).isoformat() if moment else None


def _masked(cloak: masking.Cloak, value: object) -> object:
    return masking.mask(value, cloak).value


def _whole(value: object) -> object:
    return value


def _said(wanted: Wanted) -> dict[str, object]:
    """What was asked for, as the manifest and the audit log keep it."""
    asked = {
        name: value
        for name, value in asdict(wanted.filters).items()
        if value and name not in ("conditions", "in_arguments")
    }
    if wanted.filters.conditions:
        asked["arguments"] = ", ".join(map(str, wanted.filters.conditions))
    return asked | {"hidden_values": "shown" if wanted.unmasked else "hidden"}
