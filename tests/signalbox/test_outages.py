"""The broker and the database really stop, and pages say what that means."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from psycopg import errors as pg

from signalbox import outages
from signalbox.embedded import places, services


@pytest.fixture(scope="module")
def seen() -> dict[str, Any]:
    """What a web process saw while its services were taken away one after the other."""
    with services.scratch() as state:
        said = subprocess.run(
            [sys.executable, "-m", "tests.signalbox.outages_process"],
            env=os.environ
            | places.environment(state)
            | {"SIGNALBOX_DEMO": "1", "ALLOWED_HOSTS": "testserver"},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert said.returncode == 0, said.stderr[-4000:]
    found: dict[str, Any] = json.loads(said.stdout.strip().rpartition("\n")[2])
    return found


def test_without_a_broker_pages_are_quick_and_say_that_runs_wait(seen) -> None:
    assert seen["before"] == 200
    for page in ("broker overview", "broker workers"):
        assert "Broker: cannot be reached" in seen[page]
        assert "Runs are accepted and kept" in seen[page]
    assert seen["broker seconds"] < 5, "nobody waits for a broker that is away"


def test_without_a_broker_a_run_is_accepted_and_says_what_it_waits_for(seen) -> None:
    assert (seen["broker started"], seen["broker run"]) == (302, "queued")
    assert "The broker is away, so no worker hears of this run. It is kept" in seen["broker page"]


def test_once_the_broker_is_back_nothing_is_said_of_it(seen) -> None:
    assert "Broker" not in seen["broker back"]


def test_without_a_database_there_is_a_page_that_says_so(seen) -> None:
    status, again, page = seen["database page"]
    assert (status, again) == (503, str(outages.AGAIN))
    assert "The database cannot be reached" in page
    assert "Nothing is lost" in page
    assert seen["database posted"] == 503


def test_without_a_database_a_live_region_gets_a_fragment(seen) -> None:
    status, page = seen["database fragment"]
    assert status == 503
    assert "<html" not in page


def test_without_a_database_the_process_is_alive_and_not_ready(seen) -> None:
    assert seen["database probes"] == [503, 200]


def test_once_the_database_is_back_pages_are_as_before(seen) -> None:
    assert seen["database back"] == 200


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "away"),
    [
        (OperationalError("connection refused"), True),
        (InterfaceError("connection is closed"), True),
        (caused(OperationalError(), pg.AdminShutdown()), True),
        (caused(OperationalError(), pg.TooManyConnections()), True),
        (caused(OperationalError(), pg.LockNotAvailable()), False),
        (caused(OperationalError(), pg.QueryCanceled()), False),
        (caused(OperationalError(), pg.DeadlockDetected()), False),
        (RuntimeError(), False),
        (None, False),
    ],
)
def test_only_a_database_that_cannot_be_reached_is_away(error, away) -> None:
    assert outages.database_away(error) is away
