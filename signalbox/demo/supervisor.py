"""Runs the processes of the demo: starts them, starts them again when they die, stops them.

1. A child that dies is started again, at once the first time, later and later if it keeps dying.
2. Stopping goes in order, the last stage first: workers drain while what they need still answers.
   A child that outstays its grace is killed, with its children.
3. A child never outlives the supervisor, not even one that was killed (on Linux).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

POLL_SECONDS = 0.3
STEADY_SECONDS = 10.0
"""A child that lived this long has started well; its next death counts as the first."""
LONGEST_DELAY = 30.0
LOG_LIMIT = 10 * 1024 * 1024
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """One process: what to run, in which stage (0 starts first and stops last)."""

    name: str
    command: tuple[str, ...]
    stage: int
    grace: float = 10.0
    """Seconds to stop in order after SIGTERM."""


@dataclass(slots=True)
class _Running:
    child: Child
    process: subprocess.Popen[bytes]
    started: float
    quick_deaths: int = 0
    start_again_at: float | None = None


@dataclass(slots=True)
class Supervisor:
    """Children by name. `say` gets one line for everything a person should know."""

    children: Sequence[Child]
    environment: Mapping[str, str]
    folder: Path
    logs: Path
    say: Callable[[str], None]
    _running: dict[str, _Running] = field(default_factory=dict)
    _left_behind: list[int] = field(default_factory=list)
    """Process groups whose leader died: pool children of a killed worker may live on."""

    def log(self, name: str) -> Path:
        return self.logs / f"{name}.log"

    def pids(self) -> dict[str, int]:
        return {name: running.process.pid for name, running in self._running.items()}

    def start(self) -> None:
        """Start all children, stage by stage."""
        self.logs.mkdir(mode=0o700, exist_ok=True)
        for child in sorted(self.children, key=lambda child: child.stage):
            log = self.log(child.name)
            if log.exists() and log.stat().st_size > LOG_LIMIT:
                log.replace(log.with_suffix(".log.old"))
            self._running[child.name] = _Running(child, self._spawn(child), time.monotonic())

    def watch(self, stop: Event, *, each: Callable[[], None]) -> None:
        """Keep the children alive until `stop` is set; call `each` in every round."""
        while not stop.wait(POLL_SECONDS):
            for running in self._running.values():
                self._look_after(running)
            each()

    def stop(self, hurry: Event) -> None:
        """Stop all children, the last stage first; `hurry` ends every grace at once."""
        for stage in sorted({child.stage for child in self.children}, reverse=True):
            group = [one for one in self._running.values() if one.child.stage == stage]
            for running in group:
                with contextlib.suppress(ProcessLookupError):
                    running.process.terminate()
            self._wait(group, hurry)
        for leader in self._left_behind:
            _kill_group(leader)

    def _wait(self, group: Sequence[_Running], hurry: Event) -> None:
        began = time.monotonic()
        for running in group:
            while running.process.poll() is None:
                if hurry.is_set() or time.monotonic() - began > running.child.grace:
                    self.say(f"{running.child.name} did not stop in time and was killed.")
                    break
                time.sleep(0.05)
            _kill_group(running.process.pid)
            running.process.wait()

    def _look_after(self, running: _Running) -> None:
        now = time.monotonic()
        if running.process.poll() is None:
            return
        if running.start_again_at is None:
            steady = now - running.started >= STEADY_SECONDS
            running.quick_deaths = 0 if steady else running.quick_deaths + 1
            delay = min(2.0**running.quick_deaths - 1, LONGEST_DELAY)
            running.start_again_at = now + delay
            self._left_behind.append(running.process.pid)
            wait = f"; next try in {delay:.0f} s, see {self.log(running.child.name)}"
            self.say(
                f"{running.child.name} (pid {running.process.pid}) {_how(running.process)}"
                + (wait if delay else "")
            )
        if now >= running.start_again_at:
            running.process = self._spawn(running.child)
            running.started, running.start_again_at = now, None
            self.say(f"{running.child.name} was started again (pid {running.process.pid})")

    def _spawn(self, child: Child) -> subprocess.Popen[bytes]:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        log = os.open(self.log(child.name), flags, 0o600)
        try:
            return subprocess.Popen(  # noqa: S603  (our own commands)
                child.command,
                env=self.environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches the supervisor alone, which keeps order
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
            )
        finally:
            os.close(log)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _kill_group(leader: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _how(process: subprocess.Popen[bytes]) -> str:
    code = process.returncode
    return (
        f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
    )
