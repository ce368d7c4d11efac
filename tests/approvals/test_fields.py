"""Forms from JSON Schema: what is typed becomes a value of the right types, and nothing is lost."""

from __future__ import annotations

import zoneinfo
from typing import Annotated, Any, Literal

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils import timezone
from pydantic import BaseModel, Discriminator, Field

from approvals.jsonforms import building, fields, schemas
from approvals.jsonforms.fields import ABSENT

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 5, "description": "As on the card."},
        "age": {"type": "integer", "minimum": 18},
        "height": {"type": "number"},
        "vip": {"type": "boolean"},
        "mail": {"type": "string", "format": "email"},
    },
    "required": ["name", "age"],
}


def sent(**values: Any) -> QueryDict:
    posted = QueryDict(mutable=True)
    for name, value in values.items():
        for each in value if isinstance(value, list) else [value]:
            posted.appendlist(name.replace("_", "."), each)
    return posted


def read(schema: dict[str, Any], initial: object = ABSENT, **values: Any) -> object:
    """The value, or the errors by the name of their field."""
    form = building.make(schema, "v", initial=initial, posted=sent(**values))
    value = form.read()
    errors = {each.name: each.errors for each in form.everything if each.errors}
    return errors or value


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "12", "12"),
        ({"type": "string"}, "a\r\nb", "a\nb"),
        ({"type": "integer"}, " 12 ", 12),
        ({"type": "integer"}, "-7", -7),
        ({"type": "number"}, "12", 12.0),
        ({"type": "number"}, "1e3", 1000.0),
        ({"type": "number"}, "0.1", 0.1),
        ({"type": "boolean"}, "false", False),
        ({"type": "boolean"}, "true", True),
        ({"enum": [1, "1", True, None]}, "0", 1),
        ({"enum": [1, "1", True, None]}, "1", "1"),
        ({"enum": [1, "1", True, None]}, "2", True),
        ({"enum": list("abcdef")}, "5", "f"),
        ({"type": "string", "format": "date"}, "2026-01-31", "2026-01-31"),
        ({"type": "string", "format": "email"}, "a@example.com", "a@example.com"),
        ({}, '"12"', "12"),
        ({}, "[1, {}]", [1, {}]),
        ({"type": ["integer", "string"]}, "12", 12),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "12", 12),
        ({"type": ["string", "null"]}, "x", "x"),
    ],
)
def test_a_control_gives_a_value_of_its_type(schema, text, value):
    found = read(schema, v=text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("schema", "text", "says"),
    [
        ({"type": "string"}, "", "required"),
        ({"type": "string"}, "   ", "required"),
        ({"type": "string", "pattern": "^[a-z]+$"}, "A", "must have the form"),
        ({"type": "string", "maxLength": 2}, "abc", "at most 2 characters"),
        ({"type": "string", "minLength": 2}, "a", "at least 2 characters"),
        ({"type": "string"}, "a\x00", "cannot be kept"),
        ({"type": "integer"}, "1,200", "digits only"),
        ({"type": "integer"}, "1.0", "digits only"),
        ({"type": "integer"}, "9" * 20, "too large"),
        ({"type": "integer", "maximum": 5}, "6", "at most 5"),
        ({"type": "integer", "multipleOf": 5}, "6", "multiple of 5"),
        ({"type": "number"}, "1,5", "with a point"),
        ({"type": "number"}, "1e400", "too large"),
        ({"type": "number"}, "0.12345678901234567890", "more digits"),
        ({"type": "number"}, "NaN", "with a point"),
        ({"type": "number", "exclusiveMinimum": 0}, "0", "more than 0"),
        ({"type": "boolean"}, "yes", "Yes or No"),
        ({"type": "boolean"}, "", "required"),
        ({"enum": list("ab")}, "7", "required"),
        ({"type": "string", "format": "date"}, "2026-02-31", "year-month-day"),
        ({"type": "string", "format": "email"}, "a@", "not an e-mail address"),
        ({}, "yes", "not JSON"),
        ({}, "NaN", "not JSON"),
        ({}, '{"a": 1, "a": 2}', "twice"),
        ({"type": ["integer", "string"]}, "[]", "whole number or text"),
    ],
)
def test_what_is_no_such_value_is_said_beside_the_control(schema, text, says):
    found = read(schema, v=text)
    assert isinstance(found, dict), found
    assert says in " ".join(map(str, found["v"]))


def test_an_object_leaves_out_what_was_left_blank():
    assert read(PERSON, v_0="Ada", v_1="36") == {"name": "Ada", "age": 36}
    everything = read(PERSON, v_0="Ada", v_1="36", v_2="1.7", v_3="false", v_4="a@example.com")
    assert everything == {
        "name": "Ada",
        "age": 36,
        "height": 1.7,
        "vip": False,
        "mail": "a@example.com",
    }


def test_errors_stand_at_the_field_that_they_are_about():
    assert read(PERSON, v_0="Adalbert", v_1="3") == {
        "v.0": ["This may have at most 5 characters."],
        "v.1": ["This must be at least 18."],
    }
    assert read(PERSON, v_0="Ada") == {"v.1": ["This is required."]}


