"""The carrier that collects parcels: an interface that makes promises to nobody."""

from __future__ import annotations

from datetime import timedelta

from agents.fakepay import client
from ledger.models import Idempotency
from ledger.outcomes import Outcome, from_response
from ledger.tools import effect

ADDRESS = "bookings@carrier.example"
TIMEOUT = timedelta(seconds=10)


@effect("carrier.collect", idempotency=Idempotency.LEDGER, timeout=TIMEOUT)
def collect(order_id: str, item: str, *, idempotency_key: str) -> Outcome:
    """Have a parcel collected, once.

    The carrier takes bookings by mail, knows no keys, and cannot be asked what it has booked. So if
    nobody hears how a call ended, a person has to find out: the ledger never tries again by guess.
    """
    return from_response(
        client.mail(
            ADDRESS,
            f"Collect order {order_id}",
            f"Please collect one parcel ({item}) of order {order_id}.",
            idempotency_key=idempotency_key,
            timeout=TIMEOUT.total_seconds(),
            order_id=order_id,
        )
    )
