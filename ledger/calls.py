"""Running the outside part of an effect: with a time limit, and without losing a late end.

The ledger's steps are a generator (`ledger.effects`) that yields what takes time, a `Call` or a
`Pause`, and does everything else itself. `run` and `arun` work it off for plain and for async
functions.

1. Whether the call may still start is asked in the thread that calls, as the last thing before.
2. A call that outlives its time limit is not waited for. A thread cannot be stopped: its end is
   handed to `Call.late` whenever it comes. A coroutine is cancelled.
3. A cancelled node does not cancel its call: it is waited for, its end recorded, and then the
   cancellation goes on.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from django.db import connection, connections

T = TypeVar("T")

SLICE = 0.05
"""Seconds after which an async pause looks whether what it waits for has happened."""
LAST_WORDS = 1.0
"""Seconds that a cancelled coroutine gets to end."""


@dataclass(frozen=True, slots=True)
class Returned:
    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    error: BaseException


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """The time was up."""

    seconds: float


@dataclass(frozen=True, slots=True)
class NotStarted:
    """It was too late to call; nothing has left this process."""


End: TypeAlias = Returned | Raised | NoAnswer | NotStarted


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """Call this function and say how it ended."""

    function: Callable[..., object]
    kwargs: Mapping[str, object] = field(default_factory=dict)
    deadline: float
    """On the monotonic clock."""
    may_start: Callable[[], bool]
    late: Callable[[End], None]
    """Takes the end of a call that nobody waits for any more, in a thread of its own."""

    @property
    def left(self) -> float:
        return self.deadline - time.monotonic()

    def startable(self) -> bool:
        return self.left > 0 and self.may_start()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Wait so many seconds, or until `until` is set."""

    seconds: float
    until: threading.Event | None = None


Steps: TypeAlias = Generator[Call | Pause, End | None, T]

_inside: ContextVar[bool] = ContextVar("signalbox_inside_effect", default=False)


def inside() -> bool:
    """Whether this code runs inside the function of an effect."""
    return _inside.get()


# --- plain functions -----------------------------------------------------------------------------


def run(steps: Steps[T]) -> T:
    """Work off the steps in this thread and return what they return."""
    opened_here = connection.connection is None
    answer: End | None = None
    try:
        while True:
            try:
                wanted = steps.send(answer)
            except StopIteration as end:
                result: T = end.value
                return result
            if isinstance(wanted, Call):
                answer = _run_call(wanted, steps)
            else:
                answer = None
                _wait(wanted)
    finally:
        steps.close()
        if opened_here:
            connection.close()  # threads of a graph end without closing theirs


def _wait(pause: Pause) -> None:
    if pause.until is not None:
        pause.until.wait(pause.seconds)
    else:
        time.sleep(pause.seconds)


def _run_call(call: Call, steps: Steps[T]) -> End:
    try:
        return in_thread(call)
    except BaseException as exc:
        # A signal's exception, raised into this thread: the call goes on and will end late.
        steps.throw(exc)
        raise


def in_thread(call: Call) -> End:
    """Call in a thread of its own, in a copy of this context, and wait until its time is up."""
    running = _Running(call)
    thread = threading.Thread(
        target=contextvars.copy_context().run, args=(running.work,), name="effect", daemon=True
    )
    try:
        thread.start()
    except RuntimeError:  # no more threads to be had
        return NotStarted()
    try:
        running.done.wait(max(call.left, 0.0))
    except BaseException:
        running.abandon()
        raise
    return running.end_or_abandon()


