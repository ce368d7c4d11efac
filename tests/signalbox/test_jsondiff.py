"""What changed between two JSON values."""

from __future__ import annotations

import difflib

from django.template.loader import render_to_string

from signalbox import jsondiff
from signalbox.jsondiff import compare


def rows(before, after) -> list[tuple[str, str, str]]:
    return [(row.sign, row.path, row.value) for row in compare(before, after).rows]


def test_added_removed_and_changed_values_are_listed_by_path() -> None:
    before = {"draft": {"amount": 100, "old": True}, "same": 1}
    after = {"draft": {"amount": 120, "currency": "EUR"}, "same": 1}
    assert rows(before, after) == [
        ("~", "draft.amount", "<del>100</del> → <ins>120</ins>"),
        ("\N{MINUS SIGN}", "draft.old", "true"),
        ("+", "draft.currency", "&quot;EUR&quot;"),
    ]
    assert compare(before, after).unchanged == 1


def test_an_item_put_in_front_of_a_list_is_one_addition() -> None:
    assert rows(["b", "c"], ["a", "b", "c"]) == [("+", "[0]", "&quot;a&quot;")]


def test_an_item_changed_inside_a_list_is_compared_inside() -> None:
    assert rows([{"n": 1, "m": 2}], [{"n": 1, "m": 3}]) == [
        ("~", "[0].m", "<del>2</del> → <ins>3</ins>")
    ]


def test_values_of_different_types_differ() -> None:
    assert len(rows({"a": 1}, {"a": True})) == 1
    assert len(rows({"a": 1}, {"a": 1.0})) == 1
    assert len(rows({"a": None}, {})) == 1
    assert rows({"a": [1]}, {"a": [1]}) == []


def test_a_changed_text_shows_the_words_that_changed() -> None:
    [(_, _, value)] = rows("The item arrived damaged", "The item arrived late")
    assert value == '"The item arrived <del>damaged</del><ins>late</ins>"'


def test_two_different_texts_are_not_mixed_word_by_word() -> None:
    [(_, _, value)] = rows("Refund the whole order", "xyz")
    assert value == "<del>&quot;Refund the whole order&quot;</del> → <ins>&quot;xyz&quot;</ins>"


def test_keys_and_values_are_escaped_and_made_visible() -> None:
    [(_, path, value)] = rows({}, {"<k>\u202e": "<v>\u200b"})
    assert "<k>" not in path
    assert "<v>" not in value
    assert "\u202e" not in path
    assert "\u200b" not in value


def test_many_changes_are_capped_and_counted() -> None:
    found = compare({}, {str(number): number for number in range(350)})
    assert len(found.rows) == jsondiff.MOST_ROWS
    assert found.hidden == 150


def test_only_rows_that_are_shown_are_drawn(monkeypatch) -> None:
    drawn: list[str] = []

    def draw(text: str) -> str:
        drawn.append(text)
        return text

    monkeypatch.setattr(jsondiff, "visible", draw)
    found = compare(list(range(20_000)), list(range(20_000, 0, -1)))
    assert (found.hidden, found.unchanged) == (20_000 - jsondiff.MOST_ROWS - 1, 1)
    assert len(drawn) == 3 * jsondiff.MOST_ROWS  # a path and two values each


def test_what_is_too_big_is_not_compared_and_says_so() -> None:
    found = compare(["x" * jsondiff.LARGEST], ["y"])
    assert (found.rows, found.hidden, found.unchanged) == ([], 0, 0)
    assert found.too_big > jsondiff.LARGEST
    page = render_to_string("components/_diff.html", {"difference": found})
    assert "3.8 MB of JSON: too much to compare on a page." in page
    assert "No difference" not in page


def test_the_work_of_aligning_is_bounded(monkeypatch) -> None:
    """Texts and lists that are alike in many small parts take the product of their lengths."""
    compared: list[int] = []
    real = difflib.SequenceMatcher

    def matcher(junk: None, old: list[str], new: list[str], **more: bool) -> object:
        compared.append(len(old) * len(new))
        return real(junk, old, new, **more)

    monkeypatch.setattr(jsondiff, "MOST_PAIRS", 1_000)
    monkeypatch.setattr(difflib, "SequenceMatcher", matcher)
    texts = (
        {str(n): f"{n} " + "a b " * 5 for n in range(30)},
        {str(n): f"{n} x " + "b a " * 5 for n in range(30)},
    )
    lists = [[n, *range(20)] for n in range(30)], [[*range(20, 0, -1), n] for n in range(30)]
    for before, after in (texts, lists):
        compared.clear()
        assert compare(before, after).rows
        assert 0 < sum(compared) <= 1_000


def test_what_two_long_texts_begin_and_end_with_costs_nothing(monkeypatch) -> None:
    monkeypatch.setattr(jsondiff, "MOST_PAIRS", 1)
    [(_, _, value)] = rows("a " * 900 + "late" + " b" * 90, "a " * 900 + "soon" + " b" * 90)
    assert "<del>late</del><ins>soon</ins>" in value


def test_a_whole_value_can_change() -> None:
    assert rows(1, {"a": 1})[0][1] == "(all)"


def test_unchanged_leaves_are_counted_inside_equal_parts() -> None:
    assert (
        compare({"a": {"b": [1, 2], "c": {}}, "d": 1}, {"a": {"b": [1, 2], "c": {}}}).unchanged == 3
    )
