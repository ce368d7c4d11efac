"""What fakepay tells by webhook, in Stripe's form, and who does it.

1. An event is written in the transaction of what it tells of, and posted later, again and again
   with growing pauses until it is answered with 2xx: over restarts, so perhaps more than once.
2. The header `Stripe-Signature` says `t=<second>,v1=<HMAC-SHA256 of "second.body">`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

from agents.fakepay.storage import Row, Storage

TIMEOUT = 10.0
"""Seconds that a receiver may take."""
LOOK = 0.2
"""Seconds between two looks for what is due."""
LONGEST_PAUSE = 60.0


def about(row: Row, *, refund: Row) -> Iterator[str]:
    """The events that tell of what was performed: a refund (`row` and `refund` are the same), the
    taking back of one, which are two events, or nothing.
    """
    if row is refund:
        if str(row["id"]).startswith("re_"):
            yield _event("refund.updated", row, "refund", "succeeded")
        return
    yield _event("cancellation.created", row, "cancellation", "succeeded")
    yield _event("refund.updated", refund, "refund", "canceled")


def _event(kind: str, row: Row, what: str, status: str) -> str:
    thing = {**row, "object": what, "status": status}
    if row["key"]:
        thing["metadata"] = {"idempotency_key": row["key"]}
    return json.dumps(
        {
            "id": f"evt_{secrets.token_hex(12)}",
            "object": "event",
            "type": kind,
            "created": int(time.time()),
            "data": {"object": thing},
        }
    )


class Teller:
    """Posts what is due to one address, one event after another."""

    def __init__(self, storage: Storage, address: str, secret: str) -> None:
        self.storage = storage
        self.address = address
        self.secret = secret

    def tell_for_ever(self) -> None:
        """Never returns."""
        while True:
            event = self.storage.next_event(time.time())
            if event is None:
                time.sleep(LOOK)
            elif self._post(str(event["body"]).encode()):
                self.storage.event_told(event["id"])
            else:
                pause = min(2.0 ** int(str(event["tries"])), LONGEST_PAUSE)
                self.storage.event_later(event["id"], time.time() + pause)

    def _post(self, body: bytes) -> bool:
        moment = str(int(time.time()))
        signed = hmac.new(self.secret.encode(), f"{moment}.".encode() + body, hashlib.sha256)
        headers = {
            "Content-Type": "application/json",
            "Stripe-Signature": f"t={moment},v1={signed.hexdigest()}",
        }
        request = urllib.request.Request(self.address, body, headers)  # noqa: S310 (our option)
        try:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=TIMEOUT) as answer:
                return 200 <= int(answer.status) < 300
        except (OSError, ValueError):
            return False
