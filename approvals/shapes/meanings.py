"""What a bare verdict means: to the agent by the policy, and whether it can be given at all."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from accounts.speech import later as _
from approvals.jsonforms import schemas
from approvals.policies import plain as plain_values
from approvals.shapes import base
from approvals.shapes.base import INCOMPARABLE, NOTHING, Asked, Shape
from approvals.shapes.kinds import KINDS
from approvals.status import Verdict


def why_not(asked: Asked, verdict: str) -> str:
    """Why this verdict cannot be given to this question; empty if it can."""
    if verdict == Verdict.APPROVED and asked.digest == INCOMPARABLE:
        return _(
            "This payload cannot be compared with what the agent will ask when it goes on, so"
            " it cannot be approved. The agent must ask in plain JSON."
        )
    if asked.shape == Shape.OURS or mapped(asked, verdict) is not NOTHING:
        return ""
    label = Shape(asked.shape).label
    try:
        found = KINDS[Shape(asked.shape)].actions(asked)
    except base.Malformed as exc:
        return _("This is a {label}, but not a sound one. {exc}", label=label, exc=exc)
    refusing = [[each.refuses for each in action.choices] for action in found]
    if verdict == Verdict.REJECTED:
        possible = all(any(each) for each in refusing)
    else:
        possible = all(refusing) and any(not all(each) for each in refusing)
    if possible:
        return ""
    word = "rejected" if verdict == Verdict.REJECTED else "approved"
    return _(
        "This is a {label}, which the agent does not allow to be {word} here.",
        label=label,
        word=word,
    )


def speaks(asked: Asked, verdict: str) -> bool:
    """Whether the policy gives this verdict a meaning, so that nothing else needs to be chosen."""
    return asked.shape != Shape.PLAIN and mapped(asked, verdict) is not NOTHING


def mapped(asked: Asked, verdict: str) -> object:
    """What the policy says that a verdict means, or the plain words; NOTHING if it says nothing."""
    if asked.shape == Shape.OURS:
        return NOTHING
    meant: Mapping[str, object] = asked.answers
    if asked.shape == Shape.PLAIN:
        meant = {"approve": True, "reject": False, **meant}
    found = meant.get(KEYS_OF_ANSWERS[Verdict(verdict)], NOTHING)
    if found is NOTHING:
        return NOTHING
    if asked.schema is not None and schemas.problems(asked.schema, found):
        return NOTHING
    # Policies with other values are refused by the system check; this holds if it was skipped.
    return found if plain_values.deliverable(found) else {"value": found}


KEYS_OF_ANSWERS: Mapping[Verdict, str] = MappingProxyType(
    {Verdict.APPROVED: "approve", Verdict.REJECTED: "reject", Verdict.EXPIRED: "expired"}
)
"""A verdict's name in a policy's `answers`."""
