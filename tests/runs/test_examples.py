"""Examples of inputs, made from a schema."""

from __future__ import annotations

from typing import Any

import pytest

from agents import inputs
from agents.refund_desk import orders
from runs import examples, registry


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


ORDER = inputs.order("10366")
FITS = 'An input that fits is {"order_id": "10366"}.'


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, f"order_id is missing. {FITS}"),
        ([1], f"The input must be an object. {FITS}"),
        ("10366", f"The input must be an object. {FITS}"),
        ({"order_id": 10366}, f'order_id must be text; write it in quotes: "10366". {FITS}'),
        ({"order_id": "1"}, "order_id does not fit. The number of an order: five digits, as text."),
        ({"order_id": "10366", "x": 1}, f"The input has no field x. {FITS}"),
        ({"orderid": "10366"}, "The input has no field orderid. Did you mean order_id?"),
    ],
)
def test_what_does_not_fit_is_told_in_sentences_with_what_does(given, why) -> None:
    assert why in examples.complaint(ORDER, given)


def test_what_fits_is_no_complaint() -> None:
    assert examples.complaint(ORDER, {"order_id": "10366"}) == ""


def test_a_complaint_says_where_and_needs_no_example() -> None:
    items = {"enum": [1, 2], "type": "integer"}
    schema = {"properties": {"a": {"type": "array", "items": items, "minItems": 9}}}
    assert examples.complaint(schema, {"a": [3]}) == (
        "a: [3] is too short. a[0] must be one of 1, 2."
    )
    inner = {"properties": {"a": {"type": "object", "required": ["b"]}}, "required": ["a"]}
    assert examples.complaint(inner, {"a": {}}) == "b is missing in a."


@pytest.mark.parametrize("name", ["refund_desk", "refund_workflow", "returns_desk"])
def test_every_agent_of_the_demo_starts_from_an_example_that_works(name) -> None:
    declared = registry.declarations()[name]
    assert declared.input_schema is not None
    given: Any = examples.of(declared.input_schema)
    assert examples.complaint(declared.input_schema, given) == ""
    assert orders.load(order_id=given["order_id"])["order_id"] == given["order_id"]
