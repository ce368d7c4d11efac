"""What is asked once a page: by whom, for how long, and never where somebody acts."""

from __future__ import annotations

import pytest
from django.test import RequestFactory

from accounts import once
from accounts.middleware import Once


@pytest.fixture
def asked():
    """A question, and the names for which it was really asked."""
    names: list[str] = []

    @once.a_page
    def find(name: str) -> str:
        names.append(name)
        return f"found {name}"

    return find, names


def test_a_page_asks_once_for_each(asked) -> None:
    find, names = asked
    with once.page():
        assert [find("a"), find("b"), find("a")] == ["found a", "found b", "found a"]
    assert names == ["a", "b"]


def test_outside_of_pages_and_on_the_next_one_it_is_asked_anew(asked) -> None:
    find, names = asked
    find("a")
    find("a")
    for _ in range(2):
        with once.page():
            find("a")
    assert names == ["a"] * 4


def test_what_is_known_is_told_without_asking(asked) -> None:
    find, names = asked
    assert once.known(find, "a") is None
    with once.page():
        assert once.known(find, "a") is None
        find("a")
        assert once.known(find, "a") == "found a"
    assert names == ["a"]


@pytest.mark.parametrize(("method", "times"), [("get", 1), ("head", 1), ("post", 2), ("put", 2)])
def test_whoever_acts_asks_anew(asked, method, times) -> None:
    find, names = asked
    Once(lambda _: find("a") + find("a"))(getattr(RequestFactory(), method)("/"))
    assert len(names) == times
