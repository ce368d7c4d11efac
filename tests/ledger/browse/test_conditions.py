"""Conditions on arguments: how they are written, and what they ask of PostgreSQL."""

from __future__ import annotations

import json

import pytest
from django.db import connection

from ledger.browse import conditions
from ledger.browse.conditions import BadCondition


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("", []),
        ("amount_cents >= 60000", ["amount_cents >= 60000"]),
        ("args.amount_cents>=60000", ["amount_cents >= 60000"]),
        ("a = 1, b = x", ["a = 1", "b = x"]),
        ('memo = "a, b = c", card.last <= -1.50', ['memo = "a, b = c"', "card.last <= -1.50"]),
        ("to = eve@example.org ", ["to = eve@example.org"]),
        ("name = Ada Marsh", ["name = Ada Marsh"]),
        ('said = "she said \\"no\\""', ['said = "she said \\"no\\""']),
    ],
)
def test_conditions_are_read_as_they_are_written(text, read):
    assert [str(each) for each in conditions.read(text)] == read


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("amount_cents", "Write conditions such as"),
        ("= 5", "Write conditions such as"),
        ("a = ", "Write conditions such as"),
        ('a = "open', "Write conditions such as"),
        ("a > 5", "Write conditions such as"),
        ("a == 5", "Write conditions such as"),
        ("a >= much", "wants a number"),
        ("card >= 4242424242424242", "up to twelve digits"),
        ('a = "\\x"', "no text in quotation marks"),
        ("a..b = 5", "no field"),
        (", ".join(f"a{n} = 1" for n in range(6)), "At most 5"),
    ],
)
def test_what_is_no_condition_is_refused_with_a_word_why(text, words):
    with pytest.raises(BadCondition, match=words):
        conditions.read(text)


@pytest.mark.parametrize(
    ("written", "args", "holds"),
    [
        ("a = 5", {"a": 5}, True),
        ("a = 5", {"a": 5.0}, True),
        ("a = 5", {"a": "5"}, True),
        ('a = "5"', {"a": 5}, False),
        ('a = "5"', {"a": "5"}, True),
        ("a = true", {"a": True}, True),
        ("a = true", {"a": "true"}, False),
        ("a = null", {"a": None}, True),
        ("a = 5", {}, False),
        ("a.b = 5", {"a": {"b": 5}}, True),
        ("a.b = 5", {"a.b": 5}, False),
        ("lines.price >= 5", {"lines": [{"price": 4}, {"price": 6}]}, True),
        ("a >= 5", {"a": 5}, True),
        ("a >= 5", {"a": 4.99}, False),
        ("a <= 5", {"a": 5}, True),
        ("a >= 5", {"a": "6"}, False),
        ("a >= 5, a <= 6", {"a": [4, 7]}, False),
        ("a >= 5, a <= 7", {"a": [4, 7]}, True),
        ("a >= 5", {"a": 4242424242424242}, False),
        ("a <= 5", {"a": -4242424242424242}, False),
        ("a = 007", {"a": 7}, True),
        ("a = 007", {"a": "007"}, True),
        ("a = 007", {"a": "7"}, False),
        ("a >= 007.50", {"a": 7.5}, True),
        ("a = -0", {"a": 0}, True),
        (r'a = "x\u0000"', {"a": r"x\u{0}"}, True),
        (r'a = "x\ud800"', {"a": r"x\u{D800}"}, True),
        ('a" = 5', {"a": 5}, None),
        ("a'; drop = 5", {"a": 5}, None),
    ],
)
@pytest.mark.django_db
def test_a_condition_means_what_it_says(written, args, holds):
    if holds is None:
        with pytest.raises(BadCondition):
            conditions.read(written)
        return
    asked = conditions.read(written)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT %s::jsonb @? %s::jsonpath",
            [json.dumps(args), conditions.jsonpath(asked[0].path, asked)],
        )
        assert cursor.fetchone()[0] is holds
