"""Reading pages as a person without scripts does, for tests with Django's test client."""

from __future__ import annotations

import re
from html import unescape
from typing import Any


def html_of(response: Any) -> str:
    text: str = b"".join(response).decode()  # files are streamed
    return text


def text_of(response: Any) -> str:
    """What a person reads in the main part of the page."""
    main = html_of(response).split("<main", 1)[-1].partition(">")[2].split("</main>", 1)[0]
    main = main.replace("<wbr>", "")  # where a word may break, it is one word all the same
    words = " ".join(unescape(re.sub(r"<[^>]+>", " ", main)).split())
    return re.sub(r" ([.,:;])", r"\1", words)


def field(response: Any, name: str) -> str:
    """The value of an input, as a browser would send it back."""
    found = re.search(rf'name="{name}" value="([^"]*)"', html_of(response))
    assert found, f"no field {name}"
    return unescape(found[1])


def link(response: Any, pattern: str) -> str:
    """The first address that the pattern's only group finds, empty if there is none."""
    found = re.search(pattern, html_of(response))
    return unescape(found[1]) if found else ""
