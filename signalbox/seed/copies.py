"""Copying the originals: one statement a table."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from django.db import connection

from signalbox.seed import columns, tables
from signalbox.seed.plan import Word
from signalbox.seed.tables import Table


def keep(originals: list[UUID]) -> None:
    """Set the originals' rows aside, so that copying need not find them among the copies."""
    for table in tables.found():
        _execute(
            f"CREATE TEMPORARY TABLE {table.kept} AS SELECT o.*, {table.run}::uuid AS seed_run"  # noqa: S608 (names of our tables)
            f" FROM {table.name} o{table.joins} WHERE {table.run}::text = ANY(%s)",
            [[str(run_id) for run_id in originals]],
        )
        _execute(f"ANALYZE {table.kept}")


def copy(words: list[Word]) -> Iterator[str]:
    """Copy table by table; the name of each that is done."""
    for table in tables.found():
        _execute(_statement(table, columns.of(table, words)))
        yield table.name


def _statement(table: Table, values: dict[str, str]) -> str:
    names = ", ".join(f'"{name}"' for name in values)
    return (
        f"INSERT INTO {table.name} ({names}) SELECT {', '.join(values.values())}"  # noqa: S608 (names of our tables)
        f" FROM seed_copy c JOIN {table.kept} o ON o.seed_run = c.original"
    )


def _execute(statement: str, given: list[list[str]] | None = None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