def test_a_nested_object_that_is_optional_and_blank_is_left_out():
    schema = {"type": "object", "properties": {"person": PERSON, "note": {"type": "string"}}}
    assert read(schema, v_1="x") == {"note": "x"}
    assert read(schema, v_0_0="Ada") == {"v.0.1": ["This is required."]}


def test_a_list_takes_the_rows_that_are_filled_in():
    schema = {"type": "array", "items": {"type": "integer"}, "minItems": 1}
    assert read(schema, v_rows="3", v_0="1", v_2="3") == [1, 3]
    assert read(schema, v_rows="2") == {"v": ["At least 1 are needed."]}
    assert read(schema, v_rows="2", v_0="1", v_1="x")["v.1"]  # type: ignore[index]


def test_an_error_in_a_list_stands_at_its_row_though_rows_above_are_blank():
    schema = {"type": "array", "items": {"type": "integer", "minimum": 5}}
    assert read(schema, v_rows="3", v_2="1") == {"v.2": ["This must be at least 5."]}


def test_another_row_can_be_asked_for_and_keeps_what_was_typed():
    schema = {"type": "array", "items": {"type": "string"}, "maxItems": 3}
    form = building.make(schema, "v", posted=sent(v_rows="2", v_0="a", add="v"))
    assert [child.text for child in form.root.children] == ["a", "", ""]
    assert not form.root.more


def test_a_set_of_choices_is_a_list_of_values():
    schema = {"type": "array", "uniqueItems": True, "items": {"enum": [1, "1", 2]}}
    assert read(schema, v=["0", "1"]) == [1, "1"]
    assert read(schema) == []


VARIANTS = {
    "oneOf": [
        {
            "title": "Refund",
            "type": "object",
            "properties": {"kind": {"const": "refund"}, "cents": {"type": "integer"}},
            "required": ["kind", "cents"],
        },
        {
            "type": "object",
            "properties": {"kind": {"const": "refuse"}, "why": {"type": "string"}},
            "required": ["kind", "why"],
        },
    ]
}


def test_of_alternatives_only_the_chosen_one_counts():
    assert read(VARIANTS, v="0", v_0_1="5", v_1_1="x") == {"kind": "refund", "cents": 5}
    assert read(VARIANTS, v="1", v_0_1="5", v_1_1="x") == {"kind": "refuse", "why": "x"}
    assert read(VARIANTS, v="1", v_0_1="5") == {"v.1.1": ["This is required."]}
    assert read(VARIANTS) == {"v": ["This is required."]}


class Card(BaseModel):
    kind: Literal["card"]
    number: Annotated[str, Field(pattern=r"^\d{4}$")]


class Bank(BaseModel):
    kind: Literal["bank"]
    iban: str
    note: str | None = None


class Payment(BaseModel):
    way: Annotated[Card | Bank, Discriminator("kind")]
    cents: Annotated[int, Field(gt=0)]
    tags: list[str] = []
    speed: Literal["slow", "fast"] = "slow"


def test_a_python_type_gets_a_form_of_its_own():
    schema = schemas.of(Payment)
    assert schema is not None
    form = building.make(schema, "v")
    assert [each.kind for each in form.root.children] == ["variant", "integer", "array", "choice"]
    filled = {"v_0": "0", "v_0_0_1": "1234", "v_1": "5", "v_2_rows": "1", "v_3": "1"}
    assert read(dict(schema), **filled) == {
        "way": {"kind": "card", "number": "1234"},
        "cents": 5,
        "speed": "fast",
    }
    wrong = read(dict(schema), **filled | {"v_0_0_1": "12", "v_1": "0"})
    assert isinstance(wrong, dict)
    assert wrong.keys() == {"v.0.0.1", "v.1"}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "array"},
        {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"allOf": [{"type": "integer"}, {"minimum": 1}]},
        {"type": "object", "patternProperties": {"^a": {"type": "string"}}},
        {"$ref": "#/nowhere"},
        {"$ref": "#"},
        {"$ref": "https://example.com/schema.json"},
        True,
    ],
)
def test_what_a_form_cannot_express_is_a_field_for_json(schema):
    assert building.make(schema, "v").root.kind == "json"


def test_a_schema_that_contains_itself_ends_in_a_field_for_json():
    schema = {
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        "$ref": "#/$defs/node",
    }
    form = building.make(schema, "v")
    assert form.everything[-1].kind == "json"
    assert len(form.everything) < 10


