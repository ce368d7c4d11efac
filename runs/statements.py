"""The SQL files of the apps: one statement each, named after the verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from typing import Any, TypeVar

import psycopg
from django.db import DatabaseError, connection
from psycopg import errors as pg

T = TypeVar("T")

STALE = (pg.FeatureNotSupported, pg.InvalidSqlStatementName)
"""What a prepared statement raises whose columns a migration has changed, or that a pooler or
somebody's DEALLOCATE has dropped. Psycopg forgets what it has prepared at the next rollback."""


@cache
def read(app: str, name: str) -> str:
    """The text of `<app>/sql/<name>.sql`."""
    return resources.files(app).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")


def one(sql: str, params: Mapping[str, object]) -> tuple[Any, ...] | None:
    """Run a driver's statement on Django's connection, in its transaction; its first row, if any.

    Prepared, which Django's own cursors cannot do: a drive sends the same few statements again and
    again, and PostgreSQL needs longer to plan than to execute them. JSON comes as text.
    """
    if connection.in_atomic_block:  # which an error ends: see `fresh`
        return _one(sql, params)
    return fresh(lambda: _one(sql, params))


def fresh(work: Callable[[], T]) -> T:
    """Do `work`, a whole transaction, and do it again if it met a prepared statement gone stale."""
    try:
        return work()
    except DatabaseError as exc:
        if not isinstance(exc.__cause__, STALE):
            raise
        if not connection.in_atomic_block:
            connection.close()  # nothing else makes it forget without a transaction to roll back
        return work()


def _one(sql: str, params: Mapping[str, object]) -> tuple[Any, ...] | None:
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(sql.encode(), params)
        return cursor.fetchone() if cursor.description else None
