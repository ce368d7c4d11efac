r"""Characters that draw nothing, or that draw what is not there: hidden ones, in short.

`escaped` and `spelled` make them visible in files that leave this system. Pages mark them: see
`signalbox.visible`.
"""

from __future__ import annotations

import re

CHARACTERS = (
    # Controls except tab and line end; soft hyphen; Arabic and Mongolian format characters.
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180b-\u180f"
    # Joiners and fillers that draw nothing; widths of zero; bidi; separators; invisible operators.
    r"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    # Variation selectors; byte order mark; annotations; surrogates; private use; noncharacters.
    r"\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff"
    # The same beyond the first plane, and the block of tags.
    r"\U000110bd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
)
"""What stands between the brackets of a regular expression's class."""

_ONE = re.compile(f"[{CHARACTERS}]")


def escaped(json_text: str) -> str:
    r"""The same JSON with hidden characters as `\u202e`: visible, and read back unchanged."""
    return _ONE.sub(lambda found: _escape(found[0]), json_text)


def spelled(text: str) -> str:
    r"""`text` with hidden characters as `\u{202E}`, for readers without a notion of escapes."""
    return _ONE.sub(lambda found: rf"\u{{{ord(found[0]):04X}}}", text)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(rf"\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2))
