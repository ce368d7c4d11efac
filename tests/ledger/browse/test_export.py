"""Exports of the ledger: what is in them, for whom, and that a stranger can check them."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection

from accounts.actors import Actor
from accounts.errors import NotPermitted
from audit import canonical, signing
from audit.exports import verify_export
from audit.models import Entry
from ledger.browse import exporting
from ledger.browse.filters import Filters
from ledger.browse.listing import Listing
from ledger.errors import SearchTooSlow
from ledger.models import Effect, Incident, Look
from tests.ledger.browse.test_search import allowed
from tests.ledger.conftest import make_run
from tests.ledger.rows import call, effect
from tests.support.people import person
from tests.support.web import html_of, text_of

LINES = {"format": "jsonl"}


@pytest.fixture
def as_cy(client):
    client.force_login(person("Cy"))
    return client


def handed_out(response: Any, tmp_path: Path) -> tuple[Path, dict[str, Any], bytes]:
    """The file as it was saved, its manifest, and its rows."""
    assert response.status_code == 200, text_of(response)
    path = tmp_path / "export.zip"
    path.write_bytes(b"".join(response.streaming_content))
    response.close()
    with zipfile.ZipFile(path) as bundle:
        manifest = json.loads(bundle.read("manifest.json"))
        return path, manifest, bundle.read(manifest["file"]["name"])


def rows(response: Any, tmp_path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in handed_out(response, tmp_path)[2].splitlines()]


def test_what_the_filters_find_is_handed_out_with_all_that_belongs_to_it(as_cy, tmp_path):
    one = effect(args={"order_id": "10382", "email": "eve@example.org"}, provider_ref="re_1")
    call(one, provider_ref="re_1", http_status=201, response={"to": "eve@example.org"})
    Look.objects.create(
        effect=one, provider_key=one.provider_key, attempt=1, answer="found", counts=True
    )
    Incident.objects.create(kind="duplicate", run=one.run, effect=one, facts={"second": "re_2"})
    allowed(one, person("Bea"), person("Ben"))
    effect(args={"order_id": "other"})

    response = as_cy.post("/ledger/export/?q=10382&status=sent", LINES)
    path, manifest, lines = handed_out(response, tmp_path)
    (row,) = [json.loads(line) for line in lines.splitlines()]
    assert (row["effect"], row["key"], row["tool"]) == (
        str(one.uid),
        one.idempotency_key,
        "payments.refund",
    )
    assert row["allowed_by"] == "Bea, Ben"
    assert row["args"] == {"order_id": "10382", "email": "hidden (email)"}
    assert row["calls"][0]["http_status"] == 201
    assert row["calls"][0]["response"] == {"to": "hidden (email)"}
    assert row["looks"][0]["answer"] == "found"
    assert row["incidents"][0]["kind"] == "duplicate"
    assert manifest["filters"] == {"status": "sent", "text": "10382", "hidden_values": "hidden"}
    assert manifest["by"]["label"] == "Cy"
    told = Entry.objects.get(verb="export.made")
    assert (told.actor_label, told.data["file"]["rows"]) == ("Cy", 1)

    done = subprocess.run(  # noqa: S603 (our own script)
        [sys.executable, "-I", verify_export.__file__, str(path), signing.own().text],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_spreadsheet_gets_a_row_for_each_effect_and_no_formula(as_cy, tmp_path):
    effect(provider_ref="=cmd()", args={"n": 1})
    effect(args={"n": 2})
    _, _, text = handed_out(as_cy.post("/ledger/export/", {"format": "csv"}), tmp_path)
    first, second = csv.DictReader(io.StringIO(text.decode()))
    assert [json.loads(row["args"])["n"] for row in (first, second)] == [2, 1]
    assert second["provider_ref"] == "'=cmd()"


def test_every_page_of_rows_is_handed_out_once(as_cy, tmp_path, monkeypatch):
    monkeypatch.setattr(exporting, "PAGE", 2)
    made = [effect(args={"n": n}) for n in range(5)]
    Effect.objects.update(created_at=made[0].created_at)
    found = rows(as_cy.post("/ledger/export/", LINES), tmp_path)
    assert [row["args"]["n"] for row in found] == [4, 3, 2, 1, 0]


@pytest.mark.parametrize("name", ["Ada", "Ben"])
def test_who_may_not_export_gets_nothing_and_is_recorded(client, name):
    client.force_login(person(name))
    effect()
    assert "/ledger/export/" not in html_of(client.get("/ledger/"))
    assert client.get("/ledger/export/").status_code == 403
    assert client.post("/ledger/export/", LINES).status_code == 403
    refused = Entry.objects.get(verb="export.refused")
    assert (refused.actor_label, refused.allowed) == (name, False)
    assert not Entry.objects.filter(verb="export.made").exists()


def test_hidden_values_need_their_own_right_and_a_reason_and_are_recorded(client, tmp_path):
    effect(args={"email": "eve@example.org"})
    rut = person("Rut")
    client.force_login(rut)
    assert "With hidden values" in text_of(client.get("/ledger/export/"))
    without = client.post("/ledger/export/", LINES | {"unmasked": "on", "reason": " "})
    assert without.status_code == 422
    assert "A reason is required" in text_of(without)
    assert not Entry.objects.filter(verb="export.made").exists()

    sent = LINES | {"unmasked": "on", "reason": "Court order 7."}
    response = client.post("/ledger/export/", sent)
    _, manifest, lines = handed_out(response, tmp_path)
    assert b"eve@example.org" in lines
    assert manifest["filters"] == {"hidden_values": "shown"}
    looked = Entry.objects.get(verb="payload.viewed")
    assert (looked.actor_label, looked.reason) == ("Rut", "Court order 7.")
    assert looked.target_id == manifest["id"]


def test_an_auditor_cannot_ask_for_hidden_values(as_cy, tmp_path):
    effect(args={"email": "eve@example.org"})
    assert "With hidden values" not in text_of(as_cy.get("/ledger/export/"))
    sent = LINES | {"unmasked": "on", "reason": "I want it."}
    assert rows(as_cy.post("/ledger/export/", sent), tmp_path)[0]["args"]["email"] == (
        "hidden (email)"
    )


def test_effects_of_runs_that_somebody_may_not_see_are_not_handed_out(client, tmp_path):
    effect(args={"n": 1})
    dee = person("Dee")
    for name in ("view_effect", "export_effect"):
        dee.user_permissions.add(Permission.objects.get(codename=name))
    client.force_login(dee)
    assert rows(client.post("/ledger/export/", LINES), tmp_path) == []


def test_filters_that_cannot_be_used_export_nothing(as_cy):
    effect()
    for method in (as_cy.get, as_cy.post):
        response = method("/ledger/export/?where=nonsense")
        assert response.status_code == 422
        assert "Write conditions such as" in text_of(response)
    response = as_cy.post("/ledger/export/", {"format": "exe"})
    assert response.status_code == 422


def test_an_export_that_takes_too_long_is_given_up_in_words(as_cy, monkeypatch):
    def page(*_: object, **__: object) -> list[Effect]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(5)")
        return []

    monkeypatch.setattr(Listing, "page", page)
    monkeypatch.setattr(exporting, "PATIENT", 0.05)
    response = as_cy.post("/ledger/export/?q=refund", LINES)
    assert response.status_code == SearchTooSlow.http_status
    assert "Name a time, a tool or a run as well" in text_of(response)
    assert not Entry.objects.filter(verb__startswith="export.").exists()


def test_memory_does_not_grow_with_the_number_of_effects(db, monkeypatch):
    monkeypatch.setattr(exporting, "PAGE", 100)
    run, cy = make_run(), person("Cy")
    args = {"text": "x" * 2000}
    Effect.objects.bulk_create(
        Effect(
            run=run,
            idempotency_key=f"k{n}",
            step="a@1",
            tool="pay",
            fence=1,
            args=args,
            args_hash=canonical.digest(args),
        )
        for n in range(2000)
    )
    tracemalloc.start()
    count = sum(1 for _ in exporting.rows(Filters(), cy))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 2000
    assert peak < 2_500_000  # all of them are 4 MB of text alone


def test_hidden_values_are_refused_to_whoever_calls_without_the_right(db):
    cy = person("Cy")
    wanted = exporting.Wanted(filters=Filters(), format="jsonl", unmasked=True, reason="I want it.")
    with pytest.raises(NotPermitted):
        exporting.export(wanted, user=cy, actor=Actor.person(cy, entry="page"))
    assert not Entry.objects.filter(verb="payload.viewed").exists()
