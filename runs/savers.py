"""Checkpoint savers whose writes the database refuses once the lease was taken over.

The fence is checked by one SQL function, sent as the first statement of the libpq pipeline that
carries the writes. On an autocommit connection everything between two syncs is one implicit
transaction: the check costs no round trip, its row lock lasts until the writes commit, and an error
undoes the whole put, also one of Python's own before everything was sent.

1. The check locks the lease row. A plain read would let a former driver commit a checkpoint after
   the new one has read the head. A checkpoint notes its progress there; writes of a task do not.
2. One saver per drive, bound to one lease. Not a context variable: writes of parallel nodes are
   committed from callbacks, where it is empty.
3. LeaseLost is an ordinary exception: LangGraph drops a GraphBubbleUp that comes from a saver. A
   node's own error can hide it, so the driver looks under the fence after every exit.
4. A write set that carries an error loses its output: otherwise a node whose conditional edge
   raised reads as finished, and the graph ends without ever taking the edge.
5. What the database refuses to store is told as such: LangGraph keeps top-level text and numbers of
   the state in JSON, which knows no NUL, no half of a surrogate pair and no NaN.
6. `prune` and `delete_thread` are not for drivers and are refused here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import psycopg
from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncCursor, Cursor

from runs import errors, killpoints
from runs.authority import Lease

TAKEN_OVER = "SB001"
"""SQLSTATE raised by runs_check_fence: see the migration that makes it."""
CHECK = "SELECT runs_check_fence(%s, %s, %s)"
UNDO = "ROLLBACK"
"""Leaving a pipeline commits what was sent so far: the check, and the progress that it notes."""
ERROR, ERROR_SOURCE = "__error__", "__error_source_node__"

Writes = Sequence[tuple[str, Any]]

_checkpoint: ContextVar[bool] = ContextVar("signalbox_checkpoint", default=False)


@contextmanager
def _saving_a_checkpoint() -> Iterator[None]:
    token = _checkpoint.set(True)
    try:
        yield
    finally:
        _checkpoint.reset(token)


class Reader(PostgresSaver):
    """For reading one head: asks the database once per checkpoint, and writes nothing."""

    def __init__(self, conn: Any) -> None:
        super().__init__(conn)
        self._read: dict[tuple[str, str], CheckpointTuple] = {}

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        conf = config["configurable"]
        address = (conf.get("checkpoint_ns", ""), conf.get("checkpoint_id") or "")
        if address in self._read:
            return self._read[address]
        found = super().get_tuple(config)
        if found is not None:
            at = found.config["configurable"]
            self._read[address] = self._read[at["checkpoint_ns"], at["checkpoint_id"]] = found
        return found

    def put(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("a reader saves nothing")

    def put_writes(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("a reader saves nothing")


class FencedSaver(PostgresSaver):
    """A PostgresSaver for one drive. Every write opens `_cursor(pipeline=True)`; reads do not."""

    def __init__(self, conn: Any, lease: Lease) -> None:
        super().__init__(conn)
        self.lease = lease

    @contextmanager
    def _cursor(self, *, pipeline: bool = False) -> Iterator[Cursor[Any]]:
        try:
            with super()._cursor(pipeline=pipeline) as cursor:
                if not pipeline:
                    yield cursor
                    return
                cursor.execute(CHECK, (self.lease.run_id, self.lease.fence, _checkpoint.get()))
                try:
                    killpoints.reach("saver.pipeline", self.lease.run_id)
                    yield cursor
                except BaseException:
                    with suppress(psycopg.Error):
                        cursor.execute(UNDO)
                    raise
        except psycopg.Error as exc:
            raise _translated(exc) from exc

    def put(self, *args: Any, **kwargs: Any) -> Any:
        killpoints.reach("saver.put", self.lease.run_id)
        with _saving_a_checkpoint():
            return super().put(*args, **kwargs)

    def put_writes(self, config: Any, writes: Writes, task_id: str, task_path: str = "") -> None:
        killpoints.reach("saver.put_writes", self.lease.run_id)
        super().put_writes(config, without_half_finished_output(writes), task_id, task_path)
        killpoints.reach("saver.wrote", self.lease.run_id)

    def delete_thread(self, thread_id: str) -> None:
        raise NotImplementedError("a driver deletes no checkpoints")

    def prune(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("a driver prunes no checkpoints")


class AsyncFencedSaver(AsyncPostgresSaver):
    """The same for graphs with async nodes."""

    def __init__(self, conn: Any, lease: Lease) -> None:
        super().__init__(conn)
        self.lease = lease

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[Any]]:
        try:
            async with super()._cursor(pipeline=pipeline) as cursor:
                if not pipeline:
                    yield cursor
                    return
                mine = (self.lease.run_id, self.lease.fence, _checkpoint.get())
                await cursor.execute(CHECK, mine)
                try:
                    killpoints.reach("saver.pipeline", self.lease.run_id)
                    yield cursor
                except BaseException:
                    with suppress(psycopg.Error):
                        await cursor.execute(UNDO)
                    raise
        except psycopg.Error as exc:
            raise _translated(exc) from exc

    async def aput(self, *args: Any, **kwargs: Any) -> Any:
        killpoints.reach("saver.put", self.lease.run_id)
        with _saving_a_checkpoint():
            return await super().aput(*args, **kwargs)

    async def aput_writes(
        self, config: Any, writes: Writes, task_id: str, task_path: str = ""
    ) -> None:
        killpoints.reach("saver.put_writes", self.lease.run_id)
        await super().aput_writes(config, without_half_finished_output(writes), task_id, task_path)
        killpoints.reach("saver.wrote", self.lease.run_id)

    async def adelete_thread(self, thread_id: str) -> None:
        raise NotImplementedError("a driver deletes no checkpoints")

    async def aprune(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("a driver prunes no checkpoints")


def without_half_finished_output(writes: Writes) -> Writes:
    """Drop what a failed task had already written, so that it counts as unfinished and runs again.

    Tasks whose error goes to an error handler of the graph are left alone.
    """
    channels = {channel for channel, _ in writes}
    if ERROR not in channels or ERROR_SOURCE in channels:
        return writes
    return [write for write in writes if write[0] in WRITES_IDX_MAP]


def _translated(exc: psycopg.Error) -> Exception:
    if exc.sqlstate == TAKEN_OVER:
        return errors.LeaseLost()
    if isinstance(exc, psycopg.DataError):
        return errors.StateNotStorable(str(exc).partition("\nCONTEXT")[0])
    return exc
