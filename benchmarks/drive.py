"""How much slower is a run through Signalbox than the same graph on bare LangGraph?

    .venv/bin/python -m benchmarks.drive [--runs 40] [--rounds 7] [--json FILE|-]

A graph of three nodes, one database, one shared pool of connections, durability sync. Rounds of
both kinds alternate in random order after a warm-up; the medians of the rounds are compared. The
bare side admits nothing, leases nothing and records nothing: it is what one gives up for a run
that survives.

JSON: {"bare": runs per second, "drive": runs per second, "ratio": bare / drive}
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
import uuid
from pathlib import Path
from typing import Any, TypedDict

import django
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from signalbox.embedded import services


class State(TypedDict):
    """A number that each node raises by one."""

    n: int


def raise_by_one(state: State) -> State:
    return {"n": state["n"] + 1}


def three_nodes() -> CompiledStateGraph[Any, Any, Any, Any]:
    builder = StateGraph(State)
    for name in ("first", "second", "third"):
        builder.add_node(name, raise_by_one)
    builder.add_edge(START, "first")
    builder.add_edge("first", "second")
    builder.add_edge("second", "third")
    return builder.compile()


graph = three_nodes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=40, help="runs in a round")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each kind")
    parser.add_argument("--json", default="", metavar="FILE|-")
    options = parser.parse_args()
    with services.scratch() as state:
        os.environ["SIGNALBOX_STATE"] = str(state)
        os.environ.setdefault("LOG_LEVEL", "ERROR")
        result = measure(options.runs, options.rounds)
    line = json.dumps(result)
    if options.json and options.json != "-":
        Path(options.json).write_text(line + "\n")
    sys.stdout.write(line + "\n")


def measure(runs: int, rounds: int) -> dict[str, float]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.settings")
    django.setup()
    # Only now do models exist, and the environment says where the scratch database is.
    from django.core.management import call_command  # noqa: PLC0415

    from accounts.actors import Actor  # noqa: PLC0415
    from runs import admission, checkpoints, driver  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    pool = checkpoints.pool()

    def bare(count: int) -> float:
        started = time.perf_counter()
        for _ in range(count):
            saver = PostgresSaver(pool)
            config: RunnableConfig = {"configurable": {"thread_id": str(uuid.uuid4())}}
            graph.copy(update={"checkpointer": saver}).invoke({"n": 0}, config, durability="sync")
        return count / (time.perf_counter() - started)

    def drive(count: int) -> float:
        actor = Actor.command("benchmark")
        ids = [admission.start("three", {"n": 0}, actor=actor).id for _ in range(count)]
        started = time.perf_counter()
        for run_id in ids:
            if driver.drive(run_id, holder="benchmark", cause="benchmark") != "finished":
                raise SystemExit("a run did not finish, so there is nothing to compare")
        return count / (time.perf_counter() - started)

    rates: dict[str, list[float]] = {"bare": [], "drive": []}
    order = ["bare", "drive"] * rounds
    random.shuffle(order)
    bare(runs), drive(runs)
    for done, name in enumerate(order, start=1):
        rates[name].append({"bare": bare, "drive": drive}[name](runs))
        if sys.stderr.isatty():
            sys.stderr.write(f"\rround {done} of {len(order)}")
    checkpoints.close()
    medians = {name: statistics.median(found) for name, found in rates.items()}
    return {
        "bare": round(medians["bare"], 1),
        "drive": round(medians["drive"], 1),
        "ratio": round(medians["bare"] / medians["drive"], 3),
    }


if __name__ == "__main__":
    main()
