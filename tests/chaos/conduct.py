"""One run of the harness, on services that are there already: started by `tests.chaos.harness`.

    python -m tests.chaos.conduct '{"runs": …, "seed": …, …}' REPORT

This process opens no connection itself, so that its children inherit none.
"""

from __future__ import annotations

import json
import logging
import os
import random
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import Any

import django

django.setup()

from django.core.management import call_command  # noqa: E402  (only now are the apps loaded)
from django.db import connection  # noqa: E402

from accounts.actors import Actor  # noqa: E402
from runs import admission, dispatch, graphs, registry  # noqa: E402
from tests.chaos import checker, faults, mutations, people, record, shapes, workers  # noqa: E402

SHELL = Actor.command("chaos")
KILL_EVERY = 2.5
"""Seconds on average between kills at no particular place."""


def main(given: str, report: str) -> int:
    asked = json.loads(given)
    os.nice(asked["nice"])
    logging.disable(logging.WARNING)
    # Told of every parallel branch that ends after another one has raised.
    logging.getLogger("concurrent.futures").disabled = True
    _deafen()
    for name in registry.declarations():
        graphs.load(name)
    mutations.apply(asked["mutation"])
    plans = [faults.Plan.draw(asked["seed"], number) for number in range(asked["runs"])]
    board = faults.Board(plans=plans)
    started = Path(f"{report}.started")
    workers.run_apart(_prepare, asked, str(started))
    board.index = json.loads(started.read_text())
    crew = _play(asked, board)
    workers.run_apart(_check, asked, crew.died, report)
    return 0


def _deafen() -> None:
    """No broker: workers look for themselves what is due."""
    dispatch.ring_now = lambda *_, **__: True


def _prepare(asked: dict[str, Any], started: str) -> None:
    """Tables, people, the side record, and every run admitted."""
    call_command("migrate", verbosity=0, interactive=False)
    with connection.cursor() as cursor:
        # What is killed here are clients, never the server.
        cursor.execute("ALTER DATABASE signalbox SET synchronous_commit = off")
    side = record.connect()
    side.execute(record.SCHEMA)
    people.prepare()
    rng = random.Random(asked["seed"])  # noqa: S311 (styles of runs)
    index = {}
    names = cycle([asked["shape"]] if asked["shape"] else shapes.REQUIRED)
    for number, shape in zip(range(asked["runs"]), names, strict=False):
        style, suffix = rng.choice(("ask", "bare")), rng.choice(("", "", "_async"))
        given = {"number": number, "style": style}
        run = admission.start(f"{shape}{suffix}", given, actor=SHELL)
        side.execute(
            "INSERT INTO chaos_run (run, number, shape, style) VALUES (%s, %s, %s, %s)",
            (run.pk, number, shape, style),
        )
        index[str(run.pk)] = number
    Path(started).write_text(json.dumps(index))


def _play(asked: dict[str, Any], board: faults.Board) -> workers.Crew:
    seed = asked["seed"]
    crew = workers.Crew(
        seed=seed,
        roles=[
            *((workers.drive_for_ever, (board,)) for _ in range(asked["workers"])),
            *(
                (workers.person_for_ever, (board, people.answer_for_ever, name, seed))
                for name in people.APPROVERS
            ),
        ],
    )
    leader = workers.CONTEXT.Process(
        target=people.operate, args=(seed, time.monotonic() + asked["seconds"]), daemon=True
    )
    leader.start()
    crew.keep_going(leader, kill_every=KILL_EVERY)
    if leader.exitcode != 0:
        raise ChildProcessError("the operator's process failed")
    return crew


def _check(asked: dict[str, Any], died: int, report: str) -> None:
    found = checker.check(asked["seed"])
    found["kills"] += died
    Path(report).write_text(json.dumps(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
