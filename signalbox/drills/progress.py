"""Progress on stderr, on one line, when it is a terminal; otherwise nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def shown() -> Iterator[Callable[[str], None]]:
    """Gives what says how far it is; the line is cleared at the end."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return

    def say(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text} …")
        sys.stderr.flush()

    try:
        yield say
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