class _Running:
    """A call in a thread: either its end is taken in time, or it is handed on late."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.allowed = max(call.left, 0.0)
        self.done = threading.Event()
        self._guard = threading.Lock()
        self._end: End | None = None
        self._abandoned = False

    def work(self) -> None:
        try:
            end = self._end_of_call()
            with self._guard:
                self._end, late = end, self._abandoned
            self.done.set()
            if late:
                self.call.late(end)
        finally:
            connections.close_all()

    def _end_of_call(self) -> End:
        if not self.call.startable():
            return NotStarted()
        _inside.set(True)
        try:
            value = self.call.function(**self.call.kwargs)
            return Returned(asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value)
        except BaseException as exc:  # whatever it is, the call may have happened
            return Raised(exc)

    def end_or_abandon(self) -> End:
        with self._guard:
            if self._end is None:
                self._abandoned = True
                return NoAnswer(seconds=self.allowed)
            return self._end

    def abandon(self) -> None:
        """Nobody waits any more; an end that is there already is handed on all the same."""
        end = self.end_or_abandon()
        if not isinstance(end, NoAnswer):
            self.call.late(end)


async def _awaited(value: object) -> object:
    if not inspect.isawaitable(value):
        return value
    return await value


# --- coroutines ----------------------------------------------------------------------------------


async def arun(steps: Steps[T]) -> T:
    """Work off the steps on this event loop: what needs the database in threads, calls here."""
    answer: End | None = None
    cancelled: asyncio.CancelledError | None = None
    try:
        while True:
            got, again = await _uninterrupted(partial(_advance, steps, answer))
            cancelled = cancelled or again
            if cancelled is not None:
                if isinstance(got, Call):  # marked as started, but nothing has left this process
                    await _uninterrupted(partial(_advance, steps, NotStarted()))
                raise cancelled
            match got:
                case Call():
                    answer, cancelled = await _acall(got)
                case Pause():
                    answer = None
                    await _apause(got)
                case _Failed(error):
                    raise error
                case _Ended(value):
                    return value
    finally:
        steps.close()


@dataclass(frozen=True, slots=True)
class _Ended(Generic[T]):
    value: T


@dataclass(frozen=True, slots=True)
class _Failed:
    error: BaseException


def _advance(steps: Steps[T], answer: End | None) -> Call | Pause | _Ended[T] | _Failed:
    """One step, with what it needs from the database. Futures cannot carry StopIteration."""
    try:
        return steps.send(answer)
    except StopIteration as end:
        return _Ended(end.value)
    except BaseException as exc:  # handed to the event loop's thread
        return _Failed(exc)
    finally:
        connections.close_all()


async def _acall(call: Call) -> tuple[End, asyncio.CancelledError | None]:
    if not inspect.iscoroutinefunction(call.function):
        return await _uninterrupted(partial(in_thread, call))
    if not call.startable():
        return NotStarted(), None
    allowed = call.left
    task = asyncio.create_task(_inner(call))
    cancelled = await _finish(task, call.deadline)
    overdue = not task.done()
    if overdue:
        task.cancel()
        cancelled = await _finish(task, time.monotonic() + LAST_WORDS) or cancelled
    if not task.done():
        task.add_done_callback(partial(_ended_late, call))
    if not task.done() or (overdue and task.cancelled()):
        return NoAnswer(seconds=allowed), cancelled
    return _end_of(task), cancelled


async def _inner(call: Call) -> object:
    _inside.set(True)  # in this task's own context
    return await _awaited(call.function(**call.kwargs))


async def _finish(task: asyncio.Task[object], deadline: float) -> asyncio.CancelledError | None:
    """Wait for the task, or until the deadline, whoever cancels us; return the cancellation."""
    cancelled = None
    while not task.done() and (left := deadline - time.monotonic()) > 0:
        try:
            await asyncio.wait({task}, timeout=left)
        except asyncio.CancelledError as exc:
            cancelled = exc
    return cancelled


def _end_of(task: asyncio.Task[object]) -> End:
    if task.cancelled():
        return Raised(asyncio.CancelledError("the call was cancelled"))
    error = task.exception()
    return Raised(error) if error is not None else Returned(task.result())


def _ended_late(call: Call, task: asyncio.Task[object]) -> None:
    def work() -> None:
        try:
            call.late(_end_of(task))
        finally:
            connections.close_all()

    threading.Thread(target=work, name="effect-late", daemon=True).start()


async def _apause(pause: Pause) -> None:
    until = time.monotonic() + pause.seconds
    while (left := until - time.monotonic()) > 0:
        if pause.until is not None and pause.until.is_set():
            return
        await asyncio.sleep(min(left, SLICE) if pause.until is not None else left)


async def _uninterrupted(work: Callable[[], T]) -> tuple[T, asyncio.CancelledError | None]:
    """Run `work` in a thread to its end, whoever cancels us; return also the cancellation."""
    loop, cancelled = asyncio.get_running_loop(), None
    future = loop.run_in_executor(None, contextvars.copy_context().run, work)
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError as exc:
            cancelled = exc
    return future.result(), cancelled
