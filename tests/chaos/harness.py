"""The random crash harness: real driver, approvals and ledger under kills, freezes and errors.

    python -m tests.chaos.harness --runs 600 --seed 7 [--shape NAME] [--json FILE|-]

    shapes     the graphs                    faults    what goes wrong, and when
    workers    processes that are killed     people    who answers, who sends parked runs on
    record     what nodes saw                checker   what must hold afterwards
    conduct    one run of it all             mutations rules broken on purpose

Exit status 0: no violation; 1: some; 2: wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from signalbox.embedded import places, services

ROOT = Path(__file__).parent.parent.parent
DEFAULT_RUNS = 600


def play(
    *,
    runs: int,
    seed: int,
    shape: str = "",
    mutation: str = "",
    workers: int = 4,
    nice: int = 0,
    seconds: float = 1800,
) -> dict[str, Any]:
    """Play `runs` runs on scratch services and return the report.

    Raises RuntimeError if it could not be played.
    """
    began = time.monotonic()
    asked = {
        "runs": runs,
        "seed": seed,
        "shape": shape,
        "mutation": mutation,
        "workers": workers,
        "nice": nice,
        "seconds": seconds,
    }
    with services.scratch() as state:
        report = state / "report.json"
        done = subprocess.run(  # noqa: S603 (our own program)
            [sys.executable, "-m", "tests.chaos.conduct", json.dumps(asked), str(report)],
            cwd=ROOT,
            env=_environment(state),
            stdout=sys.stderr.fileno(),
            check=False,
        )
        if done.returncode != 0 or not report.exists():
            raise RuntimeError("The harness could not be played; see above.")
        found: dict[str, Any] = json.loads(report.read_text())
    took = round(time.monotonic() - began, 1)
    asked_for = {key: asked[key] for key in ("runs", "seed", "shape", "mutation")}
    return {**asked_for, "seconds": took, **found}


def _environment(state: Path) -> dict[str, str]:
    return (
        dict(os.environ)
        | places.environment(state)
        | {"DJANGO_SETTINGS_MODULE": "tests.chaos.settings", "PYTHONPATH": str(ROOT)}
    )


def told(report: dict[str, Any]) -> list[str]:
    """The report in words, violations first."""
    lines = []
    for violation in report["violations"]:
        where = f"run {violation['run']} ({violation['shape']} {violation['number']})"
        lines.append(f"{violation['invariant']}: {violation['what']}")
        lines.append(f"    seed {violation['seed']}, {where}, {', '.join(violation['faults'])}")
    numbers = {key: value for key, value in report.items() if isinstance(value, int | float)}
    lines.append(", ".join(f"{key.replace('_', ' ')} {value}" for key, value in numbers.items()))
    lines.append(f"violations {len(report['violations'])}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.chaos.harness")
    parser.add_argument("--runs", type=int, default=DEFAULT_RUNS)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--shape", default="")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--nice", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1800, help="give up after so long")
    parser.add_argument("--mutation", default="", help="break this rule on purpose")
    parser.add_argument("--json", default="", metavar="FILE|-")
    given = vars(parser.parse_args())
    target = given.pop("json")
    if given["seed"] is None:
        given["seed"] = random.SystemRandom().randrange(1_000_000)
    sys.stderr.write(f"seed {given['seed']}\n")
    report = play(**given)
    if target != "-":
        sys.stdout.write("\n".join(told(report)) + "\n")
    if target == "-":
        sys.stdout.write(json.dumps(report) + "\n")
    elif target:
        Path(target).write_text(json.dumps(report, indent=1))
    return 1 if report["violations"] else 0


if __name__ == "__main__":
    sys.exit(main())
