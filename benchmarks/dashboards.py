"""What do fifty open dashboards cost while nothing changes, or while something always does?

    .venv/bin/python -m benchmarks.dashboards [--clients 50] [--seconds 30] [--changes 0]
        [--working 0] [--json FILE|-]

A scratch database is seeded, and each client keeps one page open in a browser's place: the
overview, the list of runs, the inbox or the page of a waiting run, each for the number in the
menu, too. All are different people, as far as there are any: approvers have the inbox open;
operators, auditors and administrators in turn the other pages. They ask as the page tells them to
(`data-live`), with the ETag of the answer before. They ask when they are due, in the server's
process: the queries of so many seconds are counted, and the time spent on them is measured. The
first half of the time is not counted. `--changes`: so many times a second the title of the newest
run changes and the audit log tells of it. `--working`: so many runs are driven; the lease of each
beats every ten seconds, and tells what its holder does.

JSON: {"changes", "working", "clients", "seconds", "requests", "unchanged", "queries",
"queries_per_second", "busy_ms_per_second", "regions": [{"name", "requests", "unchanged",
"queries_each", "median_ms"}]}
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import zip_longest
from pathlib import Path
from typing import Any
from uuid import UUID

import django

from signalbox.embedded import places, services

BEAT = 10
"""Seconds between two beats of one lease."""
LIVE = re.compile(r'data-live="(\d+)" hx-get="([^"]+)"')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--changes", type=float, default=0.0, metavar="PER_SECOND")
    parser.add_argument("--working", type=int, default=0, metavar="RUNS")
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--json", default="", metavar="FILE|-")
    options = parser.parse_args()
    with services.scratch() as state:
        os.environ |= places.environment(state) | {"LOG_LEVEL": "ERROR"}
        for command in (["migrate", "--verbosity", "0"], ["seed", "--runs", str(options.runs)]):
            subprocess.run([sys.executable, "manage.py", *command], check=True)  # noqa: S603 (our own program)
        result = measure(options.clients, options.seconds, options.changes, options.working)
    line = json.dumps(result)
    if options.json and options.json != "-":
        Path(options.json).write_text(line + "\n")
    sys.stdout.write(line + "\n")


@dataclass(order=True, slots=True)
class Region:
    """A live region of one client's page, and when it asks next."""

    due: float
    number: int
    name: str = field(compare=False)
    url: str = field(compare=False)
    every: int = field(compare=False)
    client: Any = field(compare=False)
    etag: str = field(compare=False, default="")


@dataclass(slots=True)
class Tally:
    requests: int = 0
    unchanged: int = 0
    queries: int = 0
    took: list[float] = field(default_factory=list)


def measure(
    clients: int, seconds: float, changes: float = 0.0, working: int = 0
) -> dict[str, object]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "signalbox.seed.settings")
    django.setup()
    from django.conf import settings  # noqa: PLC0415 (only now do models exist)

    settings.ALLOWED_HOSTS = ["testserver"]
    waiting = list(_open(clients))
    heapq.heapify(waiting)
    tallies: dict[str, Tally] = {}
    begun, change, beats = time.monotonic(), 0.0, 0
    driven = _driven(working)
    while waiting[0].due <= 2 * seconds:
        region = heapq.heappop(waiting)
        if changes and region.due - change >= 1 / changes:
            change = region.due
            _change(f"changed after {change:.1f} seconds")
        while beats * BEAT < region.due * len(driven):
            _beat(driven[beats % len(driven)], beats)
            beats += 1
        time.sleep(max(0.0, region.due - (time.monotonic() - begun)))
        # The first half brings every region to the answer that it then finds unchanged.
        tally = tallies.setdefault(region.name, Tally()) if region.due > seconds else Tally()
        _ask(region, tally)
        region.due += region.every
        heapq.heappush(waiting, region)
    return {"changes": changes, "working": working} | _result(clients, seconds, tallies)


