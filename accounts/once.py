"""What is found out once for a page, however many of its parts ask.

Only while a page is read: whoever acts asks the database anew, and so does everything outside of
requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Found = TypeVar("Found")

_KNOWN: ContextVar[dict[object, object] | None] = ContextVar("once", default=None)


@contextmanager
def page() -> Iterator[None]:
    """All within is one page."""
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def known(find: Callable[Given, Found], *args: Given.args, **_: Given.kwargs) -> Found | None:
    """What has been found by `find`, one of those that are asked once a page; None if not yet."""
    return (_KNOWN.get() or {}).get((find, *args))  # type: ignore[return-value]  # what it found


def a_page(find: Callable[Given, Found]) -> Callable[Given, Found]:
    """Have `find` asked once a page for the same arguments, which have a hash."""

    @wraps(find)
    def found(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        page, key = _KNOWN.get(), (found, *args)
        if page is None or kwargs:
            return find(*args, **kwargs)
        if key not in page:
            page[key] = find(*args, **kwargs)
        return page[key]  # type: ignore[return-value]  # what `find` has found

    return found
