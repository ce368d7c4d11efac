"""Reading what somebody typed into the search of a list of runs."""

from __future__ import annotations

import pytest

from runs.listing import search
from runs.listing.search import BadSearch, Leaf, Search
from runs.masking import BARE, Cloak


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("", Search()),
        ("refund  10366", Search(text="refund 10366")),
        ('"refund: twice" now', Search(text="refund: twice now")),
        ("order_id:10366", Search(leaves=(Leaf(path="order_id", value="10366"),))),
        ("order_id=10366", Search(leaves=(Leaf(path="order_id", value="10366"),))),
        (
            'input.customer.city="Den Haag" lost',
            Search(text="lost", leaves=(Leaf(path="customer.city", value="Den Haag"),)),
        ),
        ("input.key:7", Search(leaves=(Leaf(path="key", value="7"),))),
        ("key:a:b=c", Search(named={"key": "a:b=c"})),
        ("agent:triage version:1.0", Search(named={"agent": "triage", "version": "1.0"})),
        ("12:30", Search(text="12:30")),
        ('"unclosed', Search(text='"unclosed')),
    ],
)
def test_what_is_typed_is_understood(typed, understood) -> None:
    assert search.read(typed) == understood


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("order_id:", "Write a value behind “order_id:”"),
        ('order_id:""', "Write a value behind"),
        ("order_id: 7", "without a space"),
        ("input.a..b=1", "is no field"),
        ("id:zebra", "is no id"),
        ("agent:a agent:b", "stands there twice"),
        ("a b c d e f g h i", "At most 8"),
    ],
)
def test_what_cannot_be_meant_is_said(typed, said) -> None:
    with pytest.raises(BadSearch, match=said):
        search.read(typed)


def test_words_of_titles_leave_punctuation_out() -> None:
    assert search.words("Refund order-10366, (twice)!") == ["Refund", "order", "10366", "twice"]
    assert search.words("%'\\") == []


def test_numbers_are_known_by_their_value() -> None:
    assert "n=120" in Leaf(path="n", value="120.00").spellings
    assert "n=7" in Leaf(path="n", value="007").spellings


@pytest.mark.parametrize(
    ("path", "value"),
    [("customer.email", "x"), ("card.last", "4242"), ("note", "jo@example.com")],
)
def test_what_pages_hide_is_known_as_hidden(path, value) -> None:
    assert Leaf(path=path, value=value).hidden(BARE)


def test_what_policies_mask_is_known_as_hidden() -> None:
    masked = Cloak(paths=frozenset({("customer", "name")}))
    assert Leaf(path="customer.name", value="Jo").hidden(masked)
    assert not Leaf(path="customer.town", value="Jo").hidden(masked)


def test_a_hidden_number_is_hidden_however_it_is_spelled() -> None:
    assert Leaf(path="reference", value="4222222222222").hidden(BARE)
    assert Leaf(path="reference", value="004222222222222").hidden(BARE)


def test_a_search_is_told_without_the_values_of_fields() -> None:
    typed = 'late agent:triage input.customer.city="Den Haag" email=jo@example.com'
    assert search.told(typed) == "late agent:triage input.customer.city:* email:*"
