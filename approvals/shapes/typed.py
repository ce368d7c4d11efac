"""A question that brings a schema for its answer: the node receives a value that fits it.

LangGraph enforces a Python type and only shows a JSON Schema; we enforce both. An answer lets the
agent go on with something, so whoever gives it needs to be allowed to approve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accounts.speech import later as _
from approvals.jsonforms import schemas
from approvals.jsonforms.schemas import Schema
from approvals.shapes import base
from approvals.shapes.base import (
    NOTHING,
    Action,
    Asked,
    BadReply,
    Choice,
    Malformed,
    Pick,
    Picks,
    Question,
    Said,
)
from approvals.status import Verdict

ANSWER = Choice(key="answer", label=_("Send answer"), answers=True)


def detects(payload: object, schema: Schema | None) -> bool:
    return schema is not None


def describe(payload: object) -> Question:
    return Question(title=base.line(base.words_of(payload)))


def actions(asked: Asked) -> tuple[Action, ...]:
    if asked.schema is None:
        raise Malformed(_("Its schema was not kept. An operator can have it asked again."))
    why = schemas.broken(asked.schema)
    if why:
        raise Malformed(why)
    token = asked.token(0, asked.payload)
    return (Action(token=token, choices=(ANSWER,), schema=asked.schema),)


def default(action: Action, choice: Choice, text: str) -> Pick | None:
    del action, choice, text
    return None


def write(actions: tuple[Action, ...], picks: Picks) -> object:
    return picks[actions[0].token].value


def read(
    actions: tuple[Action, ...], verdict: str, value: object, args: Mapping[str, object] | None
) -> dict[str, Pick]:
    if args is not None or verdict != Verdict.APPROVED:
        raise BadReply(_("This question takes an answer and nothing else."))
    return {actions[0].token: Pick(choice=ANSWER.key, value=value)}


def changed(payload: object, args: Sequence[Mapping[str, object] | None]) -> object:
    del args
    return payload


def answer(
    asked: Asked,
    verdict: str,
    picks: tuple[tuple[Action, Pick], ...],
    said: Said,
) -> object:
    return picks[0][1].value if picks else NOTHING
