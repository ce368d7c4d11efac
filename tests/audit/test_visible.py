"""Any value as JSON that PostgreSQL stores."""

from __future__ import annotations

import enum
import json
import uuid
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from audit import canonical
from audit.canonical import parts


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: float
    label: str


class Order(BaseModel):
    model_config = ConfigDict(extra="allow")
    id: int
    lines: list[Point] = []


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no")


class Broken(dict[str, int]):
    def items(self):
        raise RuntimeError("no")


class Long:
    def __repr__(self) -> str:
        return "x" * 5000


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a\x00b", r"a\u{0}b"),
        ({"\x00": "\ud800"}, {r"\u{0}": r"\u{D800}"}),
        ([float("nan"), float("inf"), float("-inf")], ["NaN", "Infinity", "-Infinity"]),
        (10**20, "100000000000000000000"),
        (1e20, "1e+20"),
        (-(2**53), "-9007199254740992"),
        (2**53 - 1, 2**53 - 1),
        (True, True),
        (1.5, 1.5),
        ((1, (2,)), [1, [2]]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", 1, None}), ["b", 1, None]),
        (b"\x00\xff", "0x00ff"),
        (Decimal("1.50"), "1.50"),
        (Decimal("NaN"), "NaN"),
        (datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), "2026-01-02T03:04:05.000006+00:00"),
        (date(2026, 1, 2), "2026-01-02"),
        (timedelta(hours=1), "1:00:00"),
        (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
        (Colour.RED, "red"),
        (Point(float("nan"), "p\x00"), {"x": "NaN", "label": r"p\u{0}"}),
        (
            Order.model_validate({"id": 1, "lines": [Point(1.0, "a")], "note": "n"}),
            {"id": 1, "lines": [{"x": 1.0, "label": "a"}], "note": "n"},
        ),
        ({1: "a", "1": "b", (1, 2): "c"}, {"1": "a", "1*": "b", "[1,2]": "c"}),
        (Hostile(), "<Hostile that cannot be shown>"),
        ([Hostile(), 1], ["<Hostile that cannot be shown>", 1]),
        (Broken(a=1), "{'a': 1}"),
        (Long(), "x" * 2000 + "…"),
    ],
)
def test_a_value_is_shown_as(value, shown):
    assert canonical.visible(value) == shown


def test_a_number_too_long_for_python_to_write_is_shown():
    assert str(canonical.visible(10**10_000)).startswith("0x")


def test_a_value_that_contains_itself_is_shown_once():
    endless: dict[str, object] = {"a": 1}
    endless["self"] = [endless]
    assert canonical.visible(endless) == {"a": 1, "self": ["… (contains itself)"]}


def test_a_value_nested_without_end_is_cut():
    deep: object = "bottom"
    for _ in range(5000):
        deep = [deep]
    shown = json.dumps(canonical.visible(deep), ensure_ascii=False)
    assert "nested too deep" in shown
    assert "bottom" not in shown


def test_a_value_that_unfolds_without_bound_is_cut(monkeypatch):
    monkeypatch.setattr(parts, "VALUES", 1000)
    bomb: object = ["x"]
    for _ in range(60):
        bomb = {"a": bomb, "b": bomb}
    shown = json.dumps(canonical.visible(bomb), ensure_ascii=False)
    assert "too many values" in shown


characters = st.characters(exclude_categories=())  # surrogates and NUL too
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(characters, max_size=8)
    | st.binary(max_size=8)
    | st.decimals(allow_nan=False)
    | st.datetimes()
    | st.uuids()
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(scalars, inner, max_size=4)
        | st.tuples(inner, inner)
        | st.frozensets(scalars, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.django_db
@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(anything)
def test_what_is_shown_comes_back_from_the_database_with_the_same_digest(value):
    shown = canonical.visible(value)
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s::jsonb::text", [json.dumps(shown)])
        stored = json.loads(cursor.fetchone()[0])
    assert canonical.digest(stored) == canonical.digest(shown)
