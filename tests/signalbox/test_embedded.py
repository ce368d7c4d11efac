"""The embedded services: who starts them, who stops them, and what survives a kill."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import redis

from signalbox.embedded import errors, identity, places, postgres, services, valkey

USER = """
import sys
from pathlib import Path
from signalbox.embedded import services
services.use(Path(sys.argv[1]), database=True, broker=True)
print("ready", flush=True)
sys.stdin.read()
"""
"""A process that uses the services of its argument until its standard input closes."""

FORKER = """
import os, sys
from pathlib import Path
from signalbox.embedded import services
services.use(Path(sys.argv[1]), database=True, broker=True)
if os.fork() == 0:
    sys.stdin.read()
    os._exit(0)
"""
"""A process that leaves a forked child behind, which lives until its standard input closes."""

Process = subprocess.Popen[str]
Start = Callable[..., Process]


@pytest.fixture
def state() -> Iterator[Path]:
    """An empty state folder; its services are stopped afterwards."""
    with _empty_state() as folder:
        yield folder


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a process on a state folder; all are ended afterwards."""
    with contextlib.ExitStack() as processes:

        def begin(state: Path, code: str = USER) -> Process:
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-c", code, str(state)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            processes.enter_context(process)
            processes.callback(process.kill)
            return process

        yield begin


@contextlib.contextmanager
def _empty_state(under: str = "") -> Iterator[Path]:
    # Not tmp_path: as root, the server's user may not enter it.
    top = Path(tempfile.mkdtemp(prefix="signalbox-test-"))
    top.chmod(0o755)
    folder = top / under / "state"
    try:
        yield folder
    finally:
        services.remove(folder)
        shutil.rmtree(top)


def _ready(process: Process) -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == "ready\n"


def _leave(process: Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=60) == 0


