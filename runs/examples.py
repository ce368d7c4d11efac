"""An example of an agent's input, made from its JSON Schema, to start from."""

from __future__ import annotations

from collections.abc import Mapping

DEEPEST = 6
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
