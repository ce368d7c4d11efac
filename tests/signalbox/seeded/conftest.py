"""A seeded database, for all tests of this folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from signalbox.embedded import places, services

RUNS = 200


@pytest.fixture(scope="session")
def seeded() -> Iterator[Mapping[str, str]]:
    """The environment of processes on a seeded database."""
    with seeding(RUNS, steps=25) as env:
        yield env


@contextmanager
def seeding(runs: int, *, steps: int) -> Iterator[Mapping[str, str]]:
    with services.scratch() as state:
        env = dict(os.environ) | places.environment(state) | {"LOG_LEVEL": "ERROR"}
        env["DJANGO_SETTINGS_MODULE"] = "signalbox.settings"
        run(env, "manage.py", "migrate", "--verbosity", "0")
        said = run(env, "manage.py", "seed", "--runs", str(runs), "--steps", str(steps))
        assert "runs are there." in said.stdout
        yield env


def run(
    env: Mapping[str, str], *line: str, fails: bool = False
) -> subprocess.CompletedProcess[str]:
    """Have Python run this."""
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, *line],
        cwd=settings.BASE_DIR,
        env=dict(env),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert bool(done.returncode) is fails, done.stderr
    return done


def rows(env: Mapping[str, str], statement: str) -> list[tuple[object, ...]]:
    address = places.database_url(Path(env["SIGNALBOX_STATE"]))
    with psycopg.connect(address.replace("postgres://", "postgresql://", 1)) as conn:
        return conn.execute(statement).fetchall()
