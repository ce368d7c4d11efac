"""Hands of the tests of facts: those of the runs tests, and LangGraph left to itself."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from runs import checkpoints
from tests.facts import alone
from tests.runs.conftest import (
    clean,
    connections_end,
    database,
    declare,
    drive,
    no_flush,
    rung,
    start,
)
from tests.support import child, flush, graphs
from tests.support.processes import worker

__all__ = ["clean", "connections_end", "database", "declare", "drive", "no_flush", "rung", "start"]


@pytest.fixture
def bare(monkeypatch) -> None:
    """Nodes ask with a bare `interrupt()`, which no digest protects."""
    monkeypatch.setattr(graphs, "person", alone.person)


@pytest.fixture
def thread(bare: None, transactional_db: None, no_flush: None) -> Iterator[Callable[..., Any]]:
    """A new thread of a graph on LangGraph's own saver: no driver, no lease, no approvals."""

    def thread(graph: Any, saver: Any = None) -> alone.Thread:
        return alone.Thread(graph=graph, saver=saver or alone.Saver(checkpoints.pool()))

    yield thread
    flush.empty()


def dies(task: child.Task, *args: object) -> None:
    """Run the task in a process of its own, which kills itself on the way."""
    with worker(task, *args) as doomed:
        doomed.process.join(60)
        assert doomed.process.exitcode == -signal.SIGKILL
