"""People and hands of the audit tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection

from audit import trail
from audit.models import Entry
from tests.support import flush


@dataclass(frozen=True, kw_only=True)
class Somebody:
    kind: str = "user"
    user_id: int | None = None
    label: str = ""
    entry: str = "page"


@pytest.fixture
def ada() -> Somebody:
    return Somebody(user_id=7, label="Ada Marsh")


@pytest.fixture
def record(db: None, ada: Somebody) -> Callable[..., Entry]:
    """Add an entry that says that Ada started a run."""

    def record(target_id: str = "1", **given: Any) -> Entry:
        arguments: dict[str, Any] = {"actor": ada, "target": ("run", target_id), **given}
        return trail.record("run.started", **arguments)

    return record


@pytest.fixture
def tamper(db: None) -> Callable[..., None]:
    """Do to the log what only the database's owner can: the triggers are off meanwhile."""

    def tamper(sql: str, *arguments: str | int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for table in flush.GROWS:
                cursor.execute(flush.unlock(table))
            cursor.execute(sql, arguments)
            assert cursor.rowcount, "the tampering matched nothing"
            for table in flush.GROWS:
                cursor.execute(flush.lock(table))

    return tamper
