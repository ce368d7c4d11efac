"""Examples of inputs, made from a schema."""

from __future__ import annotations

import pytest

from runs import examples


@pytest.mark.parametrize(
    ("schema", "example"),
    [
        (None, {}),
        ({}, {}),
        ({"type": "object"}, {}),
        ({"type": "string"}, "…"),
        ({"type": ["null", "string"]}, None),
        ({"enum": ["a", "b"]}, "a"),
        ({"default": 5, "type": "integer"}, 5),
        ({"examples": ["10382"], "default": "x"}, "10382"),
        ({"type": "array", "items": {"type": "integer"}}, [1]),
        ({"type": "array"}, []),
    ],
)
def test_a_schema_gives_a_value_to_start_from(schema, example) -> None:
    assert examples.of(schema) == example


def test_required_fields_are_enough() -> None:
    schema = {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}
    assert examples.of(schema) == {"a": "…"}


def test_a_schema_that_contains_itself_ends() -> None:
    schema: dict[str, object] = {"type": "object", "properties": {}}
    schema["properties"] = {"again": schema}
    assert "again" in str(examples.of(schema))
