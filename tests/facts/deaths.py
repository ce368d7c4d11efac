"""Processes that kill themselves at an exact place, with LangGraph alone or with the driver."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from django.db import connection

from runs import checkpoints, driver, killpoints
from tests.facts import alone
from tests.support import child, graphs
from tests.support.processes import until

Prepare = Callable[[], None]


def invoke(pipe: child.Pipe, graph: str, thread_id: str, given: Any, prepare: Prepare) -> None:
    """Call a graph of tests.support.graphs on LangGraph's own saver."""
    prepare()
    graphs.person = alone.person
    saver = alone.Saver(checkpoints.pool())
    alone.Thread(graph=getattr(graphs, graph), saver=saver, id=thread_id).call(given)


def drive(pipe: child.Pipe, run_id: Any, prepare: Prepare) -> None:
    prepare()
    driver.drive(run_id, holder="doomed", cause="test")


def after_the_answer() -> None:
    """Die in the node that took the answer."""
    graphs.HOOKS["gate.after"] = _die


def after_the_answer_was_saved() -> None:
    """The same, but not before LangGraph has saved the answer, which it does in the background."""

    def saved() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM checkpoint_writes WHERE channel = '__resume__'")
            return bool(cursor.fetchone()[0])

    def wait_and_die() -> None:
        until(saved)
        _die()

    graphs.HOOKS["gate.after"] = wait_and_die


def before_its_writes() -> None:
    """Die when the checkpoint after `second` is to be saved, and its writes are not saved yet."""
    ran = threading.Event()
    graphs.HOOKS["second"] = ran.set

    def reached(place: str, _: str) -> None:
        if ran.is_set() and place == "saver.put_writes":
            threading.Event().wait()
        if ran.is_set() and place == "saver.put":
            _die()

    killpoints.install(reached)


def after_its_writes() -> None:
    """Die when the checkpoint after `second` is to be saved, and its writes are saved."""
    ran = threading.Event()
    graphs.HOOKS["second"] = ran.set

    def reached(place: str, thread_id: str) -> None:
        if ran.is_set() and place == "saver.put":
            until(lambda: _saved(thread_id) == ["first", "second"])
            _die()

    killpoints.install(reached)


def _saved(thread_id: str) -> list[str]:
    """The nodes whose output is saved as pending writes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT task_path FROM checkpoint_writes WHERE thread_id = %s AND channel = 'log'"
            " AND task_path LIKE '~__pregel_pull%%'",
            [thread_id],
        )
        return sorted(path.rpartition(" ")[2] for (path,) in cursor.fetchall())


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
