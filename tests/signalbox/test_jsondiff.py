"""What changed between two JSON values."""

from __future__ import annotations

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


def test_a_whole_value_can_change() -> None:
    assert rows(1, {"a": 1})[0][1] == "(all)"


def test_unchanged_leaves_are_counted_inside_equal_parts() -> None:
    assert (
        compare({"a": {"b": [1, 2], "c": {}}, "d": 1}, {"a": {"b": [1, 2], "c": {}}}).unchanged == 3
    )
