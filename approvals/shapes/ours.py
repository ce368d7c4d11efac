"""Raised by `approvals.ask`: the only shape that names the effect that an approval permits.

The node receives a decision with its comment and by whom. Where arguments were changed, it receives
them as well, and the permit is for those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from accounts.speech import later
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
MAY = frozenset({"target"})
"""What not every question has."""


def is_one(payload: object) -> bool:
    """Whether this has the parts of a question of ours, as raised or as kept."""
    return isinstance(payload, dict) and payload.keys() - MAY == KEYS


def detects(payload: object, schema: Schema | None) -> bool:
    if not isinstance(payload, dict) or not is_one(payload) or not _sound(payload.get("target")):
        return False
    types = {MARK: int, "args": dict, "facts": dict, "target": dict}
    return (
        all(type(value) is types.get(key, str) for key, value in payload.items())
        and payload[MARK] == VERSION
        and base.usable_tool(payload["tool"])
        and base.fingerprint({key: payload[key] for key in payload.keys() - {"digest"}})
        == payload["digest"]
    )


def _sound(target: object) -> bool:
    if target is None:
        return True
    return (
        isinstance(target, dict)
        and target.keys() == {"name", "facts"}
        and isinstance(target["name"], str)
        and isinstance(target["facts"], dict)
    )


def describe(payload: object) -> Question:
    asked = _of(payload)
    target = asked.get("target")
    target = target if isinstance(target, Mapping) else {}  # where a policy hides all of it
    return Question(
        title=base.line(asked["question"]),
        tool=asked["tool"],
        args=asked["args"],
        facts=asked["facts"],
        why=asked["why"],
        target=target.get("name", ""),
        state=target.get("facts", {}),
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
            raise BadReply(later("A rejection changes no arguments."))
        return {actions[0].token: Pick(choice=REJECT.key, value=value)}
    choice = APPROVE if args is None else EDIT
    return {actions[0].token: Pick(choice=choice.key, value=value, args=args)}


def changed(payload: object, args: Sequence[Mapping[str, object] | None]) -> object:
    return payload if args[0] is None else {**_of(payload), "args": dict(args[0])}


def answer(
    asked: Asked, verdict: str, picks: tuple[tuple[Action, Pick], ...], said: Said
) -> object:
    pick = picks[0][1] if picks else Pick(choice="")
    more: dict[str, object] = {} if pick.args is None else {"args": dict(pick.args)}
    target = _of(asked.payload).get("target")
    if target is not None:
        more["target"] = target["facts"]  # which the node compares with those of that moment
    return {
        "decision": str(verdict),
        "value": pick.value,
        "comment": said.comment,
        "digest": asked.digest,
        "by": said.by,
        **more,
    }


def _of(payload: object) -> Mapping[str, Any]:
    if not isinstance(payload, Mapping):
        raise base.Unshaped
    return payload
