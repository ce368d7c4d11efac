"""Raised by `approvals.ask`: the only shape that names the effect that an approval permits.

The node receives a decision with its comment and by whom. Where arguments were changed, it receives
them as well, and the permit is for those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from approvals.jsonforms.schemas import Schema
from approvals.shapes import base, edits
from approvals.shapes.base import (
    APPROVE,
    EDIT,
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

MARK = "signalbox"
VERSION = 1
KEYS = frozenset({MARK, "question", "tool", "args", "facts", "why", "digest"})


def detects(payload: object, schema: Schema | None) -> bool:
    if not isinstance(payload, dict) or payload.keys() != KEYS:
        return False
    types = {MARK: int, "args": dict, "facts": dict}
    return (
        all(type(value) is types.get(key, str) for key, value in payload.items())
        and payload[MARK] == VERSION
        and base.usable_tool(payload["tool"])
        and base.fingerprint({key: payload[key] for key in KEYS - {"digest"}}) == payload["digest"]
    )


def describe(payload: object) -> Question:
    asked = _of(payload)
    return Question(
        title=base.line(asked["question"]),
        tool=asked["tool"],
        args=asked["args"],
        facts=asked["facts"],
        why=asked["why"],
    )


def actions(asked: Asked) -> tuple[Action, ...]:
    given = _of(asked.payload)
    schema = edits.schema_of(asked, given["args"]) if given["tool"] else None
    return (
        Action(
            token=asked.token(0, asked.payload),
            tool=given["tool"],
            args=given["args"],
            why=given["why"],
            choices=(APPROVE, EDIT, REJECT) if schema else (APPROVE, REJECT),
            schema=schema,
        ),
    )


def default(action: Action, choice: Choice, text: str) -> Pick | None:
    return Pick(choice=choice.key)


def write(actions: tuple[Action, ...], picks: Picks) -> object:
    return picks[actions[0].token].value


def read(
    actions: tuple[Action, ...], verdict: str, value: object, args: Mapping[str, object] | None
) -> dict[str, Pick]:
    if verdict == Verdict.REJECTED:
        if args is not None:
            raise BadReply("A rejection changes no arguments.")
        return {actions[0].token: Pick(choice=REJECT.key, value=value)}
    choice = APPROVE if args is None else EDIT
    return {actions[0].token: Pick(choice=choice.key, value=value, args=args)}


def changed(payload: object, args: Sequence[Mapping[str, object] | None]) -> object:
    return payload if args[0] is None else {**_of(payload), "args": dict(args[0])}


def answer(
    asked: Asked, verdict: str, picks: tuple[tuple[Action, Pick], ...], said: Said
) -> object:
    pick = picks[0][1] if picks else Pick(choice="")
    changed = {} if pick.args is None else {"args": dict(pick.args)}
    return {
        "decision": str(verdict),
        "value": pick.value,
        "comment": said.comment,
        "digest": asked.digest,
        "by": said.by,
        **changed,
    }


def _of(payload: object) -> Mapping[str, Any]:
    if not isinstance(payload, Mapping):
        raise TypeError("a question of ours is a mapping")
    return payload
