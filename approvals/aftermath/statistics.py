"""How people decide: counted from votes, openings and marks as they stand. Two queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection

from accounts.models import User
from runs import statements

MOST = 100
"""Rows of one table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Which verdicts are counted."""

    period: timedelta
    policy: str = ""
    agent: str = ""
    person: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How one person decided, or how people decided under one policy."""

    label: str
    decisions: int
    median: float
    """Seconds from when the question was put to the verdict."""
    slow: float
    """The same; nine of ten verdicts took less."""
    approved: int
    opened: int
    """With the page of the request opened before."""
    reading: float | None
    """Seconds from the first opening to the verdict, half of them less; None: nothing opened."""
    many: int
    """Together with others."""
    wrong: int
    """Approvals that were marked as gone wrong later."""

    def share(self, part: int) -> int:
        """In percent, rounded so that only all are 100 and only none are 0."""
        exact = 100 * part / self.decisions
        return min(99, max(1, round(exact))) if 0 < part < self.decisions else round(exact)

    @property
    def approved_share(self) -> int:
        return self.share(self.approved)

    @property
    def opened_share(self) -> int:
        return self.share(self.opened)

    @property
    def many_share(self) -> int:
        return self.share(self.many)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Everything that is counted for one set of filters."""

    whole: Count | None
    """None: nobody decided anything."""
    people: tuple[Count, ...]
    policies: tuple[Count, ...]
    """Those with the most decisions first, up to MOST of each."""
    more_people: int
    more_policies: int
    """How many are not among them."""


def count(filters: Filters) -> Statistics:
    sql = statements.read("approvals", "statistics")
    with connection.cursor() as cursor:
        cursor.execute(sql, {name: getattr(filters, name) for name in filters.__slots__})
        names = [column.name for column in cursor.description or ()]
        rows: list[dict[str, Any]] = [
            dict(zip(names, row, strict=True)) for row in cursor.fetchall()
        ]
    labels = _labels(rows)
    people = [row for row in rows if row["user_id"] is not None]
    policies = [row for row in rows if row["policy"] is not None]
    whole = [row for row in rows if row["user_id"] is None and row["policy"] is None]
    return Statistics(
        whole=next((_count("", row) for row in whole if row["decisions"]), None),
        people=tuple(_count(labels[row["user_id"]], row) for row in people[:MOST]),
        policies=tuple(_count(row["policy"], row) for row in policies[:MOST]),
        more_people=len(people[MOST:]),
        more_policies=len(policies[MOST:]),
    )


def _labels(rows: list[dict[str, Any]]) -> dict[int, str]:
    ids = [row["user_id"] for row in rows if row["user_id"] is not None]
    return {user.pk: user.label for user in User.objects.filter(pk__in=ids)}


def _count(label: str, row: Mapping[str, Any]) -> Count:
    held = {name: value for name, value in row.items() if name not in ("user_id", "policy")}
    return Count(label=label, **held)
