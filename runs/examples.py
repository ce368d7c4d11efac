"""What an agent's JSON Schema says of its input: an example to start from, and what is wrong."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import jsonschema
from django.utils.translation import gettext as _

from accounts.speech import later

DEEPEST = 6
MOST = 3
"""Complaints that are told at once."""
LONGEST_EXAMPLE = 200
WHOLE = later("The input")
NAMES = {
    "string": later("text"),
    "integer": later("a whole number"),
    "number": later("a number"),
    "boolean": later("true or false"),
    "null": "null",
    "array": later("a list"),
    "object": later("an object"),
}
_PLAIN: Mapping[str, object] = {
    "string": "…",
    "integer": 1,
    "number": 1.0,
    "boolean": False,
    "null": None,
}


def of(schema: Mapping[str, object] | None) -> object:
    """A value to be edited; it need not fit the schema in every respect."""
    return {} if schema is None else _example(schema, 0)


def _example(schema: object, depth: int) -> object:
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return None
    examples = schema.get("examples")
    if isinstance(examples, list) and examples:
        return examples[0]
    for key in ("example", "default", "const"):
        if key in schema:
            return schema[key]
    choices = schema.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    if kind == "array":
        return [_example(schema.get("items"), depth + 1)] if "items" in schema else []
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        required = schema.get("required")
        wanted = required if isinstance(required, list) and required else list(properties)
        return {name: _example(properties.get(name), depth + 1) for name in wanted}
    return _PLAIN.get(str(kind), {} if kind in (None, "object") else None)


def complaint(schema: Mapping[str, Any], given: Any) -> str:
    """Why `given` does not fit, in sentences, with an example that does; empty if it fits."""
    validator = jsonschema.validators.validator_for(schema)(schema)
    found = sorted(validator.iter_errors(given), key=lambda error: len(error.absolute_path))
    if not found:
        return ""
    said = [sentence for error in found for sentence in _sentences(error)][:MOST]
    example = json.dumps(of(schema), ensure_ascii=False)
    if len(example) <= LONGEST_EXAMPLE and validator.is_valid(json.loads(example)):
        said.append(_("An input that fits is {example}.").format(example=example))
    return " ".join(said)


def _sentences(error: jsonschema.ValidationError) -> Iterator[str]:
    where = error.json_path.removeprefix("$").removeprefix(".") or str(WHOLE)
    rule: Any = error.validator
    held: Any = error.instance
    # The library says that these may be unset; of an error that a validator made they are not.
    wanted: Any = error.validator_value
    schema: Any = error.schema
    if rule == "required":
        says = (
            _("{name} is missing.") if where == str(WHOLE) else _("{name} is missing in {where}.")
        )
        yield from (says.format(name=name, where=where) for name in wanted if name not in held)
    elif rule == "additionalProperties" and wanted is False:
        yield from _strangers(schema.get("properties", {}), held, where)
    elif rule == "type":
        kinds = [wanted] if isinstance(wanted, str) else list(wanted)
        named = _(" or ").join(str(NAMES.get(kind, kind)) for kind in kinds)
        if "string" in kinds and _is_number(held):
            text = _('{where} must be {kinds}; write it in quotes: "{held}".')
        else:
            text = _("{where} must be {kinds}.")
        yield text.format(where=where, kinds=named, held=held)
    elif rule == "enum":
        allowed = ", ".join(json.dumps(each, ensure_ascii=False) for each in wanted)
        yield _("{where} must be one of {allowed}.").format(where=where, allowed=allowed)
    elif isinstance(schema, Mapping) and schema.get("description"):
        yield _("{where} does not fit. {value}.").format(
            where=where, value=str(schema["description"]).rstrip(".")
        )
    else:
        yield f"{where}: {error.message}."


def _strangers(
    known: Mapping[str, object], held: Mapping[str, object], where: str
) -> Iterator[str]:
    for name in held:
        if name in known:
            continue
        near = _nearest(name, known)
        if near:
            text = _("{where} has no field {name}. Did you mean {near}?")
        else:
            text = _("{where} has no field {name}.")
        yield text.format(where=where, name=name, near=near)


def _nearest(name: str, known: Collection[str]) -> str:
    return next(iter(difflib.get_close_matches(name, known, n=1)), "")


def _is_number(held: object) -> bool:
    return type(held) in (int, float)
