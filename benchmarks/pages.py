"""How long does the server take for each page, with a hundred thousand runs in the database?

    .venv/bin/python -m benchmarks.pages [--runs 100000] [--rounds 15] [--json FILE|-]

A scratch database is seeded (`manage.py seed`), then every page is asked for in turn, round by
round, by somebody signed in. Measured is the time in the server's process, from the request to the
whole answer, without network and browser.

JSON: {"pages": [{"name", "median_ms", "p95_ms", "queries"}]}
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import django

from signalbox.embedded import places, services


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", default="", metavar="FILE|-")
    options = parser.parse_args()
    with services.scratch() as state:
        os.environ |= places.environment(state) | {"LOG_LEVEL": "ERROR"}
        for command in (["migrate", "--verbosity", "0"], ["seed", "--runs", str(options.runs)]):
            subprocess.run([sys.executable, "manage.py", *command], check=True)  # noqa: S603 (our own program)
        result = measure(options.rounds)
    line = json.dumps({"pages": result})
    if options.json and options.json != "-":
        Path(options.json).write_text(line + "\n")
    sys.stdout.write(line + "\n")


def measure(rounds: int) -> list[dict[str, object]]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "signalbox.seed.settings")
    django.setup()
    # Only now do models exist, and the environment says where the scratch database is.
    from django.conf import settings  # noqa: PLC0415
    from django.db import connection  # noqa: PLC0415
    from django.test import Client  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    from accounts.models import User  # noqa: PLC0415
    from benchmarks import page_list  # noqa: PLC0415

    settings.ALLOWED_HOSTS = ["testserver"]
    client = Client()
    client.force_login(User.objects.filter(groups__name="admin").order_by("pk")[0])
    pages = page_list.pages()
    took: dict[str, list[float]] = {name: [] for name in pages}
    queries: dict[str, int] = {}
    for turn in range(rounds + 1):
        for name, address in pages.items():
            with CaptureQueriesContext(connection) as seen:
                started = time.perf_counter()
                answer = client.get(address)
                whole = answer.getvalue()
                spent = time.perf_counter() - started
            if answer.status_code != 200 or not whole:
                raise SystemExit(f"{address} answered {answer.status_code}")
            if turn:  # the first one warms up
                took[name].append(spent * 1000)
                queries[name] = len(seen)
        if sys.stderr.isatty():
            sys.stderr.write(f"\rround {turn} of {rounds}")
    return [_row(name, took[name], queries[name]) for name in pages]


def _row(name: str, took: list[float], queries: int) -> dict[str, object]:
    return {
        "name": name,
        "median_ms": round(statistics.median(took), 1),
        "p95_ms": round(statistics.quantiles(took, n=20)[-1], 1),
        "queries": queries,
    }


if __name__ == "__main__":
    main()
