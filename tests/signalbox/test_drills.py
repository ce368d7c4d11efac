"""The command `drill` is what strangers run to believe us: its words, its statuses, and that it
finds nothing here. That it finds what is broken was tried by breaking it: see docs/drills.md.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from signalbox.drills import arming, catalogue
from signalbox.drills.report import Report, Row

ROOT = Path(__file__).resolve().parents[2]
KEYS = {
    "name",
    "class",
    "trials",
    "effects_outside",
    "effects_expected",
    "requests_received",
    "questions_asked",
    "questions_expected",
    "violations",
}


def drill(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end, as somebody in a terminal would, on services of its own."""
    clean = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return subprocess.run(  # noqa: S603 (our own command)
        [sys.executable, "manage.py", "drill", *arguments],
        cwd=ROOT,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


@pytest.mark.chaos
def test_killed_and_frozen_workers_violate_nothing():
    names = ("after-call", "between-questions", "frozen-outside", "same-decision-twenty-times")
    said = drill("--trials", "1", "--json", "-", *(f"--only={name}" for name in names))

    assert said.returncode == 0, said.stdout + said.stderr
    told = json.loads(said.stdout.splitlines()[-1])
    assert told["violations"] == 0
    assert {(row["name"], row["class"]) for row in told["drills"]} == {
        (name, guard) for name in names for guard in ("PROVIDER", "LOOKUP", "LEDGER")
    }
    for row in told["drills"]:
        assert row.keys() == KEYS
        assert row["trials"] == 1
        assert row["violations"] == []
        assert row["effects_outside"] == row["effects_expected"] == 1
        assert row["questions_asked"] == row["questions_expected"]
        assert row["requests_received"] >= row["effects_outside"]
    assert said.stderr == "", "progress is for terminals"


def test_the_list_names_every_drill():
    said = drill("--list")
    assert said.returncode == 0
    for each in catalogue.DRILLS:
        assert each.name in said.stdout
        assert each.safeguard in said.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--only", "after-cal"], "Did you mean after-call?"),
        (["--trials", "0"], "not a number from 1"),
    ],
)
def test_wrong_usage_is_told_and_has_its_own_status(arguments, told):
    said = drill(*arguments)
    assert said.returncode == 2
    assert told in said.stderr
    assert said.stdout == ""


def test_a_report_is_read_as_it_was_written():
    row = Row(name="after-call", guard="LEDGER", trials=2, violations=["trial 1: twice"])
    report = Report(rows=[row], audit=["a seal is gone"], seed=7)

    assert Report.read(json.dumps(report.told())) == report
    assert report.violations == 2
    lines = list(report.lines())
    assert "after-call LEDGER trial 1: twice" in lines
    assert lines[-1] == "2 violations."


def test_each_drill_has_a_name_of_its_own():
    names = [each.name for each in catalogue.DRILLS]
    assert len(set(names)) == len(names)


def test_an_armed_line_acts_once_and_in_turn(tmp_path):
    arming.prepare(tmp_path)
    run_id = uuid4()
    arming.arm(tmp_path, run_id, "node.refund", "pass", "raise")
    arming.arm(tmp_path, run_id, "saver.put", "pass")
    assert arming.armed(tmp_path, run_id) == ["node.refund", "saver.put"]

    arming.obey(tmp_path, "node.refund", str(run_id))
    with pytest.raises(ConnectionError):
        arming.obey(tmp_path, "node.refund", str(run_id))
    arming.obey(tmp_path, "node.refund", str(run_id))

    assert arming.armed(tmp_path, run_id) == ["saver.put"]
