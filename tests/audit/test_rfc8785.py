"""The published vectors of RFC 8785: its examples, its appendix of numbers, its authors' files."""

from __future__ import annotations

import json
import math
import struct

import pytest

from audit import canonical
from audit.errors import NotCanonical

NUMBERS = [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"),
    ("41b3de4355555555", "333333333.3333333"),
    ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
    ("43143ff3c1cb0959", "1424953923781206.2"),
]
"""Appendix B: the bits of a double, and how it is written."""
NO_NUMBERS = ["7fffffffffffffff", "7ff0000000000000", "fff0000000000000"]

SORTED = (
    r"""{"\u20ac": "Euro Sign", "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis"}""",
    [
        "Carriage Return",
        "One",
        "Control",
        "Latin Small Letter O With Diaeresis",
        "Euro Sign",
        "Emoji: Grinning Face",
        "Hebrew Letter Dalet With Dagesh",
    ],
)
"""Section 3.2.3."""

FILES = {
    "arrays": (
        '[ 56, { "d": true, "10": null, "1": [ ] } ]',
        '[56,{"1":[],"10":null,"d":true}]',
    ),
    "french": (
        '{ "peach": "This sorting order", "péché": "is wrong according to French",'
        ' "pêche": "but canonicalization MUST", "sin": "ignore locale" }',
        '{"peach":"This sorting order","péché":"is wrong according to French",'
        '"pêche":"but canonicalization MUST","sin":"ignore locale"}',
    ),
    "structures": (
        r'{ "1": {"f": {"f": "hi","F": 5} ,"\n": 56.0}, "10": { }, "": "empty", "a": { },'
        ' "111": [ {"e": "yes","E": "no" } ], "A": { } }',
        r'{"":"empty","1":{"\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],'
        '"A":{},"a":{}}',
    ),
    "unicode": (
        '{ "Unnormalized Unicode":"A\u030a" }',
        '{"Unnormalized Unicode":"A\u030a"}',
    ),
    "values": (
        r"""{ "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false] }""",
        '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        r'"string":"€$\u000f\nA' + "'" + r'B\"\\\\\"/"}',
    ),
    "weird": (
        r"""{ "\u20ac": "Euro Sign", "\r": "Carriage Return", "\u000a": "Newline", "1": "One",
        "\u0080": "Control\u007f", "\ud83d\ude02": "Smiley",
        "\u00f6": "Latin Small Letter O With Diaeresis",
        "\ufb33": "Hebrew Letter Dalet With Dagesh", "</script>": "Browser Challenge" }""",
        r'{"\n":"Newline","\r":"Carriage Return","1":"One","</script>":"Browser Challenge",'
        '"\u0080":"Control\u007f","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign",'
        '"\U0001f602":"Smiley","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ),
}
"""The test files that the RFC's authors published, read and written."""


def double(bits: str) -> float:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert isinstance(number, float)
    return number


@pytest.mark.parametrize(("bits", "written"), NUMBERS)
def test_numbers_are_written_as_in_the_appendix(bits: str, written: str) -> None:
    assert canonical.dumps(double(bits)).decode() == written
    assert float(written) == double(bits)


@pytest.mark.parametrize("bits", NO_NUMBERS)
def test_what_is_no_number_in_the_appendix_is_refused(bits: str) -> None:
    assert not math.isfinite(double(bits))
    with pytest.raises(NotCanonical):
        canonical.dumps(double(bits))


def test_names_are_sorted_as_in_the_example() -> None:
    text, order = SORTED
    assert list(json.loads(canonical.dumps(json.loads(text))).values()) == order


@pytest.mark.parametrize("name", FILES)
def test_the_published_files_are_written_as_published(name: str) -> None:
    read, written = FILES[name]
    assert canonical.dumps(json.loads(read)).decode() == written
    assert canonical.dumps(json.loads(written)).decode() == written
