"""A checkpoint is written by whoever holds the lease, and by nobody else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import langgraph.checkpoint.postgres.aio
import psycopg
import pytest
from langgraph.checkpoint.base import CheckpointTuple, empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver

from runs import checkpoints, errors, killpoints, savers, status
from runs.authority import Lease
from runs.models import Run
from tests.runs.conftest import attempts, checkpoints_of, expire, finish, lease_of
from tests.runs.test_leases import blockers, in_threads, take, try_to_take
from tests.support import child, graphs
from tests.support.processes import until


class Saver:
    """The sync or the async saver behind one face."""

    def __init__(self, kind: str, lease: Lease) -> None:
        self.kind = kind
        self.lease = lease

    def put(self, run: Run) -> None:
        config: Any = {"configurable": {"thread_id": str(run.pk), "checkpoint_ns": ""}}
        self._do(
            lambda s: s.put(config, empty_checkpoint(), {}, {}),
            lambda s: s.aput(config, empty_checkpoint(), {}, {}),
        )

    def put_writes(self, run: Run) -> None:
        (saved, *_) = checkpoints_of(run) or ["none"]
        config: Any = {
            "configurable": {
                "thread_id": str(run.pk),
                "checkpoint_ns": "",
                "checkpoint_id": saved,
            }
        }
        self._do(
            lambda s: s.put_writes(config, [("log", ["x"])], "task"),
            lambda s: s.aput_writes(config, [("log", ["x"])], "task"),
        )

    def _do(
        self,
        work: Callable[[savers.FencedSaver], object],
        awork: Callable[[savers.AsyncFencedSaver], Awaitable[object]],
    ) -> None:
        if self.kind == "sync":
            work(savers.FencedSaver(checkpoints.pool(), self.lease))
            return

        async def go() -> None:
            saver = savers.AsyncFencedSaver(await checkpoints.async_pool(), self.lease)
            await awork(saver)

        asyncio.run_coroutine_threadsafe(go(), checkpoints.loop()).result(10)


@pytest.fixture(params=["sync", "async"])
def kind(request) -> str:
    return str(request.param)


def rows(run: Run) -> int:
    """Checkpoints and writes of the run."""
    saver = savers.Reader(checkpoints.pool())
    config: Any = {"configurable": {"thread_id": str(run.pk), "checkpoint_ns": ""}}
    found: list[CheckpointTuple] = list(saver.list(config))
    return len(found) + sum(len(each.pending_writes or ()) for each in found)


# --- refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", ["put", "put_writes"])
def test_a_write_is_refused_once_the_lease_was_taken_over(start, kind, write) -> None:
    run = start("line")
    old = Saver(kind, take(run).lease)
    old.put(run)
    expire(run)
    new = Saver(kind, take(run, "w2").lease)
    before = rows(run)
    with pytest.raises(errors.LeaseLost):
        getattr(old, write)(run)
    assert rows(run) == before
    getattr(new, write)(run)
    assert rows(run) == before + 1


def test_a_write_for_another_run_is_refused(start, kind) -> None:
    run, other = start("line"), start("line")
    mine, _ = take(run).lease, take(other)
    strange = Saver(kind, replace(mine, run_id=other.pk, fence=7))
    with pytest.raises(errors.LeaseLost):
        strange.put(other)


def test_connections_of_the_pool_are_good_after_errors(start, kind) -> None:
    run = start("line")
    old = Saver(kind, take(run).lease)
    expire(run)
    new = Saver(kind, take(run, "w2").lease)
    for _ in range(12):
        with pytest.raises(errors.LeaseLost):
            old.put(run)
    for _ in range(12):
        new.put(run)
    assert len(checkpoints_of(run)) == 12
    assert blockers() == 0


@pytest.mark.parametrize("write", ["put", "put_writes"])
@pytest.mark.race
def test_a_write_under_way_makes_the_taker_wait_so_it_cannot_come_after_its_look(
    start, kind, write
) -> None:
    """The zombie holds the check's lock until its write is committed; the taker sees it all."""
    run = start("line")
    lease = take(run).lease
    zombie = Saver(kind, lease)
    zombie.put(run)
    expire(run)
    before = rows(run)
    checked, go_on = threading.Event(), threading.Event()

    def hold(place: str, _: str) -> None:
        if place == "saver.pipeline" and not checked.is_set():
            child.send_what_is_queued()
            checked.set()
            go_on.wait(10)

    killpoints.install(hold)
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(in_threads, 1, lambda _: getattr(zombie, write)(run))
        assert checked.wait(10)
        until(lambda: blockers() == 1)
        taking = pool.submit(in_threads, 1, lambda _: try_to_take(run, "w2"))
        until(lambda: blockers(waiting=True))
        assert not taking.done()
        go_on.set()
        writing.result(10)
        (taken,) = taking.result(10)
    assert taken is not None
    assert (rows(run), lease_of(run).fence) == (before + 1, 2)
    with pytest.raises(errors.LeaseLost):
        zombie.put(run)


