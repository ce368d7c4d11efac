"""LangGraph's checkpoint tables: set-up at deploy, one pool of connections per process, versions.

1. Set-up runs once per deploy on a direct autocommit connection under a lock (it is not safe to run
   twice at once, and it builds indexes concurrently). `manage.py migrate` does it; workers only
   check the version.
2. The pool's connections are autocommit (otherwise a whole run writes nothing that others see),
   never prepare statements (so a transaction pooler may stand in between), and are checked before
   they are handed out (a restarted database costs no error).
3. The pool is opened after the fork and never replaced in a process.
4. One column of ours is added to LangGraph's writes, which says when each was saved: see
   `docs/decisions/time-of-writes.md`.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import connection
from langgraph.checkpoint.postgres import PostgresSaver
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from runs import errors

TIMEOUTS = "-c lock_timeout=5s -c idle_in_transaction_session_timeout=30s"
TRANSACTION_TIMEOUT = "30s"
"""From PostgreSQL 17: ends a writer that is frozen inside a pipeline, which counts as active."""
UNLIMITED = "-c lock_timeout=0 -c idle_in_transaction_session_timeout=0 -c statement_timeout=0"
"""Undoes the limits of Django's connections: an index may take long to build."""
DJANGOS = ("context", "cursor_factory", "prepare_threshold")
"""What Django's connections have besides an address, user, certificates and server settings."""
SETUP_LOCK = 7_164_202_611
"""Key of the advisory lock that serialises set-up."""
SAVED_AT = "signalbox_at"
VERSION = len(PostgresSaver.MIGRATIONS) - 1
INDEXES = (
    "checkpoints_thread_id_idx",
    "checkpoint_blobs_thread_id_idx",
    "checkpoint_writes_thread_id_idx",
)


def dsn() -> dict[str, Any]:
    """How to connect to Django's database directly, with what its address sets, but no limits."""
    params = connection.get_connection_params()
    params["options"] = f"{params.get('options', '')} {UNLIMITED}".strip()
    return {key: value for key, value in params.items() if value and key not in DJANGOS}


def setup() -> None:
    """Create or upgrade the checkpoint tables. Waits for anybody who does the same."""
    with psycopg.connect(**dsn(), autocommit=True, row_factory=dict_row) as conn:
        _wait_for_set_up_lock(conn)
        try:
            if problem(conn):
                _drop_invalid_indexes(conn)
                PostgresSaver(conn).setup()
                _note_when_writes_are_saved(conn)
        finally:
            conn.execute("SELECT pg_advisory_unlock(%s)", (SETUP_LOCK,))


def _wait_for_set_up_lock(conn: psycopg.Connection[Any]) -> None:
    # Asked again and again: a statement that waits in the database has a snapshot, for which the
    # holder's CREATE INDEX CONCURRENTLY would wait in turn.
    while True:
        row = conn.execute("SELECT pg_try_advisory_lock(%s) AS mine", (SETUP_LOCK,)).fetchone()
        if row is not None and row["mine"]:
            return
        time.sleep(0.1)


def _note_when_writes_are_saved(conn: psycopg.Connection[Any]) -> None:
    """Rows of before stay without a time: a default at once would rewrite the whole table."""
    table = "ALTER TABLE checkpoint_writes"
    conn.execute(f"{table} ADD COLUMN IF NOT EXISTS {SAVED_AT} timestamptz")
    conn.execute(f"{table} ALTER COLUMN {SAVED_AT} SET DEFAULT clock_timestamp()")


def problem(conn: psycopg.Connection[Any] | None = None) -> str:
    """What is wrong with the checkpoint tables, or an empty string."""
    if conn is None:
        with psycopg.connect(**dsn(), autocommit=True, row_factory=dict_row) as own:
            return problem(own)
    known = conn.execute("SELECT to_regclass('checkpoint_migrations') AS found").fetchone()
    if known is None or known["found"] is None:
        return "the checkpoint tables do not exist"
    row = conn.execute("SELECT max(v) AS v FROM checkpoint_migrations").fetchone()
    version = -1 if row is None or row["v"] is None else row["v"]
    if version != VERSION:
        return f"the checkpoint tables have version {version}, this LangGraph needs {VERSION}"
    if not _says_when_writes_were_saved(conn):
        return f"checkpoint_writes has no column {SAVED_AT}"
    invalid = _invalid_indexes(conn)
    return f"invalid index: {', '.join(invalid)}" if invalid else ""


def _says_when_writes_were_saved(conn: psycopg.Connection[Any]) -> bool:
    found = conn.execute(
        "SELECT FROM pg_attrdef d"
        " JOIN pg_attribute a ON (a.attrelid, a.attnum) = (d.adrelid, d.adnum)"
        " WHERE d.adrelid = to_regclass('checkpoint_writes') AND a.attname = %s",
        (SAVED_AT,),
    )
    return found.fetchone() is not None


