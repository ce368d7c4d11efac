"""Seeding a database for trials of load: copies are runs like all others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg
import pytest
from django.conf import settings

from signalbox.embedded import places, services

RUNS = 200
GO_ON = """
import django; django.setup()
from accounts.actors import Actor
from accounts.models import User
from approvals import decisions
from approvals.models import Request
from runs import driver
from runs.models import Run
copies = Run.objects.exclude(input__order_id="10382")
for status, how in (("running", "small"), ("waiting", "asked")):
    run = copies.filter(status=status, input__how=how)[0]
    if status == "waiting":
        request = Request.objects.get(run=run)
        finance = User.objects.filter(groups__name="finance").exclude(pk=run.started_by_id)[0]
        actor = Actor.person(finance, entry="page")
        decisions.decide(
            request.pk, actor=actor, verdict="approved", seen_digest=request.digest, token="t"
        )
    print(driver.drive(run.pk, holder="test", cause="test").value)
"""


@pytest.fixture(scope="module")
def seeded() -> Iterator[Mapping[str, str]]:
    """The environment of processes on a seeded database."""
    with services.scratch() as state:
        env = dict(os.environ) | places.environment(state) | {"LOG_LEVEL": "ERROR"}
        env["DJANGO_SETTINGS_MODULE"] = "signalbox.settings"
        command(env, "migrate", "--verbosity", "0")
        said = command(env, "seed", "--runs", str(RUNS), "--steps", "25")
        assert "runs are there." in said.stdout
        yield env


def command(
    env: Mapping[str, str], *line: str, fails: bool = False
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "manage.py", *line],
        cwd=settings.BASE_DIR,
        env=dict(env),
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert bool(done.returncode) is fails, done.stderr
    return done


def count(env: Mapping[str, str], what: str) -> int:
    address = places.database_url(Path(env["SIGNALBOX_STATE"]))
    with psycopg.connect(address.replace("postgres://", "postgresql://", 1)) as conn:
        row = conn.execute(f"SELECT count({what}").fetchone()
    assert row
    return int(row[0])


def test_copies_have_rows_of_their_own_everywhere(seeded):
    assert count(seeded, "*) FROM runs_run") > RUNS
    for table in ("runs_lease", "audit_entry"):
        without = (
            f"*) FROM runs_run r LEFT JOIN {table} x ON x.run_id = r.id WHERE x.run_id IS NULL"
        )
        assert count(seeded, without) == 0
    own = count(seeded, "*) FROM effects WHERE idempotency_key LIKE run_id::text || ':%'")
    assert own == count(seeded, "*) FROM effects") > RUNS
    started = "*) FROM runs_run WHERE first_started_at IS NOT NULL AND status <> 'running'"
    assert count(seeded, "DISTINCT thread_id) FROM checkpoints") == count(seeded, started)
    permitted = count(seeded, "*) FROM effects e JOIN approvals_decision d ON d.id = e.permit")
    assert permitted == count(seeded, "permit) FROM effects")


def test_every_entry_is_sealed(seeded):
    assert count(seeded, "*) FROM audit_seal") > RUNS * 10
    copied = "*) FROM audit_entry e LEFT JOIN audit_seal s ON s.entry_id = e.id WHERE s IS NULL"
    assert count(seeded, f"{copied} AND e.verb = 'person.signed_in'") == 0


def test_a_copy_goes_on_where_its_original_stood(seeded):
    env = dict(seeded) | {"DJANGO_SETTINGS_MODULE": "signalbox.seed.settings"}
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", GO_ON],
        cwd=settings.BASE_DIR,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.stdout.split() == ["finished", "finished"], done.stderr


def test_a_database_with_runs_is_left_alone(seeded):
    said = command(seeded, "seed", fails=True).stderr
    assert said.strip() == "CommandError: The database has runs already. Seed one that is empty."
