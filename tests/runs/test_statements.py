"""Prepared statements go stale behind our back, and no run pays for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest
from django.db import NotSupportedError, ProgrammingError, connection, transaction

from runs import checkpoints, statements
from runs.status import Outcome

ASK = "SELECT agent FROM runs_run LIMIT 1"


@pytest.fixture
def prepares(database: None) -> Iterator[None]:
    """A connection that prepares a statement at its first use."""
    connection.close()
    connection.ensure_connection()
    connection.connection.prepare_threshold = 0
    yield
    connection.close()


def elsewhere(sql: str) -> None:
    with psycopg.connect(**checkpoints.dsn(), autocommit=True) as other:
        other.execute(sql)


@pytest.fixture
def widen(prepares: None) -> Iterator[Callable[[], None]]:
    """Change a column's type, as a migration in another process does."""
    yield lambda: elsewhere("ALTER TABLE runs_run ALTER COLUMN agent TYPE varchar(250)")
    connection.close()
    elsewhere("ALTER TABLE runs_run ALTER COLUMN agent TYPE varchar(100)")


@pytest.fixture
def drop(prepares: None) -> Callable[[], None]:
    """Drop what this connection has prepared, on the wire, where psycopg does not notice."""
    return lambda: connection.connection.pgconn.exec_(b"DEALLOCATE ALL")


@pytest.fixture(params=["widen", "drop"])
def age(request) -> Callable[[], None]:
    """Make the prepared statements of this connection stale."""
    made: Callable[[], None] = request.getfixturevalue(request.param)
    return made


def test_a_stale_statement_is_sent_again(start, age) -> None:
    start("line")
    assert statements.one(ASK, {}) == ("line",)
    age()
    assert statements.one(ASK, {}) == ("line",)


def test_inside_a_transaction_it_raises_and_the_next_use_is_clean(start, age) -> None:
    start("line")
    other = f"{ASK} OFFSET 0"
    for ask in (ASK, other):
        statements.one(ask, {})
    age()
    with pytest.raises((NotSupportedError, ProgrammingError)), transaction.atomic():
        statements.one(ASK, {})
    with transaction.atomic():
        assert statements.one(ASK, {}) == statements.one(other, {}) == ("line",)


def test_another_error_is_raised_at_once(prepares) -> None:
    tries: list[int] = []

    def work() -> None:
        tries.append(1)
        statements.one("SELECT nothing", {})

    with pytest.raises(ProgrammingError):
        statements.fresh(work)
    assert tries == [1]


def test_no_drive_is_lost_to_a_stale_statement(start, drive, age) -> None:
    for _ in range(2):
        assert drive(start("line")) is Outcome.FINISHED
    age()
    for _ in range(2):
        assert drive(start("line")) is Outcome.FINISHED
