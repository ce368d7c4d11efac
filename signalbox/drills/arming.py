"""Arming: a file says what happens to a process that reaches a named point for a run.

    armed/<run>.<point>      one line for each time it is reached, the first line first:

    pass            nothing
    kill            SIGKILL this process
    kill after 0.2  SIGKILL this process after so many seconds, if it still drives the run then
    kill once P     SIGKILL this process once point P has been noted
    note            leave a mark
    stop            SIGSTOP this process
    hold            wait here, alive, until somebody removes the mark `held`
    raise           raise an error that may pass

Points are those of `runs.killpoints` and those of the drills' graphs (`node.…`).

1. A line is used up before it acts, so one line acts once, whatever the processes do.
2. What acted leaves its process id in `marks/<run>.<point>.<mark>`: killed, noted, stopped, held;
   and `over` once a process that was stopped has let go of the run, for whatever reason.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import signal
import threading
import time
from pathlib import Path
from uuid import UUID

from runs import killpoints
from runs.heartbeat import heart

LONGEST_HOLD = 90.0
"""Seconds after which a held process goes on by itself; the drill has failed by then."""

_folder: Path | None = None


# --- from outside: what the drill does ------------------------------------------------------------


def prepare(folder: Path) -> None:
    """Make the folder in which points are armed."""
    for name in ("armed", "marks", "words"):
        (folder / name).mkdir(parents=True)


def arm(folder: Path, run_id: UUID, point: str, *lines: str) -> None:
    """Have these things happen the next times that a process reaches `point` for the run."""
    _write(folder / "armed" / f"{run_id}.{point}", "\n".join(lines))


def armed(folder: Path, run_id: UUID) -> list[str]:
    """The points of the run that were not reached as often as they were armed for."""
    left = (folder / "armed").glob(f"{run_id}.*")
    return sorted(path.name.partition(".")[2] for path in left)


def mark(folder: Path, run_id: UUID, point: str, name: str) -> int | None:
    """The process that left this mark; None if there is none yet."""
    try:
        return int((folder / "marks" / f"{run_id}.{point}.{name}").read_text())
    except FileNotFoundError:
        return None


def let_go(folder: Path, run_id: UUID, point: str) -> None:
    """End a hold."""
    (folder / "marks" / f"{run_id}.{point}.held").unlink(missing_ok=True)


def say(folder: Path, run_id: UUID, words: str) -> None:
    """Have the run's next question contain these words."""
    _write(folder / "words" / str(run_id), words)


def _write(path: Path, text: str) -> None:
    """Write the file so that whoever finds it finds all of it."""
    made = _own(path)
    made.write_text(text)
    made.rename(path)


def _own(path: Path) -> Path:
    """A name beside `path` that only this thread uses."""
    return path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")


# --- from inside: what the process does -----------------------------------------------------------


def install(folder: Path) -> None:
    """From now on this process does what the files in `folder` say."""
    global _folder
    _folder = folder
    killpoints.install(reached)


def said(run_id: str) -> str:
    """What the drill wants the run's next question to contain; mostly nothing."""
    try:
        return "" if _folder is None else (_folder / "words" / run_id).read_text()
    except FileNotFoundError:
        return ""


def reached(point: str, run_id: str) -> None:
    """The hook of `runs.killpoints`."""
    if _folder is not None:
        obey(_folder, point, run_id)


def obey(folder: Path, point: str, run_id: str) -> None:
    """Do what is armed for this point, if anything is."""
    line = _take(folder / "armed" / f"{run_id}.{point}")
    if line is not None:
        _Act(run_id=run_id, point=point, marks=folder / "marks").do(line)


def _take(path: Path) -> str | None:
    """Use up the first line; a second process that comes at once finds nothing."""
    mine = _own(path)
    try:
        path.rename(mine)
    except FileNotFoundError:
        return None
    first, *rest = mine.read_text().splitlines()
    if rest:
        mine.write_text("\n".join(rest))
        mine.rename(path)
    else:
        mine.unlink()
    return first


class _Act:
    """What one line does to this process."""

    def __init__(self, *, run_id: str, point: str, marks: Path) -> None:
        self.run_id, self.point, self.marks = run_id, point, marks

    def do(self, line: str) -> None:
        match line.split():
            case ["pass"]:
                return
            case ["kill"]:
                self._kill()
            case ["kill", "after", seconds]:
                self._later(float(seconds))
            case ["kill", "once", point]:
                while not (self.marks / f"{self.run_id}.{point}.noted").exists():
                    time.sleep(0.005)
                self._kill()
            case ["note"]:
                self._mark("noted")
            case ["stop"]:
                self._stop()
            case ["hold"]:
                self._hold()
            case ["raise"]:
                raise ConnectionError("The drill raised this.")
            case _:
                raise ValueError(line)

    def _mark(self, name: str) -> Path:
        path = self.marks / f"{self.run_id}.{self.point}.{name}"
        _write(path, str(os.getpid()))
        return path

    def _kill(self) -> None:
        self._mark("killed")
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(10)  # nothing more is done until it arrives

    def _later(self, seconds: float) -> None:
        def wait() -> None:
            time.sleep(seconds)
            if self._drives():
                self._kill()

        threading.Thread(target=wait, name="drill", daemon=True).start()

    def _stop(self) -> None:
        if self.point == "saver.pipeline":
            _send_what_is_queued()
        threading.Thread(target=self._say_when_over, name="drill", daemon=True).start()
        self._mark("stopped")
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(0.05)  # nothing more is done until it arrives

    def _say_when_over(self) -> None:
        while self._drives():
            time.sleep(0.01)
        self._mark("over")

    def _drives(self) -> bool:
        return any(str(run_id) == self.run_id for run_id, _ in list(heart.watched))

    def _hold(self) -> None:
        held = self._mark("held")
        until = time.monotonic() + LONGEST_HOLD
        while held.exists() and time.monotonic() < until:
            time.sleep(0.01)


def _send_what_is_queued() -> None:
    """In a pipeline statements leave when the buffer is full: have the server run them now."""
    frame = inspect.currentframe()
    while frame is not None and "cursor" not in frame.f_locals:
        frame = frame.f_back
    if frame is None:
        raise RuntimeError("there is no pipeline here")
    with contextlib.suppress(BlockingIOError):
        frame.f_locals["cursor"].connection.pgconn.flush()
