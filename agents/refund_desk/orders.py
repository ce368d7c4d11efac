"""The shop's orders. In the example they are a file; in a real shop, its order service."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import TypedDict, cast

from ledger.tools import reads


class Order(TypedDict):
    """An order, with the customer's claim. Amounts are in minor units."""

    order_id: str
    customer: str
    email: str
    item: str
    amount_cents: int
    currency: str
    card: str
    claim: str


@reads("orders.load")
def load(order_id: str) -> Order:
    """The order of this number. Raises LookupError, which fails the run: trying again is no use."""
    try:
        found = _orders()[order_id]
    except KeyError:
        raise LookupError(f"There is no order {order_id}. Check the number.") from None
    stored = {key: value for key, value in found.items() if key != "assessment"}
    # The file has the fields of an Order; another one would fail at its first use.
    return cast(Order, {"order_id": order_id, **stored})


def scripted_assessment(order_id: str) -> str:
    """What the scripted model answers for this order."""
    return json.dumps(_orders()[order_id]["assessment"])


@cache
def _orders() -> dict[str, dict[str, object]]:
    text = resources.files(__package__).joinpath("orders.json").read_text("utf-8")
    orders: dict[str, dict[str, object]] = json.loads(text)
    return orders
