"""Adding a message to the outbox: once per key, in the caller's transaction."""

from __future__ import annotations

import json
from datetime import datetime
from uuid import UUID

from django.db import transaction

from audit import canonical
from ledger import errors, refusals
from ledger.models import Message
from runs import authority, dispatch, leases, statements
from runs.models import Run, new_id

LONGEST_KEY = 400
LONGEST_ORDER_KEY = 200
TASK = "ledger.tasks.dispatch"
"""What a dispatcher is asked for with."""


def add(
    destination: str,
    payload: object,
    *,
    dedupe: str,
    not_before: datetime | None = None,
    order_key: str = "",
) -> UUID:
    """Add a message in the caller's transaction and return its id; the id it has already, if
    `destination` has one with this key.

    `destination` is a name of LEDGER_DESTINATIONS or LEDGER_WEBHOOKS, `payload` plain JSON for its
    handler; it is not sent before `not_before`.
    Raises BadMessage, and TransactionManagementError outside of transactions; in a node also
    LeaseLost, and ReadOnly, which ends the node and parks the run.
    """
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError(
            "outbox.add belongs in the transaction of what the message tells."
        )
    run_id = _run_that_adds()
    if run_id is not None:
        dedupe = f"{run_id}:{dedupe}"
    _require_storable(destination, payload, dedupe, order_key)
    uid = new_id()
    added = statements.one(
        statements.read("ledger", "add_message"),
        {
            "uid": uid,
            "destination": destination,
            "payload": json.dumps(payload),
            "dedupe": dedupe,
            "order_key": order_key,
            "run_id": run_id,
            "not_before": not_before,
        },
    )
    if added is None:
        present: UUID = Message.objects.values_list("uid", flat=True).get(
            destination=destination, dedupe=dedupe
        )
        return present
    if added[0]:
        dispatch.call(TASK)
    return uid


def _run_that_adds() -> UUID | None:
    """In a node: the run, locked for its present driver. None where Signalbox itself adds."""
    held = authority.current()
    if held is None:
        return None
    leases.lock(held.lease)
    run_id = held.lease.run_id
    if Run.objects.values_list("read_only", flat=True).get(pk=run_id):
        raise refusals.ReadOnly(
            "A deadline made this run read-only, so nobody is told anything. Cancel the run."
        )
    return run_id


def _require_storable(destination: str, payload: object, dedupe: str, order_key: str) -> None:
    for name, text, longest in (
        ("destination", destination, 100),
        ("key", dedupe, LONGEST_KEY),
        ("order key", order_key, LONGEST_ORDER_KEY),
    ):
        if canonical.text(text) != text or len(text) > longest:
            raise errors.BadMessage(f"The {name} of a message must be text of up to {longest}.")
    if not destination or not dedupe:
        raise errors.BadMessage("A message needs a destination and a key.")
    try:
        canonical.dumps(payload)
    except canonical.NotCanonical as exc:
        raise errors.BadMessage(f"The payload of a message must be plain JSON: {exc}") from exc
    if canonical.visible(payload) != payload:
        raise errors.BadMessage("The payload of a message holds text that cannot be stored.")
