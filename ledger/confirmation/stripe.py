"""Reading events in Stripe's form (https://docs.stripe.com/api/events/object).

The object's `status` says how it ended. Our key is `metadata.idempotency_key` of the object, or the
one of the request that caused the event; without both, the object's id is its reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from ledger.confirmation.news import BadEvent, Meaning, News

MEANINGS = {
    "succeeded": Meaning.HAPPENED,
    "failed": Meaning.FAILED,
    "canceled": Meaning.UNDONE,
}
"""Of the status of a refund, a payment, a transfer. Any other decides nothing yet."""
LONGEST_ID = 200
LATEST = 253_402_300_799
"""The last second of the year 9999."""


def read(event: Mapping[str, object]) -> News:
    """What an event says. Raises BadEvent if it has no id or no type."""
    identity, kind = event.get("id"), event.get("type")
    if not (isinstance(identity, str) and 0 < len(identity) <= LONGEST_ID):
        raise BadEvent("it has no id")
    if not isinstance(kind, str):
        raise BadEvent("it has no type")
    thing = _part(event.get("data"), "object")
    return News(
        event=identity,
        kind=kind,
        meaning=MEANINGS.get(_text(thing, "status")),
        key=_text(_part(thing, "metadata"), "idempotency_key")
        or _text(_part(event, "request"), "idempotency_key"),
        reference=_text(thing, "id"),
        result=dict(thing),
        why=_text(thing, "failure_reason"),
        told_at=_moment(event.get("created")),
    )


def _part(whole: object, name: str) -> Mapping[str, object]:
    found = whole.get(name) if isinstance(whole, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _text(whole: Mapping[str, object], name: str) -> str:
    found = whole.get(name)
    return found if isinstance(found, str) else ""


def _moment(seconds: object) -> datetime | None:
    fits = isinstance(seconds, int | float) and 0 <= seconds <= LATEST
    return datetime.fromtimestamp(seconds, UTC) if fits else None  # type: ignore[arg-type]  # a number, as the line above says
