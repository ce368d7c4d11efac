"""What a run of each of the drills' agents should have come to (see `graphs`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from signalbox.drills.evidence import Expected

SMALL_CENTS, LARGE_CENTS = 1_000, 90_000
"""A large refund needs a permit."""
STEPS = {
    "line": ("prepare", "refund", "close"),
    "asked": ("prepare", "gate", "refund", "close"),
    "brief": ("prepare", "gate", "refund", "close"),
    "twice": ("two_gates", "refund", "close"),
    "pair": ("left", "right", "join", "refund", "close"),
    "hasty": ("both", "close"),
}
"""What must be in the state at the end."""
TODAY = ", today"
"""What a question contains after its words have changed."""


def refund(order: str) -> str:
    """The question whose approval the refund needs."""
    return f"Refund {order}?"


def tell(order: str, words: str = "") -> str:
    """The second question, which allows nothing."""
    return f"Tell about {order}{words}?"


def orders(agent: str, order: str) -> tuple[str, ...]:
    """What is refunded."""
    return (f"{order}/1", f"{order}/2") if agent == "hasty" else (order,)


def by_name(agent: str) -> bool:
    """Whether the agent asks for its refund by tool and arguments, which earns a permit."""
    return agent in ("asked", "brief")


def expected(
    agent: str, order: str, run_id: str, verdicts: Mapping[str, str], outdated: Sequence[str]
) -> Expected:
    """`verdicts` has every question that should have been asked; see `evidence.Expected`."""
    return Expected(
        run_id=run_id,
        orders=orders(agent, order),
        amount_cents=LARGE_CENTS if by_name(agent) else SMALL_CENTS,
        steps=STEPS[agent],
        receipts=agent != "hasty",  # it swallows what it is told about the first
        gate=refund(order) if verdicts else "",
        permit=by_name(agent),
        verdicts=verdicts,
        outdated=tuple(outdated),
    )
