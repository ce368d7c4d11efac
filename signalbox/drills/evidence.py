"""The evidence of a drill: what the provider's books and the tables hold of each run, as read once.

Plain SQL on PostgreSQL and on the provider's SQLite file: this shares no code with Signalbox.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

SQL = Path(__file__).parent / "sql"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What one run should have come to."""

    run_id: str
    orders: tuple[str, ...]
    """Each is refunded once if the gate was approved, or if there is none."""
    amount_cents: int
    steps: tuple[str, ...]
    """Nodes whose outcome is in the state; `refund` only if there was one."""
    receipts: bool = True
    """The references of its refunds must be in the state."""
    gate: str = ""
    """The question whose approval the refund needs."""
    permit: bool = False
    """The refund needs a permit of exactly its arguments."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Every question, and the verdict on it if it is known."""
    outdated: tuple[str, ...] = ()
    """Questions among them of which no answer may have reached the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One run with everything that was found about it."""

    expected: Expected
    refunds: list[Row]
    posts: int
    runs: list[Row]
    attempts: list[Row]
    requests: list[Row]
    effects: list[Row]
    calls: list[Row]
    saved: list[Row]
    told: list[Row]

    @property
    def run(self) -> Row:
        return self.runs[0]

    @property
    def questions(self) -> list[Row]:
        """Each request once, however many decisions it has."""
        return list({row["id"]: row for row in self.requests}.values())

    @property
    def decisions(self) -> dict[str, list[Row]]:
        """The decisions on each question; more than one row per question is a violation."""
        found: dict[str, list[Row]] = {}
        for row in self.requests:
            if row["decision_id"] is not None:
                found.setdefault(row["question"], []).append(row)
        return found

    @property
    def allowed(self) -> bool:
        """Whether the refund is to happen."""
        made = self.decisions.get(self.expected.gate, [])
        return not self.expected.gate or any(row["verdict"] == "approved" for row in made)


def read(database: str, storage: Path, expected: Sequence[Expected]) -> list[Case]:
    """One case for each expectation, in order; both stores are read once."""
    runs = [each.run_id for each in expected]
    with psycopg.connect(database, autocommit=True, row_factory=dict_row) as connection:
        tables = {
            name: _by_run(connection.execute((SQL / f"{name}.sql").read_text(), {"runs": runs}))
            for name in ("runs", "attempts", "requests", "effects", "calls", "saved", "told")
        }
    refunds, posts = books(storage)
    return [
        Case(
            expected=each,
            refunds=[row for row in refunds if row["order_id"] in each.orders],
            posts=sum(posts[order] for order in each.orders),
            **{name: rows.get(each.run_id, []) for name, rows in tables.items()},
        )
        for each in expected
    ]


def _by_run(rows: psycopg.Cursor[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(str(row["run_id"]), []).append(row)
    return found


def books(storage: Path) -> tuple[list[Row], Counter[str]]:
    """The provider's refunds, and how many requests arrived for each order."""
    with closing(sqlite3.connect(f"file:{storage}?mode=ro", uri=True, timeout=30)) as books:
        books.row_factory = sqlite3.Row
        refunds = [dict(row) for row in books.execute("SELECT * FROM refunds ORDER BY rowid")]
        bodies = books.execute("SELECT body FROM requests WHERE method = 'POST'").fetchall()
    return refunds, Counter(json.loads(row["body"])["order_id"] for row in bodies)
