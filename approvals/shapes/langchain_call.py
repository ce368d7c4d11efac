"""LangChain's middleware per call: one question about one call, with a schema for its answer.

The node receives one decision. Which types are allowed is read from the schema, and every decision
is checked against it: sent together with others, a wrong one would let their tools run and fail.
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
    return isinstance(payload, Mapping) and payload.get("type") == "tool_approval"


def describe(payload: object) -> Question:
    given = _of(payload)
    return base.call(given.get("name"), given.get("args"), given.get("description"))


def actions(asked: Asked) -> tuple[Action, ...]:
    given = _of(asked.payload)
    name, args, why = given.get("name"), given.get("args"), given.get("description")
    if not isinstance(name, str) or not isinstance(args, Mapping):
        raise Malformed(later("It lacks the name or the arguments of the call."))
    if asked.schema is None:
        raise Malformed(later("It lacks the schema that says which decisions are allowed."))
    branches = dict(_branches(asked.schema))
    declared = _inside(asked.schema, branches.get("edit"), "edited_action", "args")
    if declared is not None and "$defs" in asked.schema:
        declared = {**declared, "$defs": asked.schema["$defs"]}
    schema = edits.schema_of(asked, args, declared) if "edit" in branches else None
    return (
        Action(
            token=asked.token(0, given),
            tool=name,
            args=args,
            why=why if isinstance(why, str) else "",
            choices=langchain.choices(list(branches), editable=schema is not None),
            schema=schema,
        ),
    )


def _branches(schema: Schema) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The types of decisions that the schema allows, each with its own part of the schema."""
    for each in schema.get("oneOf") or schema.get("anyOf") or [schema]:
        branch = _resolved(schema, each)
        kind = _inside(schema, branch, "type")
        if kind is None:
            continue
        values = [kind["const"]] if "const" in kind else kind.get("enum", [])
        yield from ((str(value), branch) for value in values)


def _inside(schema: Schema, part: Mapping[str, Any] | None, *path: str) -> dict[str, Any] | None:
    """The schema of the property at `path`; None if there is none."""
    for key in path:
        properties = part.get("properties") if part else None
        found = properties.get(key) if isinstance(properties, Mapping) else None
        part = _resolved(schema, found) if isinstance(found, Mapping) else None
    return dict(part) if part else None


def _resolved(schema: Schema, part: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = part.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
        return part
    found = schema.get("$defs", {}).get(reference.removeprefix("#/$defs/"))
    return found if isinstance(found, Mapping) else part


def default(action: Action, choice: Choice, text: str) -> Pick | None:
    return langchain.default(action, choice, text)


def write(actions: tuple[Action, ...], picks: Picks) -> object:
    return langchain.write(actions[0], picks[actions[0].token])


def read(
    actions: tuple[Action, ...],
    verdict: str,
    value: object,
    args: Mapping[str, object] | None,
) -> dict[str, Pick]:
    if args is not None:
        raise BadReply(later("Changed arguments belong into a decision of type edit."))
    return {actions[0].token: langchain.read(actions[0], value)}


def changed(payload: object, args: Sequence[Mapping[str, object] | None]) -> object:
    return payload if args[0] is None else {**_of(payload), "args": dict(args[0])}


def answer(
    asked: Asked,
    verdict: str,
    picks: tuple[tuple[Action, Pick], ...],
    said: Said,
) -> object:
    return langchain.write(*picks[0]) if picks else base.NOTHING


def _of(payload: object) -> Mapping[str, Any]:
    if not isinstance(payload, Mapping):
        raise base.Unshaped
    return payload
