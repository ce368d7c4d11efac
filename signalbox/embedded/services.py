"""The embedded services of a state folder, shared by all processes that use it.

1. Whoever uses the services holds a shared lock for the life of its process; the kernel takes it
   away from a killed one. A forked child shares its parent's lock until both are gone.
2. Starting and stopping happen under one exclusive lock, so of many at once one starts.
3. The last one to leave stops the services. After a `kill -9` of the last one they stay, until the
   next one leaves.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from signalbox.embedded import errors, places, postgres, valkey

WAIT_SECONDS = 120.0

_held: dict[Path, int] = {}
"""State folder to the descriptor that holds this process's share of its lock."""


def use(state: Path, *, database: bool | None = None, broker: bool | None = None) -> None:
    """Have the embedded services running for as long as this process lives.

    Without arguments: those that DATABASE_URL and BROKER_URL do not name elsewhere. May be called
    again; a service that died meanwhile is then started again. Raises an EmbeddedError.
    """
    database = not os.environ.get("DATABASE_URL") if database is None else database
    broker = not os.environ.get("BROKER_URL") if broker is None else broker
    if not (database or broker):
        return
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = state.resolve()
        with _alone(state):
            _share(state)
            if database:
                postgres.ensure(state)
            if broker:
                valkey.ensure(state)
    except OSError as error:
        raise errors.EmbeddedError(
            f"The embedded services in {state} cannot be used: {error}. Set SIGNALBOX_STATE to a "
            "folder of your own, or DATABASE_URL and BROKER_URL to services of your own."
        ) from error


def leave(state: Path) -> None:
    """Give up this process's use; the last one stops the services. Does nothing if not in use."""
    state = state.resolve()
    share = _held.pop(state, None)
    if share is None:
        return
    with contextlib.suppress(OSError, errors.EmbeddedError), _alone(state):
        # Closed, not unlocked: a forked child that lives on keeps the lock through its own copy.
        os.close(share)
        if not _in_use(state):
            _stop(state)


def remove(state: Path) -> None:
    """Stop the services and remove the state folder. Raises StillInUse if another one uses them."""
    if not state.exists():
        return
    state = state.resolve()
    with _alone(state):
        share = _held.pop(state, None)
        if share is not None:
            os.close(share)
        if _in_use(state):
            raise errors.StillInUse
        _throw_away(state)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A state folder with both services, for one test or drill; stopped and removed at the end.

    Children are sent to it by `places.environment(state)`.
    """
    state = Path(tempfile.mkdtemp(prefix="signalbox-scratch-")).resolve()
    try:
        use(state, database=True, broker=True)
        yield state
    finally:
        with contextlib.suppress(KeyError):
            os.close(_held.pop(state))
        _throw_away(state)  # whoever still uses it


def _stop(state: Path) -> None:
    valkey.stop(state)
    postgres.stop(state)


def _throw_away(state: Path) -> None:
    _stop(state)
    shutil.rmtree(places.sockets(state), ignore_errors=True)  # may lie elsewhere
    shutil.rmtree(state)


@atexit.register
def _leave_all() -> None:
    for state in list(_held):
        leave(state)


def _share(state: Path) -> None:
    if state not in _held:
        share = _open(state / "users.lock")
        fcntl.flock(share, fcntl.LOCK_SH)
        _held[state] = share


def _in_use(state: Path) -> bool:
    probe = _open(state / "users.lock")
    try:
        return not _try_alone(probe)
    finally:
        os.close(probe)


@contextlib.contextmanager
def _alone(state: Path) -> Iterator[None]:
    """Be the only one that starts or stops these services. Raises StartTakesLong."""
    lock = _open(state / "starting.lock")
    try:
        deadline = time.monotonic() + WAIT_SECONDS
        while not _try_alone(lock):
            if time.monotonic() > deadline:
                raise errors.StartTakesLong
            time.sleep(0.02)
        yield
    finally:
        os.close(lock)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _try_alone(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
