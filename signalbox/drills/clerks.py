"""Starting the processes of people who decide (see `clerk`), from a warm fork server."""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from pathlib import Path

from signalbox.drills import clerk
from signalbox.drills.clerk import Ballot

PATIENCE = 60.0
"""Seconds that people wait for an answer."""

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["signalbox.drills.clerk"])


def post(folder: Path, ballots: Sequence[Ballot]) -> list[str] | None:
    """Have all these forms sent at once by one process, and return what each person was told.

    None: the process died before it could tell.
    """
    ours, theirs = _context.Pipe(duplex=False)
    process = _context.Process(target=clerk.main, args=(theirs, folder, tuple(ballots)))
    process.daemon = True
    process.start()
    theirs.close()
    try:
        if not ours.poll(PATIENCE):
            return None
        told: list[str] = ours.recv()
        return told
    except EOFError:
        return None
    finally:
        ours.close()
        process.join(5)
        process.kill()
        process.join()
        process.close()
