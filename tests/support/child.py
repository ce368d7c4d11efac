"""What a worker process of a test does. Imported once by the fork server, so that a child is ready
in a few milliseconds; it opens its own connections, in the test's database.
"""

from __future__ import annotations

import inspect
import signal
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402  (only now are the apps loaded)
from django.db import connection, transaction  # noqa: E402

from accounts.actors import Actor  # noqa: E402
from ledger.outbox import dispatcher  # noqa: E402
from ledger.reconcile import asking  # noqa: E402
from ledger.undo import work as undoing  # noqa: E402
from runs import checkpoints, dispatch, driver, killpoints, leases, registry  # noqa: E402
from runs import graphs as agents  # noqa: E402
from runs.models import Operation, Run  # noqa: E402
from runs.operations import work as operating  # noqa: E402
from runs.retention import passes  # noqa: E402
from tests.support import graphs  # noqa: E402

Pipe = Connection
Task = Callable[..., object]


def main(task: Task, args: tuple[Any, ...], given: dict[str, Any], pipe: Connection) -> None:
    """Run `task(pipe, *args)` with the caller's database and settings; send what it returns."""
    connection.settings_dict["NAME"] = given.pop("database")
    graphs.RECORD = given.pop("record")
    for name, value in given.items():
        setattr(settings, name, value)
    dispatch.ring_now = lambda *_, **__: True  # no broker here
    dispatch.call_now = lambda task: True
    try:
        pipe.send(("done", task(pipe, *args)))
    except BaseException as exc:
        pipe.send(("raised", f"{type(exc).__name__}: {exc}"))
        raise SystemExit(1) from exc


def freeze(pipe: Connection, what: str) -> None:
    """Say so and stop this process, as if the machine had gone to sleep."""
    pipe.send(("reached", what))
    # To this very thread: sent to the process, another thread may be the one that has to stop it.
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


def drive(pipe: Connection, run_id: Any, holder: str = "child") -> str:
    outcome = driver.drive(run_id, holder=holder, cause="test")
    return outcome.value if outcome else ""


def drive_until(pipe: Connection, run_id: Any, place: str, nth: int = 1) -> str:
    """Drive, and freeze the n-th time a kill point or a place of the graph is reached."""
    left = [nth]

    def reached(name: str, _: str = "") -> None:
        if name == place:
            left[0] -= 1
            if left[0] == 0:
                if place == "saver.pipeline":
                    send_what_is_queued()
                freeze(pipe, place)

    killpoints.install(reached)
    graphs.HOOKS[place] = lambda: reached(place)
    return drive(pipe, run_id)


def dispatch_until(pipe: Pipe, place: str, on_word: bool = False) -> int:
    """Send messages of the outbox, and freeze when this place is reached."""
    killpoints.install(lambda name, _: freeze(pipe, place) if name == place else None)
    return dispatch_on_word(pipe) if on_word else dispatcher.dispatch()


def dispatch_on_word(pipe: Pipe) -> int:
    """Send messages of the outbox when the parent says so; how many."""
    dispatcher.due()
    pipe.send(("reached", "ready"))
    pipe.recv()
    return dispatcher.dispatch()


def retain_until(pipe: Pipe, place: str, nth: int) -> dict[str, Any]:
    """Erase what is due, and freeze the n-th time this place is reached."""
    left = [nth]

    def reached(name: str, _: str = "") -> None:
        if name == place:
            left[0] -= 1
            if left[0] == 0:
                freeze(pipe, place)

    killpoints.install(reached)
    return passes.apply(actor=Actor.command("child"))


def operate_until(pipe: Pipe, place: str, nth: int) -> int:
    """Go on with operations, and freeze the n-th time this place is reached."""
    left = [nth]

    def reached(name: str, _: str = "") -> None:
        if name == place:
            left[0] -= 1
            if left[0] == 0:
                freeze(pipe, place)

    killpoints.install(reached)
    return operating.work()


def operate_on_word(pipe: Pipe, operation_id: Any) -> int:
    """Go on with operations when the parent says so; how many runs were reached."""
    pipe.send(("reached", "ready"))
    pipe.recv()
    return operating.work(timedelta(minutes=1))


def reach_on_word(pipe: Pipe, operation_id: Any) -> int:
    """Deal with every run of an operation when the parent says so, whoever has its claim."""
    operation = Operation.objects.select_related("asked_by").get(pk=operation_id)
    items = list(operation.items.order_by("position"))
    pipe.send(("reached", "ready"))
    pipe.recv()
    return sum(operating._reach(operation, item) for item in items)


def hold_run(pipe: Pipe, run_id: Any) -> None:
    """Lock the run's row until the parent says so."""
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run_id)
        pipe.send(("reached", "locked"))
        pipe.recv()


def load_agents() -> None:
    """Know the tools of all agents, as a worker does."""
    for name in registry.declarations():
        agents.load(name)


def undo_until(pipe: Pipe, place: str) -> int:
    """Carry out plans of undoing, and freeze when this place is reached."""
    load_agents()
    killpoints.install(lambda name, _: freeze(pipe, place) if name == place else None)
    return undoing.work()


def look_until(pipe: Pipe, place: str) -> int:
    """Ask providers, and freeze when this place is reached."""
    load_agents()
    killpoints.install(lambda name, _: freeze(pipe, place) if name == place else None)
    return asking.work()


def drive_with_slow_put(pipe: Connection, run_id: Any) -> str:
    """Drive with a saver that takes its time for every checkpoint."""
    killpoints.install(lambda place, _: time.sleep(30) if place == "saver.put" else None)
    return drive(pipe, run_id)


def hang(pipe: Connection, run_id: Any, place: str) -> str:
    """Drive a graph that hangs in a node. Agents are registered anew, with the given settings."""
    graphs.HOOKS[place] = lambda: time.sleep(600)
    return drive(pipe, run_id)


def set_up_checkpoints(pipe: Connection) -> str:
    """Set up LangGraph's tables when the parent says so, and return what is wrong with them."""
    pipe.send(("reached", "ready"))
    pipe.recv()
    checkpoints.setup()
    return checkpoints.problem()


def send_what_is_queued() -> None:
    """In a pipeline, statements leave when the buffer is full: send the fence check now."""
    frame = inspect.currentframe()
    while frame and "cursor" not in frame.f_locals:
        frame = frame.f_back
    assert frame
    frame.f_locals["cursor"].connection.pgconn.flush()


def take_and_freeze(pipe: Connection, run_id: Any, locked: bool) -> str:
    """Take the lease and freeze, outside a transaction or with run and lease locked in one."""
    taken = leases.take(run_id, holder="frozen", cause="test")
    if taken is None:
        raise AssertionError("not taken")
    if not locked:
        freeze(pipe, "outside")
    with transaction.atomic():
        leases.lock(taken.lease)
        if locked:
            freeze(pipe, "inside")
    return "committed"


def defaults(record: Path | None) -> dict[str, Any]:
    """What a child needs to know of its parent: where the database is, and short times."""
    names = [name for name in dir(settings) if name.startswith(("RUNS_", "APPROVALS_", "LEDGER_"))]
    known = {name: getattr(settings, name) for name in names}
    return known | {"database": connection.settings_dict["NAME"], "record": record}


SHORT = timedelta(milliseconds=300)
