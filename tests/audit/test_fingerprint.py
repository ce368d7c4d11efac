"""Telling values apart."""

from __future__ import annotations

import enum
import itertools
from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit import canonical
from audit.canonical import parts
from audit.errors import NotCanonical


class Colour(enum.Enum):
    RED = "red"


class Shade(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: int


@dataclass
class Place:
    x: int


class Thing:
    def __init__(self, x: object) -> None:
        self.x = x


DIFFERENT = [
    None,
    "None",
    "null",
    True,
    "True",
    1,
    "1",
    Decimal("1"),
    Decimal("1.0"),
    False,
    0,
    "",
    [],
    {},
    set(),
    b"",
    float("nan"),
    "NaN",
    Decimal("NaN"),
    float("inf"),
    float("-inf"),
    "Infinity",
    10**20,
    1e20,
    "100000000000000000000",
    "0x56bc75e2d63100000",
    ["int", "0x56bc75e2d63100000"],
    ["list", "int", "0x56bc75e2d63100000"],
    2**53,
    2.0**53,
    2**53 + 1,
    "\x00",
    r"\u{0}",
    r"\u0000",
    "\ud800",
    r"\u{D800}",
    "\ud83d\ude00",
    "\U0001f600",
    "\ud83d\ude00\ud800",
    "\U0001f600\ud800",
    ["surrogates", "0000d800"],
    b"a",
    "a",
    "0x61",
    {"a": 1},
    {"a": "1"},
    {"a": None},
    [["a", 1]],
    ["pairs", ["a", 1]],
    {1: "a"},
    {"1": "a"},
    {None: "a"},
    {"None": "a"},
    {"\ud800": 1},
    {"b": 1, "a": {"c": 1}},
    {"b": 1, "a": {}, "c": 1},
    [1, [2]],
    [[1], 2],
    [1, 2],
    {1, 2},
    {"x": 1},
    Point(1),
    Place(1),
    Point(2),
    Thing(1),
    Thing("1"),
    Colour.RED,
    Shade.RED,
    "red",
    date(2026, 1, 1),
    datetime(2026, 1, 1, tzinfo=UTC),
    "2026-01-01",
    UUID(int=1),
    str(UUID(int=1)),
    dict,
    "builtins.dict",
    len,
]


def test_what_could_be_mistaken_differs():
    prints = [(canonical.fingerprint(value), value) for value in DIFFERENT]
    same = [(a, b) for (p, a), (q, b) in itertools.combinations(prints, 2) if p == q]
    assert same == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (0, -0.0),
        ((1, 2), [1, 2]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({1: "a", "b": 2}, {"b": 2, 1: "a"}),
        (OrderedDict(a=1), {"a": 1}),
        ({"c", "a", "b"}, {"b", "c", "a"}),
        (Thing([1]), Thing((1.0,))),
        (float("nan"), -float("nan")),
    ],
)
def test_what_a_reader_takes_for_the_same_is_the_same(one, other):
    assert canonical.fingerprint(one) == canonical.fingerprint(other)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)


@given(json_values, json_values)
def test_plain_json_is_the_same_exactly_when_its_canonical_text_is(one, other):
    same_text = canonical.dumps(one) == canonical.dumps(other)
    assert (canonical.fingerprint(one) == canonical.fingerprint(other)) == same_text


def endless() -> object:
    value: list[object] = []
    value.append(value)
    return value


class Refuses:
    def __reduce_ex__(self, protocol):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value", [endless(), lambda: 0, {"a": Refuses()}, (number for number in range(1))]
)
def test_what_cannot_be_compared_is_refused(value):
    with pytest.raises(NotCanonical):
        canonical.fingerprint(value)


def test_a_value_that_unfolds_without_bound_is_refused(monkeypatch):
    monkeypatch.setattr(parts, "VALUES", 1000)
    bomb: object = "x"
    for _ in range(60):
        bomb = [bomb, bomb]
    with pytest.raises(NotCanonical, match="more than 1000 values"):
        canonical.fingerprint(bomb)