# --- progress -------------------------------------------------------------------------------------


def test_a_checkpoint_is_progress_and_writes_of_a_task_are_not(start, kind) -> None:
    run = start("line")
    mine = Saver(kind, take(run).lease)
    mine.put_writes(run)
    assert lease_of(run).progress_at is None
    mine.put(run)
    first = lease_of(run).progress_at
    assert first is not None
    mine.put_writes(run)
    assert lease_of(run).progress_at == first
    mine.put(run)
    second = lease_of(run).progress_at
    assert second is not None
    assert second > first


class NoRoom(Exception):
    """Python could not go on in the middle of a put; it may be able to later."""

    transient = True


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Puts fail after the fence check and before the checkpoint; the returned function ends it."""

    def fail(_: object) -> None:
        raise NoRoom

    for module in (langgraph.checkpoint.postgres, langgraph.checkpoint.postgres.aio):
        monkeypatch.setattr(module, "Jsonb", fail)
    return monkeypatch.undo


def test_a_put_that_fails_in_python_is_undone_with_its_progress(start, kind, no_room) -> None:
    run = start("line")
    mine = Saver(kind, take(run).lease)
    with pytest.raises(NoRoom):
        mine.put(run)
    assert lease_of(run).progress_at is None
    no_room()
    mine.put(run)
    assert lease_of(run).progress_at is not None
    assert len(checkpoints_of(run)) == 1


@pytest.mark.parametrize("name", ["line", "async_line"])
def test_a_run_whose_first_put_failed_in_python_starts_from_its_input_and_lost_nothing(
    start, drive, no_room, name
) -> None:
    run = start(name)
    drive(run)
    assert attempts(run) == [("raised", "NoRoom")]
    no_room()
    assert finish(run, drive, gate="yes").status == status.Status.SUCCEEDED


# --- what is written ------------------------------------------------------------------------------


def test_the_output_of_a_task_that_failed_is_dropped() -> None:
    output = [("log", ["x"]), ("branch:to:next", None)]
    failed = [*output, ("__error__", "boom")]
    assert savers.without_half_finished_output(output) == output
    assert savers.without_half_finished_output(failed) == [("__error__", "boom")]
    handled = [*failed, ("__error_source_node__", "node")]
    assert savers.without_half_finished_output(handled) == handled


def test_resumes_and_interrupts_of_a_task_that_failed_are_kept() -> None:
    writes = [("__resume__", ["yes"]), ("__interrupt__", []), ("log", []), ("__error__", "boom")]
    kept = [channel for channel, _ in savers.without_half_finished_output(writes)]
    assert kept == ["__resume__", "__interrupt__", "__error__"]


@pytest.mark.parametrize(
    "value", ["a\x00b", "\ud800", float("nan")], ids=["NUL", "surrogate", "NaN"]
)
def test_what_the_database_cannot_store_is_told_as_such(start, value) -> None:
    run = start("line")
    saver = savers.FencedSaver(checkpoints.pool(), take(run).lease)
    checkpoint = empty_checkpoint() | {"channel_values": {"text": value}}
    config: Any = {"configurable": {"thread_id": str(run.pk), "checkpoint_ns": ""}}
    with pytest.raises(errors.StateNotStorable, match="Have the agent clean it"):
        saver.put(config, checkpoint, {}, {})
    assert checkpoints_of(run) == []


def test_drivers_delete_and_prune_nothing_and_readers_write_nothing(start) -> None:
    run = start("line")
    lease = take(run).lease
    saver, reader = (
        savers.FencedSaver(checkpoints.pool(), lease),
        savers.Reader(checkpoints.pool()),
    )
    forbidden: list[Callable[[], object]] = [
        lambda: saver.delete_thread(str(run.pk)),
        lambda: saver.prune([str(run.pk)]),
        lambda: reader.put({}, {}, {}, {}),
        lambda: reader.put_writes({}, [], ""),
    ]
    for call in forbidden:
        with pytest.raises(NotImplementedError):
            call()


def test_a_reader_asks_for_each_checkpoint_once(start, drive, monkeypatch) -> None:
    run = start("nested")
    drive(run)
    asked: list[Any] = []
    real = PostgresSaver.get_tuple

    def get_tuple(self: Any, config: Any) -> Any:
        asked.append((config["configurable"].get("checkpoint_ns", ""),))
        return real(self, config)

    monkeypatch.setattr(PostgresSaver, "get_tuple", get_tuple)
    graph = graphs.nested.copy(update={"checkpointer": savers.Reader(checkpoints.pool())})
    graph.get_state({"configurable": {"thread_id": str(run.pk)}}, subgraphs=True)
    assert len(asked) == len(set(asked)) == 2


def test_a_plain_saver_would_have_let_the_former_driver_write(start) -> None:
    """What the fence is for: without it, the same write goes through."""
    run = start("line")
    take(run)
    expire(run)
    take(run, "w2")
    config: Any = {"configurable": {"thread_id": str(run.pk), "checkpoint_ns": ""}}
    PostgresSaver(checkpoints.pool()).put(config, empty_checkpoint(), {}, {})
    assert len(checkpoints_of(run)) == 1


# --- connections ----------------------------------------------------------------------------------


def test_the_connections_of_drivers_are_as_they_must_be(database) -> None:
    with checkpoints.pool().connection() as conn:
        check(conn.autocommit, conn.prepare_threshold)
        for name, value in {
            "lock_timeout": "5s",
            "idle_in_transaction_session_timeout": "30s",
            "transaction_timeout": "30s",
        }.items():
            if name == "transaction_timeout" and conn.info.server_version < 170000:
                continue
            row = conn.execute(f"SHOW {name}").fetchone()
            assert row == {name: value}


def test_the_async_connections_of_drivers_are_as_they_must_be(database) -> None:
    async def go() -> tuple[bool, int | None]:
        pool = await checkpoints.async_pool()
        async with pool.connection() as conn:
            return conn.autocommit, conn.prepare_threshold

    check(*asyncio.run_coroutine_threadsafe(go(), checkpoints.loop()).result(10))


def check(autocommit: bool, prepare_threshold: int | None) -> None:
    assert autocommit is True, "a run would write nothing that others see"
    assert prepare_threshold is None, "prepared statements break behind a transaction pooler"


@pytest.mark.parametrize("name", ["line", "async_line"])
def test_a_run_survives_that_every_connection_is_ended_between_two_nodes(
    start, drive, name
) -> None:
    run = start(name)
    place = "second" if name == "line" else "gate.before"

    def end_all() -> None:
        with psycopg.connect(**checkpoints.dsn(), autocommit=True) as conn:
            conn.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                "   AND application_name = 'signalbox-saver'"
            )
        graphs.HOOKS.clear()

    graphs.HOOKS[place] = end_all
    before = checkpoints.pool()
    run = finish(run, drive, gate="yes")
    assert run.status == status.Status.SUCCEEDED
    assert sum(outcome == "raised" for outcome, _ in attempts(run)) <= 1
    assert checkpoints.pool() is before
