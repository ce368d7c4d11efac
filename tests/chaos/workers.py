"""Processes: forked from a warm parent that has no connections, watched and replaced by it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path

from django.conf import settings

from runs import driver, killpoints, leases, moves, resting, status, sweeper
from runs.authority import Lease
from tests.chaos import faults, record, shapes

CONTEXT = multiprocessing.get_context("fork")
PAUSE = 0.05
FROZEN = tuple(factor * settings.RUNS_LEASE.total_seconds() for factor in (1.2, 2.5))
"""Seconds for which a process stays frozen: its lease has run out by then."""


def drive_for_ever(board: faults.Board) -> None:
    """What a worker does: drive whatever is due, in any order."""
    faults.use(board)
    killpoints.install(faults.reach)
    _reach_before_the_end()
    shapes.live = True
    holder = f"chaos:{os.getpid()}"
    while True:
        due = sweeper.find_due()
        random.shuffle(due)
        for run_id in due[:10]:
            try:
                driver.drive(run_id, holder=holder, cause="sweep")
            except Exception as exc:  # as a task that raises: the lease runs out, others go on
                record.note(str(run_id), "", "drive raised", f"{type(exc).__name__}: {exc}")
        if not due:
            time.sleep(PAUSE)


def _reach_before_the_end() -> None:
    """Have faults also between a driver's last look and the transaction that ends its drive."""
    end = resting.Rest.act
    locked = leases.lock

    def lock(lease: Lease) -> int:
        faults.reach("lease.lock", str(lease.run_id))
        return locked(lease)

    def act(self: resting.Rest, move: moves.Move) -> status.Outcome:
        outcome = end(self, move)
        faults.reach("rest.uncommitted", str(self.lease.run_id))
        return outcome

    leases.lock = lock
    setattr(resting.Rest, "act", act)  # noqa: B010 (mypy knows no other way)


def person_for_ever(board: faults.Board, answer: Callable[..., None], *args: object) -> None:
    """What the process of a person does; it can be killed while a decision is made."""
    faults.use(board)
    killpoints.install(faults.only_kill)
    answer(*args)


def run_apart(task: Callable[..., None], *args: object) -> None:
    """Do something that needs connections in a child, and wait for it. Raises ChildProcessError."""
    child = CONTEXT.Process(target=task, args=args)
    child.start()
    child.join()
    if child.exitcode != 0:
        raise ChildProcessError(f"{task.__name__} failed")


@dataclass(slots=True)
class Crew:
    """The children that may die, and those that were frozen."""

    seed: int
    roles: list[tuple[Callable[..., None], tuple[object, ...]]]
    rng: random.Random = field(init=False)
    children: dict[int, tuple[ForkProcess, int]] = field(default_factory=dict)
    """By sentinel: the process and its role."""
    stopped: dict[int, float] = field(default_factory=dict)
    """When the processes that are frozen now are continued."""
    died: int = 0
    """How many were killed from outside, at no particular place."""

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)  # noqa: S311 (times of kills)

    def keep_going(self, leader: ForkProcess, *, kill_every: float) -> None:
        """Replace who dies and continue who is frozen, until `leader` has ended."""
        gc.collect()
        gc.freeze()  # so that children do not copy what the parent has loaded
        for role in range(len(self.roles)):
            self._fork(role)
        next_kill = time.monotonic() + self.rng.expovariate(1 / kill_every)
        try:
            while leader.is_alive():
                for sentinel in wait([*self.children, leader.sentinel], timeout=0.1):
                    if sentinel in self.children:
                        self._replace(int(str(sentinel)))
                self._continue()
                if time.monotonic() > next_kill:
                    next_kill = time.monotonic() + self.rng.expovariate(1 / kill_every)
                    self.rng.choice([process for process, _ in self.children.values()]).kill()
                    self.died += 1
        finally:
            for process, _ in self.children.values():
                process.kill()
                process.join()

    def _fork(self, role: int) -> None:
        task, args = self.roles[role]
        child = CONTEXT.Process(target=_started, args=(task, args), daemon=True)
        child.start()
        self.children[child.sentinel] = child, role

    def _replace(self, sentinel: int) -> None:
        process, role = self.children.pop(sentinel)
        process.join()
        if process.exitcode != -signal.SIGKILL:
            sys.stderr.write(f"{self.roles[role][0].__name__} ended by itself\n")
        self._fork(role)

    def _continue(self) -> None:
        now = time.monotonic()
        for process, _ in self.children.values():
            pid = process.pid or 0
            if _state(pid) != "T":
                self.stopped.pop(pid, None)
            elif now > self.stopped.setdefault(pid, now + self.rng.uniform(*FROZEN)):
                os.kill(pid, signal.SIGCONT)


def _started(task: Callable[..., None], args: tuple[object, ...]) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    task(*args)


def _state(pid: int) -> str:
    """The kernel's letter for what a process does; T: it is stopped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return ""
