"""The checkpoint tables are set up once, by whoever comes first, and checked by everybody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest
from django.db import connection, transaction
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row, tuple_row

from runs import checkpoints, errors
from tests.support import child
from tests.support.processes import worker


@pytest.fixture
def empty(database, monkeypatch) -> Iterator[str]:
    """A database without checkpoint tables, in which `checkpoints` works meanwhile."""
    name = f"{connection.settings_dict['NAME']}_empty"
    with connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        cursor.execute(f'CREATE DATABASE "{name}"')
    here = checkpoints.dsn()
    monkeypatch.setattr(checkpoints, "dsn", lambda: here | {"dbname": name})
    yield name
    with connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def query(statement: str) -> list[Any]:
    with psycopg.connect(**checkpoints.dsn(), autocommit=True) as conn:
        found = conn.execute(statement)
        return found.fetchall() if found.description else []


def invalidate(index: str) -> None:
    """As an interrupted CREATE INDEX CONCURRENTLY leaves it."""
    query(f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = '{index}'::regclass")  # noqa: S608


def test_savers_connect_with_the_certificates_of_the_address(monkeypatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "OPTIONS", {"sslkey": "/k"})
    assert checkpoints.dsn()["sslkey"] == "/k"


def test_savers_look_where_the_address_says_and_have_limits_of_their_own(
    database, monkeypatch
) -> None:
    given = {
        "options": "-c search_path=elsewhere,public -c lock_timeout=9s -c statement_timeout=1h"
    }
    names = ("search_path", "lock_timeout", "statement_timeout")

    def set_to(kwargs: dict[str, Any]) -> list[str]:
        with psycopg.connect(**kwargs | {"row_factory": tuple_row}) as conn:
            found = [conn.execute(f"SHOW {name}").fetchone() for name in names]
        return [row[0] for row in found if row]

    # Only here: were it still so afterwards, a new connection would look elsewhere for our tables.
    with monkeypatch.context() as meanwhile:
        meanwhile.setitem(connection.settings_dict, "OPTIONS", given)
        with_defaults, of_savers = checkpoints.dsn(), checkpoints._kwargs()
    assert set_to(with_defaults) == ["elsewhere,public", "0", "0"]
    assert set_to(of_savers) == ["elsewhere,public", "5s", "0"]


def test_set_up_makes_the_tables_and_is_harmless_the_second_time(empty) -> None:
    assert checkpoints.problem() == "the checkpoint tables do not exist"
    checkpoints.setup()
    assert checkpoints.problem() == ""
    checkpoints.setup()
    assert query("SELECT max(v) FROM checkpoint_migrations") == [(checkpoints.VERSION,)]


@pytest.mark.race
def test_many_processes_may_set_up_an_empty_database_at_once(empty) -> None:
    with ExitStack() as stack:
        starting = [
            stack.enter_context(worker(child.set_up_checkpoints, database=empty)) for _ in range(4)
        ]
        for each in starting:
            assert each.hears() == ("reached", "ready")
        for each in starting:
            each.pipe.send("go")
        assert [each.result(60) for each in starting] == [""] * 4
    assert checkpoints.problem() == ""


@pytest.mark.parametrize("index", checkpoints.INDEXES)
def test_an_index_that_was_left_half_built_is_told_and_built_again(empty, index) -> None:
    checkpoints.setup()
    invalidate(index)
    assert checkpoints.problem() == f"invalid index: {index}"
    with pytest.raises(errors.SaverNotReady, match=rf"Invalid index: {index}\. Run .*migrate"):
        checkpoints.require_ready()
    checkpoints.setup()
    assert checkpoints.problem() == ""
    checkpoints.require_ready()


def test_tables_of_another_version_are_refused(empty) -> None:
    checkpoints.setup()
    query("INSERT INTO checkpoint_migrations VALUES (999)")
    with pytest.raises(errors.SaverNotReady, match="have version 999, this LangGraph needs"):
        checkpoints.require_ready()


def test_missing_tables_are_refused(empty) -> None:
    with pytest.raises(errors.SaverNotReady, match="do not exist"):
        checkpoints.require_ready()


def test_set_up_does_not_use_the_transaction_of_its_caller(empty) -> None:
    """LangGraph's own set-up fails inside one: it builds indexes concurrently."""
    with transaction.atomic():
        checkpoints.setup()
    assert checkpoints.problem() == ""
    with psycopg.connect(**checkpoints.dsn(), row_factory=dict_row) as conn:
        query("DROP TABLE checkpoint_migrations")
        with pytest.raises(psycopg.errors.ActiveSqlTransaction):
            PostgresSaver(conn).setup()


def test_the_tables_that_migrate_made_are_ready(database) -> None:
    checkpoints.require_ready()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"autocommit": False}, "without autocommit saves nothing"),
        ({"options": "-c idle_in_transaction_session_timeout=30s"}, "set no lock_timeout"),
        ({"options": "-c lock_timeout=5s"}, "set no idle_in_transaction_session_timeout"),
    ],
)
def test_connections_that_would_not_save_or_never_give_up_are_refused(
    database, monkeypatch, change, reason
) -> None:
    usual = checkpoints._kwargs()
    monkeypatch.setattr(checkpoints, "_kwargs", lambda: usual | change)
    with pytest.raises(errors.SaverNotReady, match=reason):
        checkpoints.require_ready()


def test_a_forked_child_opens_a_pool_of_its_own(database) -> None:
    mine = checkpoints.pool()
    assert checkpoints.pool() is mine
    checkpoints._process.pid = 1
    try:
        theirs = checkpoints.pool()
        assert theirs is not mine
    finally:
        checkpoints.close()
        mine.close()