def _query(state: Path, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(places.database_url(state), autocommit=True) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


def _server_pid(state: Path) -> int:
    lock = places.postgres(state) / "data" / "postmaster.pid"
    return int(lock.read_text().split("\n", 1)[0])


def _gone(state: Path) -> bool:
    return not postgres.ready(state) and not valkey.ready(state)


def test_of_four_that_start_at_once_on_an_empty_folder_one_starts_and_all_are_served(state, start):
    four = [start(state) for _ in range(4)]

    assert all(_ready(process) for process in four)
    log = (places.postgres(state) / "server.log").read_text()
    assert log.count("starting PostgreSQL") == 1
    assert places.broker_log(state).read_text().count("Ready to accept connections") == 1


def test_only_the_last_one_to_leave_stops_the_services(state, start):
    first, last = start(state), start(state)
    assert _ready(first)
    assert _ready(last)

    _leave(first)
    assert postgres.ready(state)
    assert valkey.ready(state)
    _leave(last)
    assert _gone(state)


def test_the_services_outlive_the_kill_of_whoever_started_them(state, start):
    starter = start(state)
    assert _ready(starter)
    other = start(state)
    assert _ready(other)

    starter.kill()
    starter.wait()

    assert _query(state, "SELECT 1") == [(1,)]
    _leave(other)
    assert _gone(state)


def test_after_the_kill_of_all_users_the_next_one_to_leave_stops_the_services(state, start):
    killed = start(state)
    assert _ready(killed)
    killed.kill()
    killed.wait()
    assert postgres.ready(state)

    following = start(state)
    assert _ready(following)
    _leave(following)

    assert _gone(state)


def test_a_killed_database_server_comes_back_with_what_was_committed(state):
    services.use(state, database=True, broker=False)
    _query(state, "CREATE TABLE kept AS SELECT 42 AS answer")
    before = _server_pid(state)
    os.kill(before, signal.SIGKILL)

    services.use(state, database=True, broker=False)

    assert _query(state, "SELECT answer FROM kept") == [(42,)]
    assert _server_pid(state) != before


def test_a_killed_broker_comes_back(state):
    services.use(state, database=False, broker=True)
    pid = _broker_pid(state)
    os.kill(pid, signal.SIGKILL)
    _wait_until(lambda: not valkey.ready(state))

    services.use(state, database=False, broker=True)

    assert _broker_pid(state) != pid


def test_a_lock_file_that_names_another_living_program_does_not_prevent_a_start(state, start):
    services.use(state, database=True, broker=False)
    lock = places.postgres(state) / "data" / "postmaster.pid"
    owner = lock.stat()
    as_was = lock.read_text()
    services.leave(state)
    uid = None if owner.st_uid == os.geteuid() else owner.st_uid
    with subprocess.Popen(["sleep", "60"], user=uid) as stranger:  # noqa: S607
        lock.write_text(as_was.replace(as_was.split("\n", 1)[0], str(stranger.pid), 1))
        os.chown(lock, owner.st_uid, owner.st_gid)
        lock.chmod(0o600)
        try:
            services.use(state, database=True, broker=False)
        finally:
            stranger.kill()

    assert _query(state, "SELECT 1") == [(1,)]


def test_a_cluster_that_was_being_made_when_its_maker_was_killed_is_made_anew(state):
    half_made = places.postgres(state) / "data.new"
    half_made.mkdir(parents=True)
    half_made.parent.chmod(0o700)
    (half_made / "PG_VERSION").write_text("18\n")

    services.use(state, database=True, broker=False)

    assert _query(state, "SHOW server_encoding") == [("UTF8",)]
    assert not half_made.exists()


def test_a_forked_child_keeps_the_services_after_its_parent_has_left(state, start):
    parent = start(state, FORKER)
    assert parent.wait(timeout=60) == 0

    assert postgres.ready(state)
    with pytest.raises(errors.StillInUse):
        services.remove(state)
    parent.stdin.close()
    _wait_until(lambda: _removed(state))


def _removed(state: Path) -> bool:
    with contextlib.suppress(errors.StillInUse):
        services.remove(state)
    return not state.exists()


def test_services_are_removed_only_when_nobody_uses_them(state, start):
    other = start(state)
    assert _ready(other)
    with pytest.raises(errors.StillInUse):
        services.remove(state)
    assert postgres.ready(state)

    _leave(other)
    services.remove(state)
    assert not state.exists()


def test_a_state_folder_with_a_very_long_path_works():
    with _empty_state("folder/" * 20) as state:
        services.use(state, database=True, broker=True)
        sockets = places.sockets(state)

        assert _query(state, "SELECT 1") == [(1,)]
        assert valkey.ready(state)
        assert not sockets.is_relative_to(state)
        assert sockets.stat().st_mode & 0o077 == 0
        services.remove(state)
        assert not sockets.exists()


def test_a_socket_folder_that_others_may_enter_is_refused():
    with _empty_state("folder/" * 20) as state:
        state.mkdir(parents=True)
        sockets = places.sockets(state)
        sockets.mkdir(mode=0o777)
        sockets.chmod(0o777)
        try:
            with pytest.raises(errors.NotOurs):
                services.use(state, database=True, broker=False)
            with pytest.raises(errors.NotOurs):
                services.use(state, database=False, broker=True)
        finally:
            sockets.rmdir()


def test_two_state_folders_have_nothing_in_common():
    with services.scratch() as one, services.scratch() as other:
        _query(one, "CREATE TABLE here ()")

        assert _query(other, "SELECT to_regclass('here')") == [(None,)]
        assert _broker_pid(one) != _broker_pid(other)
    assert not one.exists()
    assert not other.exists()


def test_the_database_is_durable_and_speaks_utc_and_utf8(state):
    services.use(state, database=True, broker=False)

    for name, value in {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "listen_addresses": "",
        "TimeZone": "UTC",
    }.items():
        assert _query(state, f"SHOW {name}") == [(value,)], name
    assert _query(
        state,
        "SELECT datcollate, pg_encoding_to_char(encoding) FROM pg_database"
        " WHERE datname = 'signalbox'",
    ) == [("C", "UTF8")]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes somebody else")
def test_as_root_a_folder_that_no_other_user_may_enter_works():
    if not shutil.which("unshare"):
        pytest.skip("this machine has no unshare")
    with _empty_state("closed") as state:
        state.parent.mkdir(mode=0o700)

        services.use(state, database=True, broker=True)

        data = places.postgres(state) / "data"
        assert data.stat().st_uid == 0
        assert _query(state, "SELECT 1") == [(1,)]
        assert state.parent.stat().st_mode & 0o077 == 0


def test_programs_that_are_missing_are_named_with_what_to_do(state, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)

    with pytest.raises(errors.ProgramsMissing, match="make setup"):
        services.use(state, database=True, broker=False)


def test_a_program_that_hangs_is_ended():
    said = identity.run(identity.Identity(), "sleep", "60", timeout=0.1)

    assert said.status == 124


def _broker_pid(state: Path) -> int:
    with redis.Redis(unix_socket_path=str(places.sockets(state) / "broker.sock")) as client:
        return int(client.info("server")["process_id"])


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
