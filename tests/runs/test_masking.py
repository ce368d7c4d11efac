"""Hiding values by the names of their fields."""

from __future__ import annotations

import pytest

from runs import masking


@pytest.mark.parametrize(
    "key", ["email", "customer_email", "cardNumber", "card", "API_KEY", "apiKey", "access-token"]
)
def test_fields_with_a_hidden_word_in_their_name_are_hidden(key) -> None:
    assert masking.hides(key)


@pytest.mark.parametrize("key", ["discard", "tokens", "emailed", "key", "name", "", "api"])
def test_other_fields_are_shown(key) -> None:
    assert masking.hides(key) == ""


def test_what_is_hidden_says_why_and_is_hidden_as_a_whole() -> None:
    given = {"card": {"number": "4111", "cvc": "1"}, "amount": 5, "to": [{"email": "a@b.c"}]}
    masked = masking.mask(given)
    assert masked.value == {
        "card": "hidden (card)",
        "amount": 5,
        "to": [{"email": "hidden (email)"}],
    }
    assert masked.hidden == 2
    assert given["to"] == [{"email": "a@b.c"}]


@pytest.mark.parametrize("empty", [None, "", [], {}, True, False])
def test_values_that_say_nothing_stay(empty) -> None:
    assert masking.mask({"email": empty}) == masking.Masked(value={"email": empty}, hidden=0)


def test_the_words_come_from_the_settings(settings) -> None:
    settings.RUNS_HIDDEN_KEYS = frozenset({"order_id"})
    assert masking.mask({"orderId": "1", "email": "a@b.c"}).value == {
        "orderId": "hidden (order_id)",
        "email": "a@b.c",
    }
