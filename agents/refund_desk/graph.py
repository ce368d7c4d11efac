"""The refund desk as a graph.

    load → assess → [ask] → refund → mail
             └────── refuse ──────────┘

Copy this folder to start an agent of your own: reads are marked `@reads`, everything that changes
the world is an `@effect`, and people are asked with `approvals.ask`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, TypedDict

from langgraph.graph import END, START, StateGraph

import approvals
from agents.refund_desk import orders, payments
from agents.refund_desk.assess import assess
from agents.refund_desk.orders import Order


class State(TypedDict, total=False):
    """What the run knows. `order_id` is its input."""

    order_id: str
    order: Order
    verdict: str
    reason: str
    refund: dict[str, object]
    outcome: str


def load_order(state: State) -> State:
    return {"order": orders.load(order_id=state["order_id"])}


def assess_claim(state: State) -> State:
    said = assess(state["order"])
    return {"verdict": said.verdict, "reason": said.reason}


def after_assessment(state: State) -> Literal["ask", "refund", "mail"]:
    if state["verdict"] != "refund":
        return "mail"
    return "ask" if payments.needs_permit(refund_of(state["order"])) else "refund"


def ask(state: State) -> State:
    order = state["order"]
    answer = approvals.ask(
        f"Refund {money(order)} to {order['customer']}",
        tool="payments.refund",
        args=refund_of(order),
        facts={
            "Amount": money(order),
            "Order": order["order_id"],
            "Item": order["item"],
            "Card": f"ending {order['card']}",
        },
        why=state["reason"],
    )
    if answer:
        return {"verdict": "refund"}
    return {"verdict": "refuse", "reason": answer.comment or "The refund was not approved."}


def after_asking(state: State) -> Literal["refund", "mail"]:
    return "refund" if state["verdict"] == "refund" else "mail"


def refund(state: State) -> State:
    return {"refund": payments.issue_refund(**refund_of(state["order"]))}


def mail(state: State) -> State:
    order, refunded = state["order"], "refund" in state
    payments.send_mail(
        to=order["email"],
        subject=f"Your order {order['order_id']}",
        text=(
            f"We have refunded {money(order)} to your card ending {order['card']}."
            if refunded
            else "We have looked at your claim and cannot refund this order."
        ),
        order_id=order["order_id"],
    )
    return {"outcome": "refunded" if refunded else "refused"}


def refund_of(order: Order) -> dict[str, object]:
    """The arguments of the refund: what is approved is exactly what is paid."""
    return {
        "order_id": order["order_id"],
        "amount_cents": order["amount_cents"],
        "currency": order["currency"],
    }


def money(order: Order) -> str:
    return f"{order['currency']} {Decimal(order['amount_cents']) / 100:,.2f}"


builder = StateGraph(State)
builder.add_node("load", load_order)
builder.add_node("assess", assess_claim)
builder.add_node("ask", ask)
builder.add_node("refund", refund)
builder.add_node("mail", mail)
builder.add_edge(START, "load")
builder.add_edge("load", "assess")
builder.add_conditional_edges("assess", after_assessment)
builder.add_conditional_edges("ask", after_asking)
builder.add_edge("refund", "mail")
builder.add_edge("mail", END)
graph = builder.compile()
