"""A worker of Celery is killed, and the page of its run says who held it and who took over."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings as given
from django.db import connection
from playwright.sync_api import Locator, Page, expect

from accounts.actors import Actor
from runs import admission, checkpoints, registry, sweeper
from runs.models import Worker
from tests.pages.conftest import PATIENCE
from tests.support import flush
from tests.support.people import person
from tests.support.processes import until

pytestmark = [pytest.mark.page, pytest.mark.race, pytest.mark.django_db(transaction=True)]
AGENT = {"name": "patient", "graph": "x.y", "version": "1", "title": "Count the stock"}
Start = Callable[[str], "subprocess.Popen[bytes]"]


@pytest.fixture(scope="session", autouse=True)
def pools_end(django_db_setup: None) -> Iterator[None]:
    yield
    checkpoints.close()


@pytest.fixture
def busy(tmp_path: Path) -> Path:
    """As long as this file is there, the agent is at work."""
    path = tmp_path / "busy"
    path.touch()
    return path


@pytest.fixture
def started(settings, busy: Path) -> Iterator[Start]:
    """Start a worker of this name, and wait until it can be asked."""
    settings.RUNS_AGENTS = [AGENT]
    settings.RUNS_LEASE = timedelta(seconds=3)
    settings.RUNS_SWEEP_RULES = []
    registry.declarations.cache_clear()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.support.patient",
        "PATIENT_DATABASE": str(connection.settings_dict["NAME"]),
        "PATIENT_UNTIL_GONE": str(busy),
    }
    line = ("-m", "celery", "-A", "signalbox", "worker", "-Q", "runs", "--pool", "solo", "-n")
    with ExitStack() as stack:

        def start(name: str) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(  # noqa: S603 (our own command)
                [sys.executable, *line, f"{name}@here"],
                env=environment,
                cwd=given.BASE_DIR,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            until(lambda: Worker.objects.filter(name=f"{name}@here").exists(), within=60)
            return process

        yield start
    flush.empty()


def test_the_page_of_a_run_tells_of_its_killed_worker_and_who_took_over(
    page: Page, signed_in, started: Start, busy: Path
) -> None:
    """The page stays open all the while, and keeps itself up to date."""
    signed_in(page, person("Ada", last_name="Marsh"))
    first = started("first")
    run = admission.start("patient", {}, actor=Actor.command("test"))
    page.goto(f"/runs/{run.pk}/")
    events = page.get_by_role("table", name="What happened, in order")
    badges = page.get_by_role("heading", level=1).locator("..")
    sees(events, "first@here", "begin finished")
    first.kill()
    first.wait()
    sees(badges, "Stuck")
    started("second")
    busy.unlink()
    until(sweeper.find_due)
    sweeper.sweep()  # as beat has it done
    sees(badges, "Succeeded")
    rows = events.get_by_role("row")
    sees(rows.filter(has_text="Lost"), "last heartbeat", "its lease ran out")
    sees(rows.filter(has_text=re.compile(r"second@here\S* took the lease")), "fence 2 · taken over")
    lease = page.locator(".timeline .lease svg")
    sees(lease, "Fence 1, first@here", "no sign of the worker, whose lease has not run out yet")
    sees(lease, "nobody drives: the worker was lost", "Fence 2, second@here")
    expect(lease.locator("use[href='#lost']")).to_have_count(1)


def sees(place: Locator, *texts: str) -> None:
    for text in texts:
        expect(place).to_contain_text(text, timeout=PATIENCE)