def test_a_huge_schema_ends_in_fields_for_json():
    wide = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(1000)}}
    assert building.make(wide, "v").everything[-1].kind == "json"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "number"}, 1.50),
        ({"type": "string"}, "a\r\nb"),
        ({"type": "string", "minLength": 0}, ""),
        ({"type": "string", "format": "date-time"}, "2026-01-31T16:00:00.5Z"),
        ({"type": "string", "format": "date-time"}, "2026-01-31T16:00:00Z"),
        ({"type": "integer"}, 12),
        ({"type": "boolean"}, False),
        ({"enum": ["a", "b"]}, "b"),
        ({}, None),
        ({}, {"b": 1.0, "a": "\u202e"}),
        ({"type": "array", "items": {"type": "string"}}, ["a", "b"]),
        (VARIANTS, {"kind": "refuse", "why": "late"}),
        (PERSON, {"name": "Ada", "age": 36, "height": 1.0}),
        ({"type": "integer"}, "not one"),
    ],
)
def test_what_nobody_touched_comes_back_as_it_was(schema, value):
    form = building.make(schema, "v", initial=value)
    posted = sent(**{name.replace(".", "_"): texts for name, texts in as_a_browser(form.root)})
    again = building.make(schema, "v", initial=value, posted=posted)
    found = again.read()
    if not again.wrong:  # a value that does not fit the schema is refused, and kept in the control
        assert found == value
        assert repr(found) == repr(value)
    assert bool(again.wrong) is (value == "not one")


def as_a_browser(one: fields.Field):
    if one.kind in ("choice", "several", "variant"):
        yield one.name, list(one.chosen)
    elif one.kind == "array":
        yield f"{one.name}.rows", [str(len(one.children))]
    elif not one.children and one.kind != "const":
        text = one.text.removesuffix(":00") if one.kind == "moment" else one.text
        yield one.name, [text.replace("\n", "\r\n")]
    for child in one.children:
        yield from as_a_browser(child)


def test_a_time_is_read_in_the_zone_of_the_reader():
    schema = {"type": "string", "format": "date-time"}
    with timezone.override(zoneinfo.ZoneInfo("Europe/Berlin")):
        assert read(schema, v="2026-07-01T12:00") == "2026-07-01T12:00:00+02:00"
        assert "Clocks jump" in str(read(schema, v="2026-03-29T02:30"))
        form = building.make(schema, "v", initial="2026-07-01T10:00:00Z")
        assert form.root.text == "2026-07-01T12:00:00"


def test_defaults_are_shown_and_an_optional_object_is_not_made_of_them_alone():
    inner = {"type": "object", "properties": {"n": {"type": "integer", "default": 3}}}
    schema = {
        "type": "object",
        "properties": {"inner": inner, "a": {"default": 1, "type": "integer"}},
    }
    form = building.make(schema, "v")
    assert [each.text for each in form.everything if each.kind == "integer"] == ["3", "1"]
    assert read(schema, v_0_0="3", v_1="1") == {"a": 1}
    assert read(schema, v_0_0="4", v_1="1") == {"a": 1, "inner": {"n": 4}}


def test_what_was_typed_stands_in_the_page_again_as_text():
    schema = {
        "type": "object",
        "title": "<b>T</b>",
        "properties": {
            "<script>": {"type": "integer", "description": '<img src=x onerror="a">\u202e'},
            "choice": {"enum": ["<b>", "\u200b", *map(str, range(9))]},
        },
    }
    posted = sent(v_0='"><script>alert(1)</script>')
    form = building.make(schema, "v", posted=posted)
    form.read()
    html = render_to_string("approvals/_input.html", {"one": form.root})
    assert "<script" not in html
    assert "<img" not in html
    assert "<b>T" not in html
    assert 'value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"' in html
    assert "\\u{202E}" in html
    assert "\\u{200B}" in html
    assert 'aria-invalid="true"' in html


@pytest.mark.parametrize(
    ("given", "schema"),
    [
        (None, None),
        ({"type": "integer"}, {"type": "integer"}),
        (bool, {"type": "boolean"}),
        (object(), schemas.ALLOWS_NOTHING),
        ([1], schemas.ALLOWS_NOTHING),
    ],
)
def test_a_schema_is_what_the_agent_gave_or_allows_nothing(given, schema):
    assert schemas.of(given) == schema


@pytest.mark.parametrize(
    "schema",
    [{"type": "nonsense"}, {"pattern": "("}, {"$ref": "https://example.com/x.json"}, {"$ref": "#"}],
)
def test_a_broken_schema_is_told_and_lets_nothing_pass(schema):
    assert "The agent's schema" in schemas.broken(schema)


def test_a_float_is_no_integer():
    assert schemas.problems({"type": "integer"}, 1.0)
    assert not schemas.problems({"type": "integer"}, 1)
    assert schemas.problems({"type": "integer"}, True)


@pytest.mark.parametrize("zone", ["America/Lima", "Asia/Kolkata"])
@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00"])
def test_a_moment_beyond_the_readers_calendar_is_shown_and_sent_back_as_it_is(zone, moment) -> None:
    """Programs write the first moment of all for "never"."""
    schema = {"type": "string", "format": "date-time"}
    with timezone.override(zoneinfo.ZoneInfo(zone)):
        shown = building.make(schema, "v", initial=moment).everything[0].text
        assert read(schema, v=shown) == moment or shown != moment


@pytest.mark.parametrize("zone", ["America/Lima", "Asia/Kolkata"])
@pytest.mark.parametrize("typed", ["0001-01-01T00:00:00", "9999-12-31T23:59:59"])
def test_a_typed_moment_beyond_the_calendar_is_no_failure(zone, typed) -> None:
    with timezone.override(zoneinfo.ZoneInfo(zone)):
        assert read({"type": "string", "format": "date-time"}, v=typed) is not None
