"""Signatures of webhooks, as Stripe makes them (https://docs.stripe.com/webhooks#verify-manually).

    Stripe-Signature: t=1793000000,v1=5257a8…,v1=6f1e0c…

1. `v1` is HMAC-SHA256 over "t.body" as it came over the wire, in hexadecimal. While a secret is
   changed there is one per secret; any of ours that fits any of theirs will do.
2. `t` must lie within the tolerance around the database's clock, before and after: who records a
   webhook can send it again for so long only, and a repeat within that time changes nothing.
3. Comparing takes as long for a wrong signature as for a right one.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from django.utils.translation import gettext_noop as noop

HEADER = "Stripe-Signature"
LONGEST_HEADER = 4096


class BadSignature(Exception):
    """The webhook is not proved to come from its provider."""


def verify(
    header: str, body: bytes, *, secrets: Sequence[str], now: datetime, tolerance: timedelta
) -> None:
    """Raise BadSignature, with the reason, unless one of the secrets has signed the body lately."""
    moment, signatures = _read(header)
    good = False
    for secret in secrets:
        expected = sign(secret, moment, body).encode()
        for signature in signatures:
            good |= hmac.compare_digest(expected, signature.encode(errors="replace"))
    if not good:
        raise BadSignature(noop("no signature fits"))
    if abs(now - datetime.fromtimestamp(int(moment), UTC)) > tolerance:
        raise BadSignature(noop("it was signed too long ago, or the clocks differ"))


def sign(secret: str, moment: str, body: bytes) -> str:
    """The signature of a body at this second, in hexadecimal."""
    return hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()


def _read(header: str) -> tuple[str, list[str]]:
    """The second and the signatures of scheme v1. Other schemes are left out."""
    if not header or len(header) > LONGEST_HEADER:
        raise BadSignature(noop("there is no signature"))
    moment, signatures = "", []
    for name, value in _pairs(header):
        if name == "t":
            moment = value
        elif name == "v1":
            signatures.append(value)
    if not (moment.isascii() and moment.isdigit() and len(moment) <= 11):
        raise BadSignature(noop("it does not say when it was signed"))
    return moment, signatures


def _pairs(header: str) -> Iterator[tuple[str, str]]:
    for item in header.split(","):
        name, _, value = item.strip().partition("=")
        yield name, value
