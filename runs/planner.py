"""Conditions written so that PostgreSQL answers them row by row, from an index.

The planner cannot know how many rows meet a search or a rule, and guesses. These leave it no other
way than the one that is right where a page of a list is wanted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import (
    BooleanField,
    Exists,
    F,
    Func,
    Model,
    OuterRef,
    Q,
    QuerySet,
    TextField,
    UUIDField,
    Value,
)
from django.db.models.functions import Cast

REMEMBERED = 60.0
"""Seconds for which it is not found out again that ids are more than `most`."""
MOST_REMEMBERED = 1_000
_many: dict[int, float] = {}
"""When that was, by what was asked: in this process."""


def beside(rows: QuerySet[Model, Any], **columns: str) -> Exists:
    """Whether one of `rows` belongs to a row of the outer query: `run="pk"` says by which columns.

    Written as a range of one value. An equation may be answered by making the whole set first.
    """
    least = {f"{name}__gte": OuterRef(outer) for name, outer in columns.items()}
    most = {f"{name}__lte": OuterRef(outer) for name, outer in columns.items()}
    return Exists(rows.filter(**least, **most))


@dataclass(frozen=True, slots=True)
class Ids:
    """UUIDs, of which there may be thousands, as the one text by which PostgreSQL writes them."""

    number: int
    text: str

    @classmethod
    def of(cls, ids: Iterable[object]) -> Ids:
        written = [str(each) for each in ids]
        return cls(len(written), f"{{{','.join(written)}}}")

    @classmethod
    def found(cls, queries: Iterable[QuerySet[Model, Any]], *, most: int) -> Ids | None:
        """Those that one of these queries finds, each of one column of UUIDs; None if there are
        more than `most`, or were a minute ago. One query at most."""
        parts: list[str] = []
        params: list[Any] = []
        for each in queries:
            try:
                part, given = each.order_by()[: most + 1].query.sql_with_params()
            except EmptyResultSet:  # it can find nothing
                continue
            parts.append(f"(SELECT * FROM ({part}) part (id))")  # noqa: S608 (made by Django)
            params += given
        if not parts:
            return cls(0, "{}")
        every = " UNION ".join(parts)
        if _are_many(asked := hash((every, str(params)))):
            return None
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*), CASE WHEN count(*) <= %s THEN array_agg(id)::text END"  # noqa: S608
                f" FROM ({every} LIMIT %s) found",
                [most, *params, most + 1],
            )
            number, text = cursor.fetchone()
        if number > most:
            _many[asked] = time.monotonic()
            return None
        return cls(number, text or "{}")

    @property
    def array(self) -> Cast:
        return Cast(Value(self.text, TextField()), ArrayField(UUIDField()))


def _are_many(asked: int) -> bool:
    if len(_many) > MOST_REMEMBERED:
        forget()
    return time.monotonic() - _many.get(asked, -REMEMBERED) < REMEMBERED


def forget() -> None:
    """Find out anew what is many."""
    _many.clear()


def among(column: str, ids: Ids) -> Q:
    """Whether a column is one of these. They are looked up, each in the column's index."""
    return Q(_Among(F(column), ids.array))


def within(column: str, ids: Ids) -> Q:
    """The same, for rows that something else finds: each is compared with all ids at once."""
    return Q(_Within(F(column), ids.array))


def expected(rows: QuerySet[Model, Any]) -> int:
    """How many rows the planner expects, by what it knows of the table; it looks at none."""
    (plan,) = json.loads(rows.order_by().explain(format="json"))
    number: int = plan["Plan"]["Plan Rows"]
    return number


class _Among(Func):
    template = "%(expressions)s)))"
    arg_joiner = " = ANY(ARRAY(SELECT unnest("
    output_field = BooleanField()


class _Within(Func):
    template = "%(expressions)s)"
    arg_joiner = " = ANY("
    output_field = BooleanField()
