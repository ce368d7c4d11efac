"""An agent that refunds at fakepay, with one tool per way of being guarded."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypedDict

from langgraph.graph import END, START, StateGraph

from agents.fakepay import client
from ledger.models import Idempotency
from ledger.outcomes import Found, Outcome, from_response
from ledger.registry import Done
from ledger.tools import effect

TIMEOUT = timedelta(seconds=2)


def refund(key: str, order: str) -> Outcome:
    return from_response(
        client.refund(order, 1200, "EUR", idempotency_key=key, timeout=TIMEOUT.total_seconds())
    )


def find(key: str) -> Found | None:
    refunds = client.find_refunds(key)
    return Found(reference=refunds[0]["id"], result=dict(refunds[0])) if refunds else None


def find_cancellation(key: str) -> Found | None:
    found = client.find_cancellations(key)
    return Found(reference=found[0]["id"], result=dict(found[0])) if found else None


@effect(
    "paydesk.cancel",
    idempotency=Idempotency.PROVIDER,
    window=timedelta(hours=24),
    lookup=find_cancellation,
    timeout=TIMEOUT,
)
def cancel(refund_id: str, *, idempotency_key: str) -> Outcome:
    return from_response(
        client.cancel(refund_id, idempotency_key=idempotency_key, timeout=TIMEOUT.total_seconds())
    )


@effect("paydesk.cancel_alone", idempotency=Idempotency.LEDGER, timeout=TIMEOUT)
def cancel_alone(refund_id: str, *, idempotency_key: str) -> Outcome:
    return from_response(
        client.cancel(refund_id, idempotency_key=idempotency_key, timeout=TIMEOUT.total_seconds())
    )


def cancelling(done: Done) -> dict[str, object]:
    return {"refund_id": done.reference}


@effect(
    "paydesk.kept",
    idempotency=Idempotency.PROVIDER,
    window=timedelta(hours=24),
    lookup=find,
    timeout=TIMEOUT,
    undo=cancel,
    undo_args=cancelling,
)
def kept(order: str, *, idempotency_key: str) -> Outcome:
    return refund(idempotency_key, order)


@effect("paydesk.found", idempotency=Idempotency.LOOKUP, lookup=find, timeout=TIMEOUT)
def found(order: str, *, idempotency_key: str) -> Outcome:
    return refund(idempotency_key, order)


@effect(
    "paydesk.alone",
    idempotency=Idempotency.LEDGER,
    timeout=TIMEOUT,
    undo=cancel_alone,
    undo_args=cancelling,
)
def alone(order: str, *, idempotency_key: str) -> Outcome:
    return refund(idempotency_key, order)


TOOLS = {"kept": kept, "found": found, "alone": alone}


class State(TypedDict, total=False):
    tool: str
    order: str
    paid: Any


def pay(state: State) -> State:
    return {"paid": TOOLS[state["tool"]](order=state["order"])}


builder = StateGraph(State)
builder.add_node("pay", pay)
builder.add_edge(START, "pay")
builder.add_edge("pay", END)
graph = builder.compile()
