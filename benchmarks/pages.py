"""How long does the server take for each page, with a hundred thousand runs in the database?

    .venv/bin/python -m benchmarks.pages [--runs 100000] [--rounds 15] [--state FOLDER]
        [--only TEXT] [--json FILE|-]

A scratch database is seeded (`manage.py seed`), then every page is asked for in turn, round by
round, by somebody signed in. Measured is the time in the server's process, from the request to the
whole answer, without network and browser. The embedded PostgreSQL gets the memory of a small server
(POSTGRES below); SIGNALBOX_POSTGRES in the environment says otherwise.

With `--state` the database is kept in that folder, and the next time it is not seeded again.

On a machine that has other work, look at `cpu_ms`: the processor's time of this process and of its
connection's in the database, which is about what the page takes if nothing else runs.

JSON: {"pages": [{"name", "median_ms", "p95_ms", "cpu_ms", "queries"}], "load": of the machine}
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import django

from signalbox.embedded import places, services

if TYPE_CHECKING:
    from django.test import Client

    from benchmarks.addresses import Page

POSTGRES = "shared_buffers=1GB effective_cache_size=4GB max_wal_size=4GB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--state", type=Path, metavar="FOLDER", help="keep the database here")
    parser.add_argument("--only", default="", metavar="TEXT", help="pages with this in their names")
    parser.add_argument("--json", default="", metavar="FILE|-")
    options = parser.parse_args()
    os.environ.setdefault("SIGNALBOX_POSTGRES", POSTGRES)
    with kept(options.state) if options.state else services.scratch() as state:
        os.environ |= places.environment(state) | {"LOG_LEVEL": "ERROR"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "signalbox.seed.settings")
        manage("migrate", "--verbosity", "0")
        django.setup()
        if not seeded():
            manage("seed", "--runs", str(options.runs))
        result = {"pages": measure(options.rounds, options.only), "load": os.getloadavg()[1]}
    line = json.dumps(result)
    if options.json and options.json != "-":
        Path(options.json).write_text(line + "\n")
    sys.stdout.write(line + "\n")


@contextmanager
def kept(state: Path) -> Iterator[Path]:
    """The services of a folder that stays."""
    services.use(state, database=True, broker=True)
    yield state
    services.leave(state)


def manage(*line: str) -> None:
    subprocess.run([sys.executable, "manage.py", *line], check=True)  # noqa: S603 (our own program)


def seeded() -> bool:
    # Only now do models exist, and the environment says where the database is.
    from runs.models import Run  # noqa: PLC0415

    return Run.objects.exists()


def measure(rounds: int, only: str) -> list[dict[str, object]]:
    from django.conf import settings  # noqa: PLC0415

    from benchmarks import addresses  # noqa: PLC0415

    settings.ALLOWED_HOSTS = ["testserver"]
    pages = [page for page in addresses.of(addresses.Readers.found()) if only in page.name]
    clients = signed_in(pages)
    took: dict[str, list[float]] = {page.name: [] for page in pages}
    cpu: dict[str, list[float]] = {page.name: [] for page in pages}
    queries = {page.name: count(clients[page.reader.pk], page) for page in pages}  # warms up, too
    gc.freeze()  # as `signalbox.gunicorn_config` does
    for turn in range(rounds):
        for page in pages:
            started, worked = time.perf_counter(), processor()
            answer(clients[page.reader.pk], page)
            took[page.name].append((time.perf_counter() - started) * 1000)
            cpu[page.name].append((processor() - worked) * 1000)
        if sys.stderr.isatty():
            sys.stderr.write(f"\rround {turn + 1} of {rounds}")
    return [row(name, took[name], cpu[name], queries[name]) for name in took]


def signed_in(pages: list[Page]) -> dict[int, Client]:
    """A client for each reader."""
    from django.test import Client  # noqa: PLC0415

    clients = {}
    for reader in {page.reader for page in pages}:
        clients[reader.pk] = Client()
        clients[reader.pk].force_login(reader)
    return clients


def answer(client: Client, page: Page) -> None:
    found = client.get(page.address)
    if found.status_code != 200 or not found.getvalue():
        raise SystemExit(f"{page.name}: {page.address} answered {found.status_code}")


def count(client: Client, page: Page) -> int:
    """How many questions the database is asked for it."""
    from django.db import connection  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    with CaptureQueriesContext(connection) as seen:
        answer(client, page)
    return len(seen)


def processor() -> float:
    """Seconds of processor time so far, of this process and of its connection's in the database."""
    from django.db import connection  # noqa: PLC0415

    connection.ensure_connection()
    backend = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    spent = int(backend.read_text().split()[0]) / 1e9 if backend.exists() else 0.0
    return time.process_time() + spent


def row(name: str, took: list[float], cpu: list[float], queries: int) -> dict[str, object]:
    return {
        "name": name,
        "median_ms": round(statistics.median(took), 1),
        "p95_ms": round(statistics.quantiles(took, n=20)[-1], 1),
        "cpu_ms": round(statistics.median(cpu), 1),
        "queries": queries,
    }


if __name__ == "__main__":
    main()
