"""Threads that work on the database at once, until it is over."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager

from django.db import connection


@contextmanager
def working(over: threading.Event, *works: Callable[[], None]) -> Iterator[None]:
    """Each in a thread with a connection of its own; the first that fails ends them all."""

    def on_its_own(work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            over.set()
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        working = [pool.submit(on_its_own, work) for work in works]
        try:
            yield
        finally:
            over.set()
            wait(working, timeout=60)
    for each in working:
        each.result()
