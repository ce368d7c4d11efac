"""Text of strangers: what could deceive a reader is shown, and everything is escaped."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signalbox.visible import visible


@pytest.mark.parametrize(
    "char",
    [
        "\u202e",  # right-to-left override
        "\u2066",  # left-to-right isolate
        "\u200f",  # right-to-left mark
        "\u061c",  # Arabic letter mark
        "\u200b",  # zero width space
        "\u200d",  # zero width joiner
        "\ufeff",  # byte order mark
        "\u2060",  # word joiner
        "\u2028",  # line separator
        "\u2029",  # paragraph separator
        "\u00ad",  # soft hyphen
        "\u3164",  # Hangul filler
        "\ufe0f",  # variation selector 16
        "\U000e0101",  # variation selector 18
        "\U000e0041",  # tag A
        "\x00",
        "\x1b",
        "\x7f",
        "\x85",
        "\ud800",  # half a pair: cannot be sent at all
        "\ue000",  # private use
        "\uffff",
    ],
)
def test_a_hidden_character_is_shown_with_its_number(char) -> None:
    shown = visible(f"pay{char}5")
    assert char not in shown
    assert rf"\u{{{ord(char):04X}}}</mark>" in shown
    assert "pay" in shown


def test_the_name_of_a_character_is_in_the_tooltip() -> None:
    assert 'title="right-to-left override"' in visible("\u202e")
    assert 'title="hidden tag for “A”"' in visible("\U000e0041")


def test_markup_is_escaped() -> None:
    assert visible("<b>&\"'") == "&lt;b&gt;&amp;&quot;&#x27;"
    assert "<script>" not in visible("\u202e<script>")


def test_plain_text_with_tabs_line_ends_and_paragraphs_is_left_alone() -> None:
    text = "Dear Ada,\n\n\tthe item  arrived\ndamaged."
    assert visible(text) == text


def test_letters_of_any_script_are_left_alone_and_do_not_reorder_what_is_beside_them() -> None:
    assert visible("שלום") == "<bdi>שלום</bdi>"
    assert visible("Zürich 東京") == "<bdi>Zürich 東京</bdi>"


def test_a_long_run_of_blanks_is_counted() -> None:
    assert visible("a" + " " * 40 + "b") == 'a<mark class="odd">40 spaces</mark>b'
    assert "8 spaces" in visible("a\u00a0\u2003\u3000 \t\u2000 \u202fb")


def test_a_long_run_of_empty_lines_is_counted() -> None:
    shown = visible("a\n\n \n\r\n\nb")
    assert shown == 'a\n<mark class="odd">4 empty lines</mark>\nb'


def test_marks_stacked_on_one_letter_are_shown() -> None:
    assert "\\u{0301}" in visible("a" + "\u0301" * 9)
    assert "odd" not in visible("a\u0301\u0323")


@given(st.text())
def test_no_text_keeps_a_control_or_format_character(text) -> None:
    shown = visible(text)
    left = {char for char in shown if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Zl"}}
    assert left <= {"\n", "\t"}


@given(st.text())
def test_nothing_of_a_text_is_an_element_but_our_own_marks(text) -> None:
    tags = re.findall(r"<[^>]*>", visible(text))
    assert all(
        re.fullmatch(r'</?bdi>|</mark>|<mark class="odd"( title="[^"<>]*")?>', t) for t in tags
    )
