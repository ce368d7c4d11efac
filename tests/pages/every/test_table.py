"""No page is forgotten: every URL is in the table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from tests.pages.every.table import NOT_PAGES, PAGES


def names(patterns: list[URLPattern | URLResolver], space: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inside = f"{space}{pattern.namespace}:" if pattern.namespace else space
            yield from names(pattern.url_patterns, inside)
        elif pattern.name:
            yield f"{space}{pattern.name}"


KNOWN = set(names(get_resolver("signalbox.urls").url_patterns))
LISTED = {page.url for page in PAGES if not page.url.startswith("/")}


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_every_url_is_a_page_of_the_table_or_says_why_it_is_none(name: str) -> None:
    assert name in LISTED | NOT_PAGES.keys(), "add a line to tests/pages/every/table.py"


def test_the_table_names_no_url_that_is_gone_and_none_twice() -> None:
    assert sorted(LISTED | NOT_PAGES.keys()) == sorted(KNOWN)
    assert not LISTED & NOT_PAGES.keys()
    assert len(set(map(str, PAGES))) == len(PAGES)
