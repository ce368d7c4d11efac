"""JSON as a tree."""

from __future__ import annotations

from decimal import Decimal

from signalbox import jsontree
from signalbox.jsontree import tree


def test_two_levels_are_open_and_the_rest_is_folded() -> None:
    html = tree({"a": {"b": {"c": {"d": 1}}}})
    assert html.count("<details open>") == 2
    assert html.count("<details>") == 2


def test_numbers_are_text_exactly_as_they_are() -> None:
    html = tree({"id": 2**63 + 1, "rate": 0.1, "amount": Decimal("12.30"), "yes": True, "no": None})
    for text in (str(2**63 + 1), "0.1", "12.30", "true", "null"):
        assert f"</span> {text}" in html.replace("&quot;", "")


def test_keys_and_values_are_escaped_and_made_visible() -> None:
    html = tree({"<k>": "<v>", "\u202ekey": "\u200bvalue"})
    assert "&lt;k&gt;" in html
    assert "&lt;v&gt;" in html
    assert "\u202e" not in html
    assert "\u200b" not in html


def test_a_long_string_is_cut_and_can_be_shown_in_full() -> None:
    html = tree({"note": "x" * 299 + "yz"})
    assert "Show all 301 characters" in html
    assert html.count("yz") == 1
    assert "Show all" not in tree({"note": "x" * 300})


def test_a_very_long_string_says_how_much_is_left_out() -> None:
    assert "… 5,000 more characters" in tree({"note": "x" * 25_000})


def test_a_big_value_is_offered_for_download_and_its_size_told() -> None:
    html = tree(["x" * 1000] * 100, download="/runs/1.json?a=1&b=2")
    assert "98 KB of JSON" in html
    assert '<a href="/runs/1.json?a=1&amp;b=2">' in html
    assert "xxx" not in html


def test_a_value_of_many_parts_stops_and_counts_what_is_left() -> None:
    html = tree([0] * 3_000)
    assert html.count("<div>") == jsontree.MOST_NODES - 1
    assert f"{3_000 - jsontree.MOST_NODES + 1} more not shown" in html


def test_a_value_nested_too_deep_stops() -> None:
    value: list[object] = []
    for _ in range(200):
        value = [value]
    assert "nested too deep" in tree(value)


def test_empty_and_bare_values() -> None:
    assert tree({}) == '<div class="json"><div>{}</div></div>'
    assert tree([]) == '<div class="json"><div>[]</div></div>'
    assert "&quot;" not in tree("text")
    assert '"text"' in tree("text")