def _open(clients: int) -> Iterator[Region]:
    """The regions of the pages that the clients have open, spread over time."""
    from django.test import Client  # noqa: PLC0415
    from django.urls import reverse  # noqa: PLC0415

    from accounts.models import User  # noqa: PLC0415
    from runs.models import Run  # noqa: PLC0415

    run = Run.objects.filter(status="waiting").order_by("-created_at")[0]
    pages = {
        "overview": reverse("overview"),
        "runs": reverse("runs:list"),
        "inbox": reverse("approvals:inbox"),
        "run": reverse("runs:run", args=[run.pk]),
    }
    people = {
        name: list(User.objects.filter(groups__name=name).order_by("pk")[:clients])
        for name in ("operator", "auditor", "admin", "approver")
    }
    watch = [each for turn in zip_longest(*list(people.values())[:3]) for each in turn if each]
    for number in range(clients):
        name, address = list(pages.items())[number % len(pages)]
        client = Client()
        may = people["approver"] if name == "inbox" else watch
        client.force_login(may[number % len(may)])
        for place, (every, url) in enumerate(LIVE.findall(client.get(address).text)):
            what = "menu" if url == reverse("waiting") else name
            start = int(every) * (number + 1) / clients
            url = url.replace("&amp;", "&")
            yield Region(start, number * 10 + place, what, url, int(every), client)


def _driven(many: int) -> list[UUID]:
    """So many runs, each of which a worker drives."""
    from runs.models import Lease, Run  # noqa: PLC0415

    queued = Run.objects.filter(status="waiting").order_by("-created_at").values_list("pk")
    driven = [pk for (pk,) in queued[1 : many + 1]]
    Run.objects.filter(pk__in=driven).update(status="running")
    Lease.objects.filter(pk__in=driven).update(holder="worker@here:1", fence=9)
    for run_id in driven:
        _beat(run_id, 0)
    return driven


def _beat(run_id: UUID, number: int) -> None:
    from django.db.models.functions import Now  # noqa: PLC0415

    from runs.models import Lease  # noqa: PLC0415

    ends = Now() + timedelta(seconds=30)
    told = {"renewed_at": Now(), "progress_at": Now(), "progress_note": f"page {number}"}
    Lease.objects.filter(pk=run_id).update(expires_at=ends, **told)


def _change(title: str) -> None:
    from accounts.actors import Actor  # noqa: PLC0415
    from audit import trail  # noqa: PLC0415
    from runs.models import Run  # noqa: PLC0415

    run = Run.objects.order_by("-created_at")[0]
    Run.objects.filter(pk=run.pk).update(title=title)
    trail.record(
        "run.retried", actor=Actor.system("benchmark"), target=("run", str(run.pk)), run_id=run.pk
    )


def _ask(region: Region, tally: Tally) -> None:
    from django.db import connection, reset_queries  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    headers = {"HX-Request": "true"} | ({"If-None-Match": region.etag} if region.etag else {})
    reset_queries()  # the log takes only so many
    with CaptureQueriesContext(connection) as seen:
        started = time.perf_counter()
        answer = region.client.get(region.url, headers=headers)
        tally.took.append((time.perf_counter() - started) * 1000)
    if answer.status_code not in (200, 304):
        raise SystemExit(f"{region.url} answered {answer.status_code}")
    region.etag = answer.headers.get("ETag", region.etag)
    tally.requests += 1
    tally.unchanged += answer.status_code == 304
    tally.queries += len(seen)


def _result(clients: int, seconds: float, tallies: dict[str, Tally]) -> dict[str, object]:
    every = tallies.values()
    queries = sum(tally.queries for tally in every)
    return {
        "clients": clients,
        "seconds": seconds,
        "requests": sum(tally.requests for tally in every),
        "unchanged": sum(tally.unchanged for tally in every),
        "queries": queries,
        "queries_per_second": round(queries / seconds, 1),
        "busy_ms_per_second": round(sum(sum(tally.took) for tally in every) / seconds, 1),
        "regions": [
            {
                "name": name,
                "requests": tally.requests,
                "unchanged": tally.unchanged,
                "queries_each": round(tally.queries / tally.requests, 1),
                "median_ms": round(statistics.median(tally.took), 1),
            }
            for name, tally in sorted(tallies.items())
        ],
    }


if __name__ == "__main__":
    main()
