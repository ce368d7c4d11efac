"""The agents of the originals. Their tools answer by themselves: nothing leaves this process.

Input: `order_id`; `how` says what becomes of an order; `size` how many mails a mailing sends, or
how many pages a report has. Each page is a checkpoint.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from langgraph.graph import END, START, StateGraph

import approvals
from ledger.models import Idempotency
from ledger.outcomes import Outcome
from ledger.tools import effect


class State(TypedDict, total=False):
    """What a run knows."""

    order_id: str
    how: str
    size: int
    page: int
    customer: str
    outcome: str


@effect("payments.refund", idempotency=Idempotency.LEDGER)
def refund(order_id: str, amount_cents: int, currency: str) -> Outcome:
    """Pay the money back."""
    return Outcome.success(f"re_{order_id}", {"id": f"re_{order_id}", "amount_cents": amount_cents})


@effect("mail.send", idempotency=Idempotency.LEDGER)
def send(to: str, subject: str, order_id: str) -> Outcome:
    """Write to a customer."""
    return Outcome.success(f"ml_{order_id}", {"id": f"ml_{order_id}"})


@effect("carrier.collect", idempotency=Idempotency.LEDGER)
def collect(order_id: str) -> Outcome:
    """Have a parcel collected by a carrier that does not answer."""
    return Outcome.unknown("The carrier did not answer.")


def load(state: State) -> State:
    if state["how"] == "failed":
        raise ValueError("The order has no customer.")
    return {"customer": "customer@example.org"}


def decide(state: State) -> State:
    if state["how"] != "asked":
        return {}
    answer = approvals.ask(
        f"Refund order {state['order_id']}",
        tool="payments.refund",
        args=_refund(state),
        facts={"Order": state["order_id"], "Amount": "EUR 640.00"},
        why="The customer says that the parcel never arrived.",
    )
    return {} if answer else {"how": "refused"}


def act(state: State) -> State:
    if state["how"] == "refused":
        return {"outcome": "refused"}
    if state["how"] == "doubted":
        collect(order_id=state["order_id"])
    refund(**_refund(state))
    send(to=state["customer"], subject="Your order", order_id=state["order_id"])
    return {"outcome": "refunded"}


def _refund(state: State) -> dict[str, object]:
    return {"order_id": state["order_id"], "amount_cents": 64_000, "currency": "EUR"}


def write_all(state: State) -> State:
    for number in range(state["size"]):
        order = f"{state['order_id']}-{number}"
        send(to=f"customer{number}@example.org", subject="News", order_id=order)
    return {"outcome": "written"}


def write_page(state: State) -> State:
    return {"page": state.get("page", 0) + 1}


def after_page(state: State) -> Literal["write_page", "__end__"]:
    return "write_page" if state["page"] < state["size"] else "__end__"


_order = StateGraph(State)
_order.add_node("load", load)
_order.add_node("decide", decide)
_order.add_node("act", act)
_order.add_edge(START, "load")
_order.add_edge("load", "decide")
_order.add_edge("decide", "act")
_order.add_edge("act", END)
order = _order.compile()

_mailing = StateGraph(State)
_mailing.add_node("write_all", write_all)
_mailing.add_edge(START, "write_all")
_mailing.add_edge("write_all", END)
mailing = _mailing.compile()

_report = StateGraph(State)
_report.add_node("write_page", write_page)
_report.add_edge(START, "write_page")
_report.add_conditional_edges("write_page", after_page)
report = _report.compile()
