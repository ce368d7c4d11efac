"""Many rows at once: without indexes, keys and triggers, all of which are there again afterwards.

1. All of it is one transaction: a load that fails leaves every table as it was.
2. Keys and foreign keys are checked as a whole when they are made again: what would have been
   refused row by row is refused then.
3. The triggers that are quiet are named. Whoever loads brings what they would have written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection, transaction

SQL = Path(__file__).parent / "sql"
CONSTRAINTS = (SQL / "constraints.sql").read_text()
INDEXES = (SQL / "indexes.sql").read_text()
QUIET = (
    ("runs_run", "runs_run_note_sought"),
    ("effects", "effects_note_agent"),
    ("effects", "effects_note_args"),
)
"""Tables, and triggers that write the agent of an effect and what searches find."""
MEMORY = "256MB"
"""To sort the rows of an index in."""


@contextmanager
def at_once(tables: list[str]) -> Iterator[None]:
    """In the body, rows of these tables are written fast, and not checked yet."""
    with transaction.atomic():
        _execute(f"SET LOCAL maintenance_work_mem = '{MEMORY}'")
        again = _take_away(INDEXES, tables)
        again += _take_away(CONSTRAINTS, tables)
        for table, trigger in QUIET:
            _execute(f"ALTER TABLE {table} DISABLE TRIGGER {trigger}")
        yield
        for statement in reversed(again):
            _execute(statement)
        for table, trigger in QUIET:
            _execute(f"ALTER TABLE {table} ENABLE TRIGGER {trigger}")


def _take_away(found: str, tables: list[str]) -> list[str]:
    """Take away what this statement finds; return how it is made again, the last one first."""
    with connection.cursor() as cursor:
        cursor.execute(found, {"tables": tables})
        rows = cursor.fetchall()
    for gone, _ in rows:
        _execute(gone)
    return [again for _, again in rows]


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
