"""The command that proves the log."""

from __future__ import annotations

import json

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError

from audit import seal, verify
from audit.models import Seal


@pytest.fixture
def entry(record):
    made = record()
    seal.seal()
    return made


def run(*arguments: str) -> int | str | None:
    try:
        call_command("verify_audit", *arguments)
    except SystemExit as end:
        return end.code
    return 0


def test_an_intact_log_gives_status_0_and_one_json_object(entry, capsys):
    assert run("--json", "-") == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "ok": True,
        "checked": 1,
        "signed": 1,
        "unsealed": 0,
        "anchors": 0,
        "problems": [],
        "head": {"seq": 1, "hash": Seal.objects.get().hash},
    }
    assert err == ""


def test_an_altered_log_gives_status_1_and_names_the_entry(entry, tamper, capsys):
    tamper("UPDATE audit_entry SET reason = 'because' WHERE id = %s", entry.id)
    assert run("--json", "-") == 1
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["ok"] is False
    assert result["problems"] == [
        {
            "kind": "altered",
            "what": f"Entry {entry.id} does not say what it said when it was recorded.",
            "entry_id": entry.id,
            "seq": 1,
        }
    ]


def test_with_a_file_it_says_in_words_what_it_found(entry, tamper, capsys, tmp_path):
    tamper("UPDATE audit_entry SET reason = 'because' WHERE id = %s", entry.id)
    assert run("--json", str(tmp_path / "result.json")) == 1
    assert json.loads((tmp_path / "result.json").read_text())["checked"] == 1
    out = capsys.readouterr().out
    assert f"Entry {entry.id} does not say" in out
    assert "is NOT intact" in out


def test_the_head_it_prints_can_be_handed_in_again(entry, tamper, capsys):
    assert run() == 0
    noted = capsys.readouterr().out.split("--noted ")[1].strip()
    assert run("--noted", noted) == 0
    tamper("DELETE FROM audit_seal")
    assert run("--noted", noted) == 1
    assert "was noted" in capsys.readouterr().out


@pytest.mark.parametrize("noted", ["1", "x:1", "1:abc"])
def test_a_head_that_is_none_is_refused(noted):
    with pytest.raises(CommandError, match="SEQ:HASH"):
        call_command("verify_audit", "--noted", noted)


def test_a_file_that_cannot_be_written_is_named(entry, tmp_path):
    with pytest.raises(CommandError, match=r"result\.json cannot be written: No such") as said:
        call_command("verify_audit", "--json", str(tmp_path / "none" / "result.json"))
    assert said.value.returncode == 2


def test_a_database_that_does_not_answer_gives_one_line(monkeypatch):
    def fails(*arguments, **options):
        raise DatabaseError("connection refused\nIs the server running?")

    monkeypatch.setattr(verify, "verify", fails)
    with pytest.raises(CommandError) as refusal:
        call_command("verify_audit")
    assert "\n" not in str(refusal.value)
    assert "connection refused. Check DATABASE_URL" in str(refusal.value)
