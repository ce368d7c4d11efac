"""Text of strangers, with everything in it made visible that could deceive a reader.

What an agent or a provider wrote may turn the direction of writing around, hide words in characters
without a width, or push them out of sight with a long run of blanks. Each such character is shown
as a mark with its number: `\\u{202E}`. Nothing is removed, so what is seen is what is there.
"""

from __future__ import annotations

import unicodedata

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from runs.deceiving import LINE_ENDS, LONG_BLANK, LONG_GAP, ODD


def visible(text: str) -> SafeString:
    """Escape `text` for HTML and show every hidden or deceiving character in a <mark>."""
    text = LINE_ENDS.sub("\n", text)
    parts: list[str] = []
    end = 0
    for match in ODD.finditer(text):
        parts += (escape(text[end : match.start()]), _mark(match[0]))
        end = match.end()
    shown = "".join((*parts, escape(text[end:])))
    # A right-to-left text must not reorder what stands beside it.
    return mark_safe(shown if text.isascii() else f"<bdi>{shown}</bdi>")  # noqa: S308  # escaped


def plain(text: str) -> str:
    """`text` for a mail without HTML: hidden characters as `\\u{202E}`, line ends as blanks."""
    line = " ".join(LINE_ENDS.sub("\n", text).split("\n"))
    return ODD.sub(lambda match: _plain_mark(match[0]), line)


def _plain_mark(odd: str) -> str:
    if len(odd) >= LONG_BLANK:
        return " [{}] ".format(_("{count} spaces").format(count=len(odd)))
    return "".join(f"\\u{{{ord(char):04X}}}" for char in odd)


def _mark(odd: str) -> str:
    if len(odd) >= LONG_GAP and odd[0] == odd[-1] == "\n":
        lines = _("{count} empty lines").format(count=odd.count("\n") - 1)
        gap = format_html('<mark class="odd">{}</mark>', lines)
        return f"\n{gap}\n"
    if len(odd) >= LONG_BLANK:
        return format_html(
            '<mark class="odd">{}</mark>', _("{count} spaces").format(count=len(odd))
        )
    return "".join(
        format_html(
            '<mark class="odd" title="{}">\\u{{{}}}</mark>', _name(char), f"{ord(char):04X}"
        )
        for char in odd
    )


def _name(char: str) -> str:
    if "\U000e0020" <= char <= "\U000e007e":
        return _("hidden tag for “{char}”").format(char=chr(ord(char) - 0xE0000))
    return unicodedata.name(char, _("character without a name")).lower()
