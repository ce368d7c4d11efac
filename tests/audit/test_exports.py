"""Exports: what a stranger gets, and what the script says that he runs on it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tracemalloc
import uuid
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command

from accounts.actors import Actor
from accounts.errors import NotPermitted
from audit import canonical, exports, hidden, queries, seal, signing
from audit.errors import NoSigningKey
from audit.exports import entries, verify_export
from audit.models import Entry
from tests.support.people import person

pytestmark = pytest.mark.django_db(transaction=True)
COMMAND = Actor.command("test")
NUMBERS = [0.1, 1.0, 1e21, 1e-7, 0.00001, 123456789.5, -0.0, 1e300, 5e-324, -2.5e-9, 10**15, -3]
HOSTILE = "\u202e=cmd|' /C calc'!A0 é \U000e0041\n\"x\""


def packed(rows: Any, columns: Any = ("a", "b"), **more: Any) -> exports.Export:
    given: dict[str, Any] = {"about": "Things.", "filters": {"a": 1}, "actor": COMMAND} | more
    return exports.package("things", rows, columns=columns, **given)


def saved(made: exports.Export, tmp_path):
    path = tmp_path / made.name
    path.write_bytes(made.file.read())
    made.file.close()
    return path


def script(path, *keys: str) -> tuple[int, str]:
    """Run it as a stranger does: the one file, isolated, without our code in reach."""
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-I", verify_export.__file__, str(path), *keys],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def remade(path, **members: bytes):
    """The same .zip with these members replaced; dots in names are written as `__`."""
    wanted = {name.replace("__", "."): data for name, data in members.items()}
    with zipfile.ZipFile(path) as old:
        kept = {name: old.read(name) for name in old.namelist()}
    assert set(wanted) <= set(kept) or "extra.txt" in wanted
    other = path.with_name("other.zip")
    with zipfile.ZipFile(other, "w") as new:
        for name, data in (kept | wanted).items():
            new.writestr(name, data)
    return other


def member(path, name: str) -> bytes:
    with zipfile.ZipFile(path) as bundle:
        return bundle.read(name)


@pytest.fixture
def key() -> str:
    return signing.own().text


@pytest.fixture
def log(record) -> list[int]:
    """Sealed entries with everything in them that JSON writers disagree on."""
    facts = {"numbers": NUMBERS, "é\U0001f600": HOSTILE, "\ufb33": 1, "\U0001f600": 2}
    made = [record(target_id=str(n), reason=HOSTILE, data=facts).id for n in range(5)]
    seal.seal()
    return made


@pytest.fixture
def exported(log, tmp_path):
    return saved(entries.export(queries.Filters(), actor=COMMAND, format="jsonl"), tmp_path)


def test_an_export_says_what_it_is_and_passes_the_strangers_check(key, tmp_path):
    made = packed([{"a": 1, "b": None}, {"a": HOSTILE, "c": "not asked for"}])
    path = saved(made, tmp_path)
    assert member(path, "manifest.json") == canonical.dumps(made.manifest)
    assert made.manifest["what"] == "things"
    assert made.manifest["filters"] == {"a": 1}
    assert made.manifest["by"] == {"label": "command line: test", "entry": "command"}
    assert made.manifest["key_id"] == signing.own().id
    lines = member(path, "things.jsonl").decode().splitlines()
    assert [json.loads(line) for line in lines] == [{"a": 1, "b": None}, {"a": HOSTILE, "b": None}]
    status, says = script(path, key)
    assert (status, says.split(",")[0]) == (0, "Intact: 2 rows")


def test_the_export_is_recorded_with_its_digest_and_filter():
    made = packed([{"a": 1}])
    made.file.close()
    entry = Entry.objects.get(verb="export.made")
    assert entry.target_id == str(made.id) == made.manifest["id"]
    assert entry.data["file"] == made.manifest["file"]
    assert entry.data["filters"] == {"a": 1}
    assert entry.actor_label == "command line: test"


def test_who_may_not_export_gets_nothing_and_it_is_recorded(db):
    ada = Actor.person(person("Ada"), entry="page")
    rows = iter([{"a": 1}])
    with pytest.raises(NotPermitted):
        packed(rows, actor=ada)
    assert list(rows) == [{"a": 1}], "something was read"
    refused = Entry.objects.get(verb="export.refused")
    assert (refused.allowed, refused.actor_label) == (False, "Ada")


def test_who_loses_the_right_while_the_rows_are_read_gets_nothing():
    cy = person("Cy")

    def rows() -> Iterator[dict[str, int]]:
        yield {"a": 1}
        cy.groups.clear()

    with pytest.raises(NotPermitted):
        packed(rows(), actor=Actor.person(cy, entry="page"))
    assert [entry.verb for entry in Entry.objects.all()] == ["export.refused"]


def test_rows_that_fail_halfway_leave_neither_a_file_nor_an_entry():
    def rows() -> Iterator[dict[str, int]]:
        yield {"a": 1}
        raise ValueError("gone")

    with pytest.raises(ValueError, match="gone"):
        packed(rows())
    assert not Entry.objects.exists()


def test_without_a_key_nothing_is_exported(settings):
    settings.AUDIT_SIGNING_KEY = ""
    with pytest.raises(NoSigningKey, match="AUDIT_SIGNING_KEY"):
        packed([{"a": 1}])


def test_entries_of_the_log_pass_with_every_kind_of_number_and_text(exported, key, log):
    status, says = script(exported, key)
    assert status == 0, says
    rows = [json.loads(line) for line in member(exported, "audit-entries.jsonl").splitlines()]
    assert [row["id"] for row in rows] == log
    assert rows[0]["prev"] == seal.GENESIS
    assert rows[0]["reason"] == HOSTILE
    assert rows[0]["data"]["numbers"] == canonical.visible(NUMBERS)


def test_nothing_hidden_is_left_in_the_files(exported):
    text = member(exported, "audit-entries.jsonl").decode()
    assert "\u202e" not in text
    assert "\U000e0041" not in text
    assert r"\u202e" in text


def test_a_part_of_the_log_passes_too(log, key, tmp_path, record):
    record(target_id="unsealed")
    filters = queries.Filters(target_id="3")
    path = saved(entries.export(filters, actor=COMMAND, format="jsonl"), tmp_path)
    assert script(path, key)[0] == 0
    both = saved(entries.export(queries.Filters(), actor=COMMAND, format="jsonl"), tmp_path)
    assert script(both, key)[0] == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"run.started"', b'"run.stopped"'), (b'"id":', b'"id":1'), (b"\n", b"\n\n")],
)
def test_altered_rows_are_found(exported, key, old, new):
    rows = member(exported, "audit-entries.jsonl")
    altered = rows.replace(old, new, 1)
    status, says = script(remade(exported, **{"audit-entries__jsonl": altered}), key)
    assert status == 1
    assert says.startswith("NOT intact.")


def test_removed_rows_are_found(exported, key):
    rows = member(exported, "audit-entries.jsonl").splitlines(keepends=True)
    for fewer in (rows[1:], rows[:-1], [*rows[:2], *rows[3:]], []):
        other = remade(exported, **{"audit-entries__jsonl": b"".join(fewer)})
        assert script(other, key)[0] == 1


def test_an_altered_manifest_signature_or_another_key_is_found(exported, key):
    manifest = member(exported, "manifest.json")
    forged = remade(exported, manifest__json=manifest.replace(b"command line", b"somebody"))
    assert "No key that you gave" in script(forged, key)[1]
    cut = remade(exported, manifest__sig=b"AAAA")
    assert script(cut, key)[0] == 1
    assert script(exported, signing.make()[1].text)[0] == 1
    assert script(exported, signing.make()[1].text, key)[0] == 0


def test_a_second_file_beside_the_rows_is_found(exported, key):
    assert "other files" in script(remade(exported, extra__txt=b"x"), key)[1]


def test_a_forger_with_a_key_of_his_own_names_an_honest_one_in_vain(log, key, tmp_path, settings):
    honest = signing.own()
    settings.AUDIT_SIGNING_KEY, forger = signing.make()
    path = saved(packed([{"a": 1}]), tmp_path)
    assert script(path, forger.text)[0] == 0
    assert script(path, honest.text)[0] == 1


def test_the_script_names_the_entry_when_the_exporter_himself_lied(log, key, tmp_path):
    """Signed by the right key, but the rows are not what was sealed."""
    rows = [dict(row) for row in entries._rows(queries.Filters())]
    rows[2]["reason"] = "because"
    path = saved(packed(rows, entries.COLUMNS["jsonl"]), tmp_path)
    status, says = script(path, key)
    assert status == 1
    assert f"Line 3: entry {log[2]} does not say what it said" in says


def test_what_is_no_export_is_named_as_such(key, tmp_path):
    path = tmp_path / "x.zip"
    path.write_bytes(b"PK no")
    assert "no export that can be read" in script(path, key)[1]
    assert script(tmp_path / "gone.zip", key)[0] == 1


@pytest.mark.parametrize("public_key", ["AAAA", "no key", ""])
def test_what_is_no_public_key_is_named_as_such(log, public_key, tmp_path):
    path = saved(packed([{"a": "1"}]), tmp_path)
    assert "is no public key. Copy all of it." in script(path, public_key)[1]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "\uff1d"])
def test_no_cell_of_a_csv_starts_a_formula(start, tmp_path, key):
    path = saved(packed([{"a": f"{start}1+1", "b": {"x": start}}], format="csv"), tmp_path)
    header, row = csv.reader(io.StringIO(member(path, "things.csv").decode(), newline=""))
    assert header == ["a", "b"]
    assert row[0] == hidden.spelled(f"'{start}1+1")
    assert row[1].startswith("{")
    assert script(path, key)[0] == 0


def test_a_csv_keeps_numbers_times_and_empty_cells_and_spells_hidden_characters(tmp_path):
    at, one = datetime(2026, 1, 2, tzinfo=UTC), uuid.UUID(int=1)
    cells = [-5, Decimal("1.10"), at, one, None, True, HOSTILE]
    made = packed([dict(enumerate(cells))], columns=list(range(7)), format="csv")
    text = member(saved(made, tmp_path), "things.csv").decode()
    row = list(csv.reader(io.StringIO(text, newline="")))[1]
    assert row[:6] == ["-5", "1.10", "2026-01-02T00:00:00+00:00", str(one), "", "true"]
    assert row[6].startswith(r"\u{202E}=cmd")


def test_memory_does_not_grow_with_the_rows():
    rows = ({"a": "x" * 1000, "b": n} for n in range(30_000))
    tracemalloc.start()
    made = packed(rows)
    made.file.close()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    file = made.manifest["file"]
    assert isinstance(file, dict)
    assert file["rows"] == 30_000
    assert peak < 8_000_000


def test_the_command_knows_the_keys_of_this_installation(exported, capsys, settings):
    call_command("verify_export", str(exported), "--json", "-")
    assert json.loads(capsys.readouterr().out)["ok"] is True
    settings.AUDIT_SIGNING_KEY, _ = signing.make()
    with pytest.raises(SystemExit) as end:
        call_command("verify_export", str(exported), "--json", "-")
    assert end.value.code == 1
    assert "the key is another" in json.loads(capsys.readouterr().out)["problem"]


def test_a_former_key_still_counts_and_is_published(exported, capsys, settings):
    former = signing.own()
    settings.AUDIT_SIGNING_KEY, now = signing.make()
    settings.AUDIT_PUBLIC_KEYS = [former.text]
    call_command("verify_export", str(exported))
    assert "intact" in capsys.readouterr().out
    call_command("audit_key", "--json", "-")
    shown = json.loads(capsys.readouterr().out)["keys"]
    assert [(one["id"], one["signs"]) for one in shown] == [(now.id, True), (former.id, False)]


def test_a_new_key_can_be_set_as_it_is_printed(capsys, settings):
    call_command("audit_key", "--new")
    name, _, value = capsys.readouterr().out.strip().partition("=")
    setattr(settings, name, value)
    packed([{"a": 1}]).file.close()


def test_the_list_offers_what_it_shows_as_a_file(client, log, tmp_path, key):
    client.force_login(person("Cy"))
    assert 'action="/audit/export/"' in client.get("/audit/?verb=run").content.decode()
    given = {"format": "jsonl", "verb": "run", "result": "allowed"}
    response = client.post("/audit/export/", given)
    path = tmp_path / "download.zip"
    path.write_bytes(b"".join(response.streaming_content))
    assert "attachment" in response["Content-Disposition"]
    assert len(member(path, "audit-entries.jsonl").splitlines()) == len(log)
    assert script(path, key)[0] == 0
    made = Entry.objects.get(verb="export.made")
    assert made.data["filters"]["allowed"] is True


def test_only_who_may_export_can(client, log):
    client.force_login(person("Ada"))
    assert 'action="/audit/export/"' not in client.get("/audit/").content.decode()
    assert client.post("/audit/export/", {"format": "csv"}).status_code == 403
    assert Entry.objects.filter(verb="export.refused").count() == 1
    assert client.get("/audit/export/").status_code == 405


def test_the_page_of_keys_shows_public_halves_only(client, key, settings):
    client.force_login(person("Cy"))
    html = client.get("/audit/keys/").content.decode()
    assert key in html
    assert settings.AUDIT_SIGNING_KEY not in html


def test_a_signature_of_another_kind_of_statement_does_not_count(tmp_path):
    assert not signing.own().fits({"format": "x"}, signing.sign({"format": "y"}).text)
    assert not signing.own().fits({"format": "x"}, "not base64")
