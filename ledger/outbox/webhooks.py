"""Webhooks: messages posted as JSON to an address of LEDGER_WEBHOOKS.

The receiver gets the message's id in the header Signalbox-Event-Id, and should remember it: the
same message may come again. The address is a secret: it stands in no message, log or page.
"""

from __future__ import annotations

import httpx
from django.conf import settings

from ledger.outbox.letters import Letter
from ledger.outcomes import Outcome

EVENT_ID = "Signalbox-Event-Id"
TIMEOUT = 10.0
"""Seconds."""


def post(letter: Letter) -> Outcome | httpx.Response:
    """Post the payload of `letter`; no redirect is followed."""
    address = settings.LEDGER_WEBHOOKS[letter.destination]
    try:
        return httpx.post(
            address,
            json=letter.payload,
            headers={EVENT_ID: str(letter.id), "Idempotency-Key": str(letter.id)},
            timeout=TIMEOUT,
        )
    except httpx.HTTPError as exc:
        return Outcome.unknown(type(exc).__name__)  # what it says may hold the address
    except httpx.InvalidURL:
        return Outcome.refused(f"The address of {letter.destination} in LEDGER_WEBHOOKS is none.")