def require_ready() -> None:
    """Raise SaverNotReady unless a driver's connection would be autocommit and limited in time, and
    the tables are there at the version that this LangGraph needs."""
    with psycopg.connect(**_kwargs()) as conn:
        if not conn.autocommit:
            raise errors.SaverNotReady("A saver on a connection without autocommit saves nothing.")
        for name in ("lock_timeout", "idle_in_transaction_session_timeout"):
            shown = conn.execute(f"SHOW {name}").fetchone()
            if shown is None or shown[name] == "0":
                raise errors.SaverNotReady(f"The saver's connections set no {name}.")
        if what := problem(conn):
            raise errors.SaverNotReady(f"{what[0].upper()}{what[1:]}. Run `manage.py migrate`.")


def _invalid_indexes(conn: psycopg.Connection[Any]) -> list[str]:
    """Indexes that an interrupted set-up left behind; CREATE ... IF NOT EXISTS would skip them."""
    rows = conn.execute(
        "SELECT c.relname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " WHERE NOT i.indisvalid AND c.relname = ANY(%s)",
        (list(INDEXES),),
    )
    return [row["name"] for row in rows]


def _drop_invalid_indexes(conn: psycopg.Connection[Any]) -> None:
    for name in _invalid_indexes(conn):
        conn.execute(psycopg.sql.SQL("DROP INDEX {}").format(psycopg.sql.Identifier(name)))
        conn.execute(
            "DELETE FROM checkpoint_migrations WHERE v >= %s",
            (next(v for v, m in enumerate(PostgresSaver.MIGRATIONS) if name in m),),
        )


def _configure(conn: psycopg.Connection[Any]) -> None:
    if conn.info.server_version >= 170000:
        conn.execute(f"SET transaction_timeout = '{TRANSACTION_TIMEOUT}'")


async def _configure_async(conn: psycopg.AsyncConnection[Any]) -> None:
    if conn.info.server_version >= 170000:
        await conn.execute(f"SET transaction_timeout = '{TRANSACTION_TIMEOUT}'")


@dataclass(slots=True)
class _Process:
    """What one process owns; never shared with its forked children."""

    pid: int = 0
    pool: ConnectionPool[Any] | None = None
    loop: asyncio.AbstractEventLoop | None = None
    thread: threading.Thread | None = None
    async_pool: AsyncConnectionPool[Any] | None = None


_process = _Process()
_guard = threading.Lock()


def _kwargs() -> dict[str, Any]:
    direct = dsn()
    return {
        **direct,
        "autocommit": True,
        "prepare_threshold": None,
        "row_factory": dict_row,
        "options": f"{direct['options']} {TIMEOUTS}",
        "application_name": "signalbox-saver",
    }


def _mine() -> _Process:
    global _process
    if _process.pid != os.getpid():
        _process = _Process(pid=os.getpid())
    return _process


def pool() -> ConnectionPool[Any]:
    """This process's pool for savers; opened at first use, after any fork."""
    with _guard:
        mine = _mine()
        if mine.pool is None:
            mine.pool = ConnectionPool(
                kwargs=_kwargs(),
                min_size=1,
                max_size=8,
                open=True,
                name="saver",
                configure=_configure,
                check=ConnectionPool.check_connection,
            )
        return mine.pool


def loop() -> asyncio.AbstractEventLoop:
    """This process's event loop for async graphs; it runs in a thread of its own."""
    with _guard:
        mine = _mine()
        if mine.loop is None:
            mine.loop = asyncio.new_event_loop()
            mine.thread = threading.Thread(
                target=mine.loop.run_forever, name="graph-loop", daemon=True
            )
            mine.thread.start()
        return mine.loop


async def async_pool() -> AsyncConnectionPool[Any]:
    """The pool of `loop()`; call it there."""
    mine = _mine()
    if mine.async_pool is None:
        made = AsyncConnectionPool(
            kwargs=_kwargs(),
            min_size=1,
            max_size=8,
            open=False,
            name="saver-async",
            configure=_configure_async,
            check=AsyncConnectionPool.check_connection,
        )
        mine.async_pool = made
        await made.open()
    return mine.async_pool


def close() -> None:
    """Close the pools of this process, for tests and orderly exits."""
    global _process
    with _guard:
        mine, _process = _mine(), _Process()
    if mine.pool is not None:
        mine.pool.close()
    if mine.loop is not None and mine.thread is not None:
        if mine.async_pool is not None:
            asyncio.run_coroutine_threadsafe(mine.async_pool.close(), mine.loop).result(10)
        mine.loop.call_soon_threadsafe(mine.loop.stop)
        mine.thread.join(10)
        mine.loop.close()
