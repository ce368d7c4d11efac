"""How agents call fakepay: thin functions over one HTTP client per process.

They send once and never retry: whether to call again is the ledger's to decide. What a transport
error means is too, so `httpx.HTTPError` passes through.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Mapping
from functools import cache
from typing import TypedDict

import httpx
from django.conf import settings

LOOKUP_TIMEOUT = 10.0


class Refund(TypedDict):
    """A refund that the provider performed."""

    id: str
    at: str
    key: str | None
    order_id: str
    amount_cents: int
    currency: str
    reason: str | None
    request_id: int


class Mail(TypedDict):
    """A mail that the provider sent."""

    id: str
    at: str
    key: str | None
    recipient: str
    subject: str
    text: str
    order_id: str | None
    request_id: int


class Cancellation(TypedDict):
    """A refund that was taken back."""

    id: str
    at: str
    key: str | None
    refund_id: str
    reason: str | None
    request_id: int


def refund(  # noqa: PLR0913 - the provider's parameters
    order_id: str,
    amount_cents: int,
    currency: str,
    *,
    idempotency_key: str,
    timeout: float,
    reason: str | None = None,
    fault: str | None = None,
) -> httpx.Response:
    """Ask for a refund and return whatever the provider answers; `timeout` in seconds.

    `fault` makes fakepay misbehave (see `agents.fakepay.faults`). Raises `httpx.HTTPError` when
    no answer came: the refund may or may not have happened.
    """
    body = {
        "order_id": order_id,
        "amount_cents": amount_cents,
        "currency": currency,
        "reason": reason,
    }
    return _post("refunds", body, idempotency_key, timeout, fault)


def mail(  # noqa: PLR0913 - the provider's parameters
    to: str,
    subject: str,
    text: str,
    *,
    idempotency_key: str,
    timeout: float,
    order_id: str | None = None,
    fault: str | None = None,
) -> httpx.Response:
    """Have a mail sent; otherwise like `refund`."""
    body = {"to": to, "subject": subject, "text": text, "order_id": order_id}
    return _post("mails", body, idempotency_key, timeout, fault)


def cancel(
    refund_id: str, *, idempotency_key: str, timeout: float, fault: str | None = None
) -> httpx.Response:
    """Have a refund taken back; otherwise like `refund`."""
    return _post("cancellations", {"refund_id": refund_id}, idempotency_key, timeout, fault)


def find_cancellations(key: str) -> list[Cancellation]:
    """The cancellations performed under this key; otherwise like `find_refunds`."""
    found: list[Cancellation] = _get("cancellations", key).json()["data"]
    return found


def find_refunds(key: str) -> list[Refund]:
    """The refunds performed under this key, oldest first; too young ones may be missing.

    Raises `httpx.HTTPError` when the provider could not be asked: that is not a "no".
    """
    found: list[Refund] = _get("refunds", key).json()["data"]
    return found


def find_mails(key: str) -> list[Mail]:
    """The mails sent under this key; otherwise like `find_refunds`."""
    found: list[Mail] = _get("mails", key).json()["data"]
    return found


def _post(
    collection: str, body: Mapping[str, object], key: str, timeout: float, fault: str | None
) -> httpx.Response:
    # Bytes, because httpx takes header text as ASCII only and a key may hold an order's name.
    headers = {b"Idempotency-Key": key.encode()}
    if fault is not None:
        headers[b"X-Fakepay-Fault"] = fault.encode()
    return _http(os.getpid()).post(_url(collection), json=body, headers=headers, timeout=timeout)


def _get(collection: str, key: str) -> httpx.Response:
    answer = _http(os.getpid()).get(_url(collection), params={"key": key})
    return answer.raise_for_status()


def _url(collection: str) -> str:
    return f"{settings.FAKEPAY_URL.rstrip('/')}/v1/{collection}"


@cache
def _http(pid: int) -> httpx.Client:
    """This process's client. One per process id: a forked child must not share the sockets.

    Proxies of the environment are for the outside; fakepay stands next to the workers.
    """
    client = httpx.Client(timeout=LOOKUP_TIMEOUT, trust_env=False)
    atexit.register(client.close)
    return client
