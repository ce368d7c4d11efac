"""Changing arguments: named fields only, with the types they have.

1. Which names may change is the policy's to say. All other arguments go back as they came.
2. A field's form and check come from the tool's own schema, where the question brings one, else
   from the value that is there: an integer stays an integer, a list of texts a list of texts.
3. A change that changes nothing is no edit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.speech import later as _
from approvals.jsonforms import schemas
from approvals.jsonforms.schemas import Problem, Schema
from approvals.shapes.base import Asked, fingerprint

DEEPEST = 4


def schema_of(asked: Asked, args: object, declared: Schema | None = None) -> Schema | None:
    """The schema of the arguments that may be changed; None if none may."""
    if not isinstance(args, Mapping):
        return None
    known = declared.get("properties") if declared else None
    if not isinstance(known, Mapping):
        known = {name: inferred(value) for name, value in args.items()}
    properties = {name: each for name, each in known.items() if asked.may_change(name)}
    if not properties or not asked.exact:
        return None
    needed = declared.get("required", ()) if declared else ()
    schema: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name in needed or name in args],
        "additionalProperties": False,
    }
    if declared and "$defs" in declared:
        schema["$defs"] = declared["$defs"]
    return schema


def inferred(value: object, depth: int = 0) -> Schema:
    """The narrowest schema that keeps the types of `value`."""
    if value is None:
        return {}
    if isinstance(value, str):
        return {"type": "string", "minLength": 0}
    if isinstance(value, Mapping):
        if not value or depth >= DEEPEST:
            return {"type": "object"}
        return {
            "type": "object",
            "properties": {name: inferred(each, depth + 1) for name, each in value.items()},
            "required": list(value),
            "additionalProperties": False,
        }
    if isinstance(value, list):
        items = [inferred(each, DEEPEST) for each in value]
        alike = items and all(each == items[0] for each in items)
        plain = alike and items[0].get("type") not in (None, "object", "array")
        return {"type": "array", "items": items[0]} if plain else {"type": "array"}
    return {"type": _TYPES[type(value)]}


_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number"}


def part(args: object, schema: Schema) -> dict[str, object]:
    """Those of the arguments that may be changed."""
    if not isinstance(args, Mapping):
        return {}
    return {name: args[name] for name in schema["properties"] if name in args}


def merged(args: object, changed: Mapping[str, object], schema: Schema) -> dict[str, object]:
    """All arguments, with those in `changed` in place of what was there."""
    kept = dict(args) if isinstance(args, Mapping) else {}
    for name in schema["properties"]:
        kept.pop(name, None)
    return kept | dict(changed)


def problems(args: object, new: Mapping[str, object], schema: Schema | None) -> list[Problem]:
    """What is wrong with `new` arguments in place of `args`."""
    old = args if isinstance(args, Mapping) else {}
    named = schema["properties"] if schema else {}
    found = [
        Problem(path=(name,), message=_("This argument may not be changed."))
        for name in {**old, **new}
        if name not in named and not _same(old, new, name)
    ]
    if schema is None or found:
        return found or [Problem(path=(), message=_("No argument may be changed."))]
    found = schemas.problems(schema, part(new, schema))
    if not found and fingerprint(dict(old)) == fingerprint(dict(new)):
        return [Problem(path=(), message=_("Nothing was changed. Approve it as it is."))]
    return found


def _same(old: Mapping[str, object], new: Mapping[str, object], name: str) -> bool:
    return name in old and name in new and fingerprint(old[name]) == fingerprint(new[name])
