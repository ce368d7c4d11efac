"""The SQL files of the apps: one statement each, named after the verb."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

import psycopg
from django.db import connection


@cache
def read(app: str, name: str) -> str:
    """The text of `<app>/sql/<name>.sql`."""
    return resources.files(app).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")


def one(sql: str, params: Mapping[str, object]) -> tuple[Any, ...] | None:
    """Run a driver's statement on Django's connection, in its transaction; its first row, if any.

    Prepared, which Django's own cursors cannot do: a drive sends the same few statements again and
    again, and PostgreSQL needs longer to plan than to execute them. JSON comes as text.
    """
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(sql.encode(), params)
        return cursor.fetchone() if cursor.description else None
