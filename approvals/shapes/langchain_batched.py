"""LangChain's middleware as it is by default: one question about all calls of one turn.

The node receives `{"decisions": [...]}`, one for each call, by position, and of a type that is
allowed for that call. With a wrong one LangChain raises after the answer was stored, which poisons
the thread. So each call has a token, replies name the tokens, and the positions are made here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from accounts.speech import later
from approvals.jsonforms.schemas import Schema
from approvals.shapes import base, edits, langchain
from approvals.shapes.base import (
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


def detects(payload: object, schema: Schema | None) -> bool:
    return isinstance(payload, Mapping) and all(
        isinstance(payload.get(key), list) for key in ("action_requests", "review_configs")
    )


def describe(payload: object) -> Question:
    calls = [each for each in _of(payload)["action_requests"] if isinstance(each, Mapping)]
    if len(calls) == 1:
        return base.call(calls[0].get("name"), calls[0].get("args"), calls[0].get("description"))
    names = [str(each.get("name") or "a tool") for each in calls]
    return Question(title=base.line(f"Call {', '.join(names) or 'nothing'}"))


def actions(asked: Asked) -> tuple[Action, ...]:
    given = _of(asked.payload)
    return tuple(_actions(asked, given["action_requests"], given["review_configs"]))


def _actions(asked: Asked, calls: list[Any], configs: list[Any]) -> Iterator[Action]:
    if not calls or len(calls) != len(configs):
        raise Malformed(later("It does not have one review config for each call."))
    for position, (call, config) in enumerate(zip(calls, configs, strict=True)):
        if not isinstance(call, Mapping) or not isinstance(config, Mapping):
            raise Malformed(later("Calls and review configs must be objects."))
        name, args = call.get("name"), call.get("args")
        if not isinstance(name, str) or not isinstance(args, Mapping):
            raise Malformed(later("A call has a name and arguments."))
        if config.get("action_name") != name:
            raise Malformed(later("A review config is about another call than its place says."))
        schema = edits.schema_of(asked, args)
        why = call.get("description")
        yield Action(
            token=asked.token(position, call),
            tool=name,
            args=args,
            why=why if isinstance(why, str) else "",
            choices=langchain.choices(config.get("allowed_decisions"), editable=schema is not None),
            schema=schema,
        )


def default(action: Action, choice: Choice, text: str) -> Pick | None:
    return langchain.default(action, choice, text)


def write(actions: tuple[Action, ...], picks: Picks) -> object:
    return {each.token: langchain.write(each, picks[each.token]) for each in actions}


def read(
    actions: tuple[Action, ...],
    verdict: str,
    value: object,
    args: Mapping[str, object] | None,
) -> dict[str, Pick]:
    if args is not None or not isinstance(value, Mapping):
        raise BadReply(later("This question needs one decision for each call, named by its token."))
    if value.keys() != {each.token for each in actions}:
        raise BadReply(
            later(
                "What was sent does not decide exactly the {len} calls of this question."
                " Reload the page and decide there.",
                len=len(actions),
            )
        )
    return {each.token: langchain.read(each, value[each.token]) for each in actions}


def changed(payload: object, args: Sequence[Mapping[str, object] | None]) -> object:
    given = _of(payload)
    calls = [
        call if new is None else {**call, "args": dict(new)}
        for call, new in zip(given["action_requests"], args, strict=True)
    ]
    return {**given, "action_requests": calls}


def answer(
    asked: Asked,
    verdict: str,
    picks: tuple[tuple[Action, Pick], ...],
    said: Said,
) -> object:
    if not picks:
        return base.NOTHING
    return {"decisions": [langchain.write(action, pick) for action, pick in picks]}


def _of(payload: object) -> Mapping[str, Any]:
    if not isinstance(payload, Mapping):
        raise base.Unshaped
    return payload
