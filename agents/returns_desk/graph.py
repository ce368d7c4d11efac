"""The returns desk as a graph: load → collect → mail. Nobody is asked."""

from __future__ import annotations

from typing import TypedDict

from langgraph.graph import END, START, StateGraph

from agents.refund_desk import orders, payments
from agents.refund_desk.orders import Order
from agents.returns_desk import carrier


class State(TypedDict, total=False):
    """What the run knows. `order_id` is its input."""

    order_id: str
    order: Order
    outcome: str


def load_order(state: State) -> State:
    return {"order": orders.load(order_id=state["order_id"])}


def collect(state: State) -> State:
    order = state["order"]
    carrier.collect(order_id=order["order_id"], item=order["item"])
    return {}


def mail(state: State) -> State:
    order = state["order"]
    payments.send_mail(
        to=order["email"],
        subject=f"Your order {order['order_id']}",
        text="A carrier will collect your parcel.",
        order_id=order["order_id"],
    )
    return {"outcome": "collected"}


builder = StateGraph(State)
builder.add_node("load", load_order)
builder.add_node("collect", collect)
builder.add_node("mail", mail)
builder.add_edge(START, "load")
builder.add_edge("load", "collect")
builder.add_edge("collect", "mail")
builder.add_edge("mail", END)
graph = builder.compile()
