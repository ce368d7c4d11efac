"""Hands of the tests of approvers' pages: a question, its page, and the form on it."""

from __future__ import annotations

from django.urls import reverse

from approvals.models import Request
from tests.approvals.conftest import (
    ours,
)
from tests.support.web import field

REFUND = {"order_id": "10382", "amount_cents": 60000, "currency": "EUR"}


def refund(question: str = "Refund EUR 600.00 to Ada Marsh", **parts: object) -> dict[str, object]:
    return ours(question, **{"args": REFUND, "why": "It arrived damaged."} | parts)


def page_of(request: Request) -> str:
    return reverse("approvals:review", args=[request.pk])


def form(response, verdict: str, **more: str) -> dict[str, str]:
    """The form on the page, filled in."""
    sent = {name: field(response, name) for name in ("digest", "token")}
    return {"verdict": verdict, "comment": ""} | sent | more
