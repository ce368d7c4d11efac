"""Worker processes that a test can freeze, continue and kill, from a warm fork server."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

from tests.support import child, graphs

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.support.child", "tests.ledger.table.scenes"])
"""The second takes a second to import, and some hundred children need it."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A child process and the pipe through which it tells what it does."""

    process: ForkServerProcess
    pipe: Connection

    @property
    def pid(self) -> int:
        assert self.process.pid is not None
        return self.process.pid

    def hears(self, within: float = 20) -> tuple[str, Any]:
        """What the child says next: ("reached", place), ("done", result) or ("raised", text)."""
        assert self.pipe.poll(within), "the child says nothing"
        said: tuple[str, Any] = self.pipe.recv()
        return said

    def frozen(self, within: float = 20) -> str:
        """Wait until it has stopped itself, and return where."""
        kind, place = self.hears(within)
        assert kind == "reached", (kind, place)
        until(lambda: _state(self.pid) == "T")
        return str(place)

    def send(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def result(self, within: float = 20) -> Any:
        kind, value = self.hears(within)
        assert kind == "done", (kind, value)
        self.process.join(within)
        return value


@contextlib.contextmanager
def worker(task: child.Task, *args: Any, **settings: Any) -> Iterator[Worker]:
    """A child that runs `task(pipe, *args)`; killed at the end if it still lives."""
    ours, theirs = CONTEXT.Pipe()
    given = child.defaults(graphs.RECORD) | settings
    process = CONTEXT.Process(target=child.main, args=(task, args, given, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield Worker(process, ours)
    finally:
        process.kill()
        process.join(10)
        process.close()
        ours.close()


def until(condition: Callable[[], object], within: float = 20) -> None:
    """Wait for a condition, looking every few milliseconds."""
    end = time.monotonic() + within
    while not condition():
        assert time.monotonic() < end, "it never became true"
        time.sleep(0.005)


def _state(pid: int) -> str:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]
