"""The two things that the refund desk does to the outside world."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from agents.fakepay import client
from ledger.models import Idempotency
from ledger.outcomes import Found, Outcome, from_response
from ledger.registry import Done
from ledger.tools import effect

LIMIT_CENTS = 50_000
"""Refunds above this need a person's approval of exactly this order and amount."""
TIMEOUT = timedelta(seconds=10)
REFUND_TIMEOUT = timedelta(seconds=45)
"""The bank behind the provider may take its time."""


def needs_permit(args: Mapping[str, Any]) -> bool:
    return int(args["amount_cents"]) > LIMIT_CENTS


def find_refund(key: str) -> Found | None:
    """What the provider knows under this key."""
    refunds = client.find_refunds(key)
    return Found(reference=refunds[0]["id"], result=dict(refunds[0])) if refunds else None


def find_mail(key: str) -> Found | None:
    mails = client.find_mails(key)
    return Found(reference=mails[0]["id"], result=dict(mails[0])) if mails else None


def find_cancellation(key: str) -> Found | None:
    found = client.find_cancellations(key)
    return Found(reference=found[0]["id"], result=dict(found[0])) if found else None


@effect(
    "payments.cancel",
    idempotency=Idempotency.PROVIDER,
    window=timedelta(hours=24),
    lookup=find_cancellation,
    timeout=TIMEOUT,
)
def cancel_refund(refund_id: str, *, idempotency_key: str) -> Outcome:
    """Take a refund back."""
    return from_response(
        client.cancel(refund_id, idempotency_key=idempotency_key, timeout=TIMEOUT.total_seconds())
    )


def cancelling(refund: Done) -> dict[str, object]:
    """The arguments that take a refund back."""
    return {"refund_id": refund.reference}


@effect(
    "payments.refund",
    idempotency=Idempotency.PROVIDER,
    window=timedelta(hours=24),
    lookup=find_refund,
    timeout=REFUND_TIMEOUT,
    permit=needs_permit,
    undo=cancel_refund,
    undo_args=cancelling,
)
def issue_refund(
    order_id: str, amount_cents: int, currency: str, *, idempotency_key: str
) -> Outcome:
    """Pay the money back to the card that the order was paid with."""
    return from_response(
        client.refund(
            order_id,
            amount_cents,
            currency,
            idempotency_key=idempotency_key,
            timeout=REFUND_TIMEOUT.total_seconds(),
        )
    )


@effect("mail.send", idempotency=Idempotency.LOOKUP, lookup=find_mail, timeout=TIMEOUT)
def send_mail(to: str, subject: str, text: str, order_id: str, *, idempotency_key: str) -> Outcome:
    """Write to the customer."""
    return from_response(
        client.mail(
            to,
            subject,
            text,
            idempotency_key=idempotency_key,
            timeout=TIMEOUT.total_seconds(),
            order_id=order_id,
        )
    )
