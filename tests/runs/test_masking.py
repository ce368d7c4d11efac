"""Hiding values by the names of their fields, and by what they look like."""

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


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("femi.adeyemi@customer.example", "hidden (email)"),
        ("Müller+x@bücher.example", "hidden (email)"),
        ("Write to a@b.example, or c@d.example.", "Write to hidden (email), or hidden (email)."),
        ("4242424242424242", "hidden (card)"),
        ("4242 4242 4242 4242", "hidden (card)"),
        ("5555-5555-5555-4444", "hidden (card)"),
        ("Card 378282246310005 declined", "Card hidden (card) declined"),
        (4242424242424242, "hidden (card)"),
    ],
)
def test_addresses_and_card_numbers_are_hidden_under_any_name(value, shown) -> None:
    masked = masking.mask({"to": value, "list": [value]})
    assert masked.value == {"to": shown, "list": [shown]}
    assert masked.hidden == 2 * shown.count("hidden")


@pytest.mark.parametrize(
    "value",
    [
        "10382",
        "4242424242424241",  # its last digit does not check the others
        "re_4242424242424242",
        "1732918800000",
        "01a2295a-c52a-7188-9597-4242424242424242",
        "42424242424242424242",
        "@home",
        "a@b",
        61240,
        4.2,
        True,
    ],
)
def test_what_only_looks_like_one_is_shown(value) -> None:
    assert masking.mask([value]) == masking.Masked(value=[value], hidden=0)


def test_what_the_settings_do_not_name_is_shown_whatever_it_looks_like(settings) -> None:
    settings.RUNS_HIDDEN_KEYS = frozenset({"token"})
    assert masking.mask("a@b.example 4242424242424242").hidden == 0
