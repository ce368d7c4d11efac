"""Everything nobody knows: approve and reject mean True and False unless the policy maps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from approvals.jsonforms.schemas import Schema
from approvals.shapes import base
from approvals.shapes.base import (
    APPROVE,
    NOTHING,
    REJECT,
    Action,
    Asked,
    BadReply,
    Choice,
    Pick,
    Picks,
    Question,
    Said,
)
from approvals.status import Verdict

MEANS: Mapping[str, object] = {Verdict.APPROVED: True, Verdict.REJECTED: False}


def detects(payload: object, schema: Schema | None) -> bool:
    return True


def describe(payload: object) -> Question:
    return Question(title=base.line(base.words_of(payload)))


def actions(asked: Asked) -> tuple[Action, ...]:
    return (Action(token=asked.token(0, asked.payload), choices=(APPROVE, REJECT)),)


def default(action: Action, choice: Choice, text: str) -> Pick | None:
    return Pick(choice=choice.key)


def write(actions: tuple[Action, ...], picks: Picks) -> object:
    return None


def read(
    actions: tuple[Action, ...], verdict: str, value: object, args: Mapping[str, object] | None
) -> dict[str, Pick]:
    if value is not None or args is not None:
        raise BadReply("This question takes a verdict and no value.")
    choice = APPROVE if verdict == Verdict.APPROVED else REJECT
    return {actions[0].token: Pick(choice=choice.key)}


def changed(payload: object, args: Sequence[Mapping[str, object] | None]) -> object:
    del args
    return payload


def answer(
    asked: Asked,
    verdict: str,
    picks: tuple[tuple[Action, Pick], ...],
    said: Said,
) -> object:
    return MEANS.get(verdict, NOTHING)
