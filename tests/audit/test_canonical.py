"""Canonical JSON and its digests."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from audit import canonical
from audit.errors import NotCanonical


def test_keys_are_sorted_and_numbers_written_as_rfc_8785_says():
    # The example of RFC 8785, section 3.2.2.
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    assert canonical.dumps(value).decode() == (
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_keys_are_sorted_by_utf_16_units():
    assert canonical.dumps({"\ufb33": 1, "\U0001f600": 2}) == '{"\U0001f600":2,"\ufb33":1}'.encode()


def test_the_digest_is_sha_256_of_the_text():
    assert canonical.digest({"b": 1.0, "a": ()}) == hashlib.sha256(b'{"a":[],"b":1}').hexdigest()


@pytest.mark.parametrize(
    ("value", "path", "what"),
    [
        (float("nan"), "$", "nan"),
        ([0, {"a": float("-inf")}], "$[1].a", "-inf"),
        ({"n": [2**53]}, "$.n[0]", "integer"),
        ({"n": -(2**53)}, "$.n", "integer"),
        ({"price": Decimal("1.5")}, "$.price", "Decimal"),
        ([datetime(2026, 1, 1, tzinfo=UTC)], "$[0]", "datetime"),
        (b"x", "$", "bytes"),
        ({"s": "a\ud800"}, "$.s", "surrogate"),
        ({"a": {"\udfff": 1}}, "$.a", "key"),
        ({"a": {1: 1}}, "$.a", "key 1"),
        ([{1, 2}], "$[0]", "set"),
    ],
)
def test_what_has_no_canonical_form_is_refused_with_its_place(value, path, what):
    with pytest.raises(NotCanonical) as refusal:
        canonical.dumps(value)
    assert refusal.value.path == path
    assert what in str(refusal.value)
    assert str(refusal.value).endswith("pass it as text.")


def test_the_largest_safe_integers_are_accepted():
    assert canonical.dumps([2**53 - 1, -(2**53) + 1]) == b"[9007199254740991,-9007199254740991]"


def test_a_value_without_end_is_refused():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(NotCanonical, match="nested deeper than 100 levels"):
        canonical.dumps(endless)


@pytest.mark.parametrize(
    "value", [{"\ufb33": 1, "\U0001f600": 2}, [1.0, 1e21, 1e-7], {"a": "\x7f"}]
)
def test_matching_agrees_with_the_digest(value):
    assert canonical.matches(value, canonical.digest(value))
    assert not canonical.matches(value, canonical.digest([value]))


@pytest.mark.parametrize("value", [float("nan"), {"a": b""}, 2**60, {1: 1, "1": 2}, "\ud800"])
def test_what_has_no_canonical_form_matches_nothing(value):
    assert not canonical.matches(value, "0" * 64)
