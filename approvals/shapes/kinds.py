"""All shapes, in the order in which they are tried, and what a payload says by its shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from approvals.jsonforms import schemas
from approvals.shapes import (
    agent_inbox,
    base,
    langchain_batched,
    langchain_call,
    ours,
    plain,
    typed,
)
from approvals.shapes.base import Action, Asked, Kind, Pick, Question, Shape

KINDS: Mapping[Shape, Kind] = MappingProxyType(
    {
        Shape.OURS: ours,
        Shape.LANGCHAIN_BATCHED: langchain_batched,
        Shape.LANGCHAIN_CALL: langchain_call,
        Shape.AGENT_INBOX: agent_inbox,
        Shape.TYPED: typed,
        Shape.PLAIN: plain,
    }
)
"""In the order in which they are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A tool that is called if the question is approved, as far as the payload says."""

    tool: str
    args: object


def detect(payload: object, schema: object = None) -> Shape:
    """Which shape the payload of an interrupt has. `schema` is the interrupt's response schema."""
    known = schemas.of(schema)
    return next(shape for shape, kind in KINDS.items() if kind.detects(payload, known))


def describe(shape: str, payload: object) -> Question:
    """The question in `payload`, which may be the stored form that `canonical.visible` made, or
    what a policy leaves of it."""
    try:
        return KINDS[Shape(shape)].describe(payload)
    except base.Unshaped:
        return plain.describe(payload)


def calls(shape: str, payload: object) -> tuple[Call, ...]:
    """The tools that `payload` asks leave to call, in its order; empty if it names none."""
    if shape == Shape.LANGCHAIN_BATCHED and isinstance(payload, Mapping):
        return tuple(
            Call(tool=str(each.get("name") or ""), args=each.get("args"))
            for each in payload["action_requests"]
            if isinstance(each, Mapping)
        )
    question = describe(shape, payload)
    return (Call(tool=question.tool, args=question.args),) if question.tool else ()


def actions(asked: Asked) -> tuple[Action, ...]:
    """What is to be decided, and how each may be; empty if the question is malformed."""
    try:
        return KINDS[Shape(asked.shape)].actions(asked)
    except base.Malformed:
        return ()


def picks_of(
    shape: str,
    found: tuple[Action, ...],
    verdict: str,
    *,
    value: object,
    args: Mapping[str, object] | None,
) -> dict[str, Pick]:
    """The picks for these actions that a vote was kept with; empty where the verdict said all."""
    if not found or (value is None and args is None):
        return {}
    try:
        return KINDS[Shape(shape)].read(found, verdict, value, args)
    except base.BadReply:
        return {}


def with_args(shape: str, payload: object, args: Sequence[Mapping[str, object] | None]) -> object:
    """The payload with these arguments in place of those of its actions; None: unchanged."""
    return KINDS[Shape(shape)].changed(payload, args)


def write(shape: str, found: tuple[Action, ...], picks: Mapping[str, Pick]) -> object:
    """Picks for all these actions as the value of a reply."""
    return KINDS[Shape(shape)].write(found, picks)
