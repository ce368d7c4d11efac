"""A JSON value as a tree of <details>: made without script, numbers exact, everything escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from signalbox import words
from signalbox.visible import visible

LEVELS_OPEN = 2
LONG_STRING = 300
"""Characters of a string that are shown before "Show all"."""
LONGEST_STRING = 20_000
LARGEST = 64 * 1024
"""Characters of JSON beyond which a page says how big it is instead of showing it."""
MOST_NODES = 2_000
DEEPEST = 40


_SHUT = '<details><summary>{}<span class="n">{}</span></summary>{}</details>'
_OPEN = _SHUT.replace("<details>", "<details open>")


def compact(value: object) -> str:
    """`value` as JSON on one line. What JSON does not know is written as text."""
    return json.dumps(value, ensure_ascii=False, default=str)


@dataclass(slots=True)
class _Tree:
    """Draws one value and counts what it has drawn."""

    left: int = MOST_NODES

    def node(self, key: str | int | None, value: object, depth: int) -> SafeString:
        self.left -= 1
        if isinstance(value, dict) and value:
            return self._branch(key, value.items(), f"{{{len(value)}}}", depth)
        if isinstance(value, list | tuple) and value:
            return self._branch(key, enumerate(value), f"[{len(value)}]", depth)
        return format_html("<div>{}{}</div>", _key(key, ":"), _leaf(value))

    def _branch(
        self, key: str | int | None, items: Iterable[tuple[object, object]], size: str, depth: int
    ) -> SafeString:
        if depth >= DEEPEST:
            return format_html(
                "<div>{}{}</div>",
                _key(key, ":"),
                _("{size} nested too deep to show").format(size=size),
            )
        return format_html(
            _OPEN if depth < LEVELS_OPEN else _SHUT,
            _key(key),
            size,
            format_html_join("", "{}", ((child,) for child in self._children(items, depth))),
        )

    def _children(self, items: Iterable[tuple[object, object]], depth: int) -> Iterator[SafeString]:
        hidden = 0
        for key, value in items:
            if self.left > 0:
                yield self.node(key if isinstance(key, int) else str(key), value, depth + 1)
            else:
                hidden += 1
        if hidden:
            yield format_html(
                '<div class="n">{}</div>', _("{count} more not shown").format(count=hidden)
            )


def tree(value: object, download: str = "") -> SafeString:
    """The value as HTML. `download` is the address of the whole, offered where it is too big."""
    length = len(compact(value))
    if length > LARGEST:
        says = _("{size} of JSON: too much for a page.").format(size=words.size(length))
        link = format_html(' <a href="{}">{}</a>.', download, _("Download it")) if download else ""
        return format_html('<p class="hint">{}{}</p>', says, link)
    return format_html('<div class="json">{}</div>', _Tree().node(None, value, 0))


def _key(key: str | int | None, after: str = "") -> SafeString | str:
    if key is None:
        return ""
    name = visible(key) if isinstance(key, str) else str(key)
    return format_html('<span class="k">{}{}</span> ', name, after)


def _leaf(value: object) -> SafeString | str:
    if not isinstance(value, str):
        return visible(compact(value))
    if len(value) <= LONG_STRING:
        return format_html('<span class="s">"{}"</span>', visible(value))
    rest = len(value) - LONGEST_STRING
    return format_html(
        '<span class="s">"{}…"</span>'
        '<details class="more"><summary>{}</summary>'
        '<span class="s">"{}{}"</span></details>',
        visible(value[:LONG_STRING]),
        _("Show all {count} characters").format(
            count=number_format(len(value), force_grouping=True)
        ),
        visible(value[:LONGEST_STRING]),
        _more(rest) if rest > 0 else "",
    )


def _more(rest: int) -> str:
    count = number_format(rest, force_grouping=True)
    return _("… {count} more characters").format(count=count)
