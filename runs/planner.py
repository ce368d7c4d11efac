"""Conditions written so that PostgreSQL answers them row by row, from an index.

The planner cannot know how many rows meet a search or a rule, and guesses. These leave it no other
way than the one that is right where a page of a list is wanted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from django.contrib.postgres.fields import ArrayField
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


def beside(rows: QuerySet[Model, Any], **columns: str) -> Exists:
    """Whether one of `rows` belongs to a row of the outer query: `run="pk"` says by which columns.

    Written as a range of one value. An equation may be answered by making the whole set first.
    """
    least = {f"{name}__gte": OuterRef(outer) for name, outer in columns.items()}
    most = {f"{name}__lte": OuterRef(outer) for name, outer in columns.items()}
    return Exists(rows.filter(**least, **most))


def among(column: str, ids: Iterable[object]) -> Q:
    """Whether a column is one of these UUIDs, of which there may be thousands: one is one text."""
    text = Value(f"{{{','.join(map(str, ids))}}}", TextField())
    return Q(_Among(F(column), Cast(text, ArrayField(UUIDField()))))


def expected(rows: QuerySet[Model, Any]) -> int:
    """How many rows the planner expects, by what it knows of the table; it looks at none."""
    (plan,) = json.loads(rows.order_by().explain(format="json"))
    number: int = plan["Plan"]["Plan Rows"]
    return number


class _Among(Func):
    template = "%(expressions)s)))"
    arg_joiner = " = ANY(ARRAY(SELECT unnest("
    output_field = BooleanField()
