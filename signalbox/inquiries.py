"""Inquiries: for some seconds the database is asked nothing twice for the lists that are open.

1. An inquiry begins with the poll of a list and lasts SECONDS. What is asked while lists are made
   for polls is asked once in it: the same statement with the same values has the same answer,
   whoever asks. On whom an answer depends stands in the question, as the condition of what they may
   see.
2. What is made in an inquiry is remembered with the stamps that were read before it began, so that
   whatever was written meanwhile lets it be made anew.
3. Who may something else than when they first asked in an inquiry gets nothing from it, and when
   what is asked of people changes, another inquiry begins.
4. Only what reads is answered from here, and nobody gets the very object that another has.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self
from uuid import uuid4

from django.core.cache import caches
from django.db import DEFAULT_DB_ALIAS, connections

from signalbox.stamps import Stamps

SECONDS = 8.0
"""Less than any list waits between two polls, so that what it shows never goes back."""
CURRENT = "current"
_READS = re.compile(r"\s*(--|\(|SELECT\b|WITH\b)")
_ACTS = re.compile(
    r"\b(INSERT|UPDATE|DELETE|FOR\s+(SHARE|KEY)|set_config|nextval|pg_\w*lock\w*)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    name: str
    stamps: Stamps
    """As they were before it began."""
    until: float
    """By the clock of this process."""

    @property
    def left(self) -> float:
        """Seconds."""
        return max(self.until - time.monotonic(), 0.0)

    def knows(self, person: int, rows: str) -> bool:
        """Whether this person is still who they were when they first asked in this inquiry."""
        first: object = caches["inquiries"].get_or_set(f"{self.name}-{person}", rows, SECONDS)
        return first == rows

    @contextmanager
    def asks_once(self) -> Iterator[None]:
        """Within, this thread asks the database only what nobody has asked in this inquiry."""
        here: Any = connections[DEFAULT_DB_ALIAS]
        real = here.cursor
        here.cursor = lambda *args, **kwargs: _Cursor(real(*args, **kwargs), self)
        try:
            yield
        finally:
            del here.cursor


def current(stamps: Stamps) -> Inquiry:
    """The one that goes on, or another that begins now. `stamps`: read before."""
    inquiry: Inquiry | None = caches["inquiries"].get(CURRENT)
    if inquiry is None or not inquiry.left or inquiry.stamps.asked != stamps.asked:
        inquiry = Inquiry(name=uuid4().hex, stamps=stamps, until=time.monotonic() + SECONDS)
        caches["inquiries"].set(CURRENT, inquiry, SECONDS)
    return inquiry


@dataclass(frozen=True, slots=True)
class _Answer:
    rows: list[tuple[Any, ...]]
    columns: list[tuple[Any, ...]]


class _Cursor:
    """A cursor that asks the database only for what is not known in its inquiry."""

    def __init__(self, cursor: Any, inquiry: Inquiry) -> None:
        self._cursor, self._inquiry = cursor, inquiry
        self._known: _Answer | None = None
        self._rows: Iterator[tuple[Any, ...]] = iter(())

    def execute(self, sql: object, params: object = None) -> object:
        question = self._question(sql, params)
        self._known = caches["inquiries"].get(question) if question else None
        if self._known is None:
            done = self._cursor.execute(sql, params)
            if not question:
                return done
            columns = [tuple(each) for each in self._cursor.description]
            self._known = _Answer(self._cursor.fetchall(), columns)
            caches["inquiries"].set(question, self._known, self._inquiry.left)
        self._rows = iter(self._known.rows)
        return None

    def _question(self, sql: object, params: object) -> str:
        """The name under which the answer is kept; empty: it is asked anew."""
        if not isinstance(sql, str) or not _READS.match(sql) or _ACTS.search(sql):
            return ""
        try:
            said = pickle.dumps((self._inquiry.name, sql, params))
        except (pickle.PicklingError, TypeError, AttributeError):
            return ""
        return hashlib.sha256(said).hexdigest()

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._cursor.fetchone() if self._known is None else next(self._rows, None)

    def fetchmany(self, size: int = 1) -> Sequence[tuple[Any, ...]]:
        if self._known is None:
            return self._cursor.fetchmany(size)  # type: ignore[no-any-return]  # rows
        return list(islice(self._rows, size))

    def fetchall(self) -> Sequence[tuple[Any, ...]]:
        return self._cursor.fetchall() if self._known is None else list(self._rows)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._cursor) if self._known is None else self._rows

    @property
    def description(self) -> Sequence[Any] | None:
        return self._cursor.description if self._known is None else self._known.columns

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount if self._known is None else len(self._known.rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)

    def __enter__(self) -> Self:
        self._cursor.__enter__()
        return self

    def __exit__(self, *args: object) -> None:
        self._cursor.__exit__(*args)
