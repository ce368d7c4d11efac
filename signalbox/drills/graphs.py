"""The agents that drills drive, and the three tools with which they refund.

Input: `guard`, who prevents a second performance (PROVIDER, LOOKUP, LEDGER), and `order_id`. Every
node notes in the state that it ran, what it was answered and which receipt it got; so the output of
a run shows each step that counted, once.

    line    prepare → refund → close
    asked   prepare → gate → refund → close      the gate asks for exactly this refund: a permit
    brief   the same; its question has a deadline of seconds
    twice   gate → refund → close                one node asks two questions, one after the other
    pair    (left | right) → refund → close      two nodes ask at the same time
    hasty   both → close                         one node refunds two orders and swallows errors

`twice` and `pair` ask by LangGraph's bare `interrupt()`, which protects from nothing by itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from operator import add
from typing import Annotated, Any, TypedDict

import httpx
from django.conf import settings
from langgraph.config import get_config
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

import approvals
from agents.fakepay import client
from ledger.models import Idempotency
from ledger.outcomes import Found, Outcome, from_response
from ledger.tools import Effectful, effect
from runs import killpoints
from signalbox.drills import arming, expectations
from signalbox.drills.expectations import LARGE_CENTS, SMALL_CENTS

logger = logging.getLogger(__name__)

# --- refunding ------------------------------------------------------------------------------------


def _is_large(args: Any) -> bool:
    return int(args["amount_cents"]) >= LARGE_CENTS


def _find(key: str) -> Found | None:
    refunds = client.find_refunds(key)
    return Found(reference=refunds[0]["id"], result=dict(refunds[0])) if refunds else None


def _post(order_id: str, amount_cents: int, headers: dict[str, str], timeout: float) -> Outcome:
    body = {"order_id": order_id, "amount_cents": amount_cents, "currency": "EUR"}
    url = f"{settings.FAKEPAY_URL}/v1/refunds"
    # A connection of its own each time: what is shared would have to survive a fork.
    answer = httpx.post(url, json=body, headers=headers, timeout=timeout, trust_env=False)
    return from_response(answer)


DEDUP_OFF = {"X-Fakepay-Dedup": "off"}
"""Every request performs, whatever its key."""


@effect(
    "drills.refund_provider",
    idempotency=Idempotency.PROVIDER,
    window=timedelta(hours=1),
    permit=_is_large,
)
def refund_provider(
    order_id: str, amount_cents: int, *, idempotency_key: str, timeout: float
) -> Outcome:
    return _post(order_id, amount_cents, {"Idempotency-Key": idempotency_key}, timeout)


@effect(
    "drills.refund_lookup",
    idempotency=Idempotency.LOOKUP,
    lookup=_find,
    permit=_is_large,
)
def refund_lookup(
    order_id: str, amount_cents: int, *, idempotency_key: str, timeout: float
) -> Outcome:
    headers = {"Idempotency-Key": idempotency_key} | DEDUP_OFF
    return _post(order_id, amount_cents, headers, timeout)


@effect(
    "drills.refund_ledger",
    idempotency=Idempotency.LEDGER,
    permit=_is_large,
    # Longer than a takeover takes: whoever takes over meets the call before the sweeper does.
    timeout=timedelta(seconds=12),
)
def refund_ledger(order_id: str, amount_cents: int, *, timeout: float) -> Outcome:
    return _post(order_id, amount_cents, DEDUP_OFF, timeout)


TOOLS: dict[str, Effectful] = {
    "PROVIDER": refund_provider,
    "LOOKUP": refund_lookup,
    "LEDGER": refund_ledger,
}


# --- nodes ----------------------------------------------------------------------------------------


class State(TypedDict, total=False):
    guard: str
    order_id: str
    steps: Annotated[list[str], add]
    answers: Annotated[list[dict[str, Any]], add]
    receipts: Annotated[list[str], add]


def reach(place: str) -> str:
    """A point of the drill, `node.<place>`. Returns the id of the run."""
    run_id: str = get_config()["configurable"]["thread_id"]
    killpoints.reach(f"node.{place}", run_id)
    return run_id


def prepare(_: State) -> State:
    reach("prepare")
    return {"steps": ["prepare"]}


def refund(state: State) -> State:
    reach("refund")
    receipt = TOOLS[state["guard"]](order_id=state["order_id"], amount_cents=_amount(state))
    reach("refunded")
    return {"steps": ["refund"], "receipts": [receipt["id"]]}


def close(_: State) -> State:
    reach("close")
    return {"steps": ["close"]}


def _amount(state: State) -> int:
    """What was asked for by name is large; what was allowed by a bare answer cannot be."""
    return LARGE_CENTS if "gate" in state["steps"] else SMALL_CENTS


def gate(state: State) -> State:
    tool = TOOLS[state["guard"]]
    question = expectations.refund(state["order_id"])
    wanted = tool.describe(order_id=state["order_id"], amount_cents=LARGE_CENTS)
    answer = approvals.ask(question, tool=wanted["tool"], args=wanted["args"])
    reach("answered")
    return {
        "steps": ["gate"],
        "answers": [{"question": question, "got": _said(answer)}],
    }


def _said(answer: approvals.Answer) -> dict[str, object]:
    """The answer in the form in which a decision keeps it."""
    names = ("decision", "value", "comment", "by", "digest")
    return {name: getattr(answer, name) for name in names}


def two_gates(state: State) -> State:
    answers = []
    order = state["order_id"]
    for question in (expectations.refund(order), expectations.tell(order)):
        answers.append({"question": question, "got": interrupt({"question": question})})
        reach("between" if len(answers) == 1 else "answered")
    return {"steps": ["two_gates"], "answers": answers}


def left(state: State) -> State:
    question = expectations.refund(state["order_id"])
    got = interrupt({"question": question})
    reach("answered")
    return {"steps": ["left"], "answers": [{"question": question, "got": got}]}


def right(state: State) -> State:
    run_id = reach("right")
    question = expectations.tell(state["order_id"], arming.said(run_id))
    got = interrupt({"question": question})
    return {"steps": ["right"], "answers": [{"question": question, "got": got}]}


def join(_: State) -> State:
    return {"steps": ["join"]}


def allowed(state: State) -> str:
    """Where to go from a gate: only an approval of the refund leads to it."""
    wanted = expectations.refund(state["order_id"])
    got = next(each["got"] for each in state["answers"] if each["question"] == wanted)
    said = got["decision"] == "approved" if isinstance(got, dict) else got is True
    return "refund" if said else "close"


def both(state: State) -> State:
    """As agents do: if one order fails, go on with the next."""
    one, other = expectations.orders("hasty", state["order_id"])
    tool = TOOLS[state["guard"]]
    try:
        tool(order_id=one, amount_cents=SMALL_CENTS)
    except Exception as exc:
        logger.warning("swallowed: %s", exc)
    tool(order_id=other, amount_cents=SMALL_CENTS)
    return {"steps": ["both"]}


# --- graphs ---------------------------------------------------------------------------------------

Node = Callable[[State], State]


def _sequence(*nodes: Node, gate: str = "") -> Any:
    """These nodes in turn; from the one called `gate` to `close`, unless the refund is allowed."""
    builder: Any = StateGraph(State)
    for node in nodes:
        builder.add_node(node)
    names = [START, *(node.__name__ for node in nodes), END]
    for one, following in pairwise(names):
        if one == gate:
            builder.add_conditional_edges(one, allowed, [following, "close"])
        else:
            builder.add_edge(one, following)
    return builder.compile()


def _pair() -> Any:
    builder: Any = StateGraph(State)
    for node in (left, right, join, refund, close):
        builder.add_node(node)
    builder.add_edge(START, "left")
    builder.add_edge(START, "right")
    builder.add_edge(["left", "right"], "join")
    builder.add_conditional_edges("join", allowed, ["refund", "close"])
    builder.add_edge("refund", "close")
    builder.add_edge("close", END)
    return builder.compile()


line = _sequence(prepare, refund, close)
asked = _sequence(prepare, gate, refund, close, gate="gate")
brief = _sequence(prepare, gate, refund, close, gate="gate")
twice = _sequence(two_gates, refund, close, gate="two_gates")
pair = _pair()
hasty = _sequence(both, close)
