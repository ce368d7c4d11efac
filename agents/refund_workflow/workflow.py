"""A refund as a function: an `@entrypoint` that asks above a limit, and a `@task` that refunds.

The function's body runs again from the top after every stop. So everything that it must not repeat
is a task or an effect, and what it asks depends on its input and on stored results only.
"""

from __future__ import annotations

from langgraph.func import entrypoint, task

import approvals
from agents.refund_desk import orders, payments
from agents.refund_desk.graph import money, refund_of
from agents.refund_desk.orders import Order


@task
def load(order_id: str) -> Order:
    return orders.load(order_id=order_id)


@task
def refund(order: Order) -> dict[str, object]:
    paid: dict[str, object] = payments.issue_refund(**refund_of(order))
    return paid


@entrypoint()
def refund_workflow(given: dict[str, str]) -> dict[str, object]:
    order = load(given["order_id"]).result()
    args = refund_of(order)
    if payments.needs_permit(args):
        answer = approvals.ask(
            f"Refund {money(order)} to {order['customer']}",
            tool="payments.refund",
            args=args,
            facts={"Amount": money(order), "Order": order["order_id"], "Item": order["item"]},
            why=order["claim"],
        )
        if not answer:
            return {"outcome": "refused", "by": answer.by}
    return {"outcome": "refunded", "refund": refund(order).result()}
