"""The file that tells everything of a run, held against its published schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import jsonschema
import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client

from accounts.actors import Actor
from audit import trail
from audit.models import Entry
from ledger.models import Message
from runs.models import Attempt, Intervention, Run
from runs.status import Outcome
from runs.trace import export
from tests.ledger.rows import effect
from tests.runs.trace.conftest import text, url
from tests.support import standing as make
from tests.support import wavering
from tests.support.people import person

SCHEMA = json.loads((settings.BASE_DIR / "docs" / "run-export.schema.json").read_text())
SECTIONS = [
    *("attempts", "interventions", "erasures", "checkpoints", "state", "events"),
    *("effects", "drifts", "incidents", "outbox", "requests", "audit"),
]


def document(client: Client, run: Run, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text(client, url(run, "export") + query))
    jsonschema.Draft202012Validator(
        SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    ).validate(found)
    return found


@pytest.mark.race
def test_a_driven_run_with_a_killed_worker_is_told_whole(client, killed) -> None:
    run = killed("wavering", answered=True)
    Message.objects.create(
        run=run, destination="crm", dedupe="1", payload={"email": wavering.SECRET, "n": 1}
    )
    client.force_login(person("Rut"))
    found = document(client, run)
    assert list(found)[7:] == SECTIONS
    assert [each["outcome"] for each in found["attempts"]] == ["lost", "waited", "finished"]
    assert [each["ran"] for each in found["checkpoints"]] == [
        *("", "input", "plan", "settle", "gate", "close")
    ]
    assert [each["attempt"] for each in found["checkpoints"]] == [1, 1, 1, 2, 3, 3]
    assert len(found["effects"]) == 2
    assert sum(len(each["calls"]) for each in found["effects"]) == 3
    assert found["drifts"][0]["before"] == found["effects"][0]["id"]
    (asked,) = found["requests"]
    assert (asked["decision"]["verdict"], len(asked["votes"])) == ("approved", 1)
    assert found["outbox"][0]["payload"] == {"email": "hidden (email)", "n": 1}
    assert found["state"]["values"]["log"][-1] == "closed"
    assert found["run"]["output"]["email"] == "hidden (email)"
    assert "run.finished" in [each["verb"] for each in found["audit"]]
    assert found["left_out"] == {}
    assert document(client, run)["audit"][-1]["verb"] == "run.exported"


@pytest.mark.race
def test_nothing_hidden_is_in_the_file_unless_somebody_permitted_asks(client, killed) -> None:
    run = killed("wavering")
    Attempt.objects.filter(run=run, fence=1).update(error_class="E", error=f"for {wavering.SECRET}")
    client.force_login(person("Cy"))
    assert wavering.SECRET not in json.dumps(document(client, run))
    assert client.get(url(run, "export") + "?reveal=1").status_code == 403
    client.force_login(person("Rut"))
    assert wavering.SECRET not in json.dumps(document(client, run))
    assert wavering.SECRET in json.dumps(document(client, run, "?reveal=1"))


@pytest.mark.django_db(transaction=True)
def test_a_reader_gets_what_the_pages_would_show_and_is_told_what_is_missing(client) -> None:
    run = make.stuck()
    client.force_login(person("Ada"))
    assert document(client, run)["left_out"] == {"audit": "You see only what you did yourself."}
    user = person("Eve")
    user.user_permissions.set(_permissions("view_run", "view_every_run"))
    client.force_login(user)
    found = document(client, run)
    assert found["effects"] is found["drifts"] is found["outbox"] is found["requests"] is None
    assert found["left_out"]["outbox"] == "You may not see the outbox."
    client.force_login(person("Dee"))
    assert client.get(url(run, "export")).status_code == 403


@pytest.mark.django_db(transaction=True)
def test_handing_it_out_is_recorded(client) -> None:
    run = make.stuck()
    client.force_login(ada := person("Ada"))
    size = len(text(client, url(run, "export")).encode())
    entry = Entry.objects.get(verb="run.exported")
    assert (entry.run_id, entry.actor_id) == (run.pk, str(ada.pk))
    assert entry.data == {"format": export.FORMAT, "bytes": size, "masked": True}


@pytest.mark.django_db(transaction=True)
def test_it_is_a_file_that_a_browser_never_runs(client) -> None:
    run = make.stuck(title="A right-to-left \u202e title")
    client.force_login(person("Ada"))
    response = client.get(url(run, "export"))
    assert response["Content-Disposition"] == f'attachment; filename="run-{run.pk}.json"'
    assert response["Content-Type"].startswith("application/json")
    assert response["X-Content-Type-Options"] == "nosniff"
    raw = b"".join(response).decode()
    assert r"\u202e" in raw
    assert "\u202e" not in raw


@pytest.mark.django_db(transaction=True)
def test_times_are_in_utc_and_the_order_is_always_the_same(client) -> None:
    run = make.running()
    for number in range(12):
        make.checkpoint(run, number, at=make.ago(minutes=20 - number), updated=["branch:to:n"])
    client.force_login(person("Ada"))
    first, second = document(client, run), document(client, run)
    assert [each["step"] for each in first["checkpoints"]] == list(range(-1, 11))
    at = first["attempts"][0]["started_at"]
    assert at.endswith("Z")
    assert datetime.fromisoformat(at) == Attempt.objects.get(run=run).started_at
    for name in set(SECTIONS) - {"audit"}:
        assert first[name] == second[name], name


@pytest.mark.django_db(transaction=True)
def test_pages_of_checkpoints_join_without_a_gap(client, monkeypatch) -> None:
    monkeypatch.setattr(export, "PAGE", 5)
    run = make.running()
    for number in range(12):
        at = make.ago(minutes=20 - number)
        make.checkpoint(run, number, at=at, updated=[f"branch:to:n{number}"])
    client.force_login(person("Ada"))
    rows = document(client, run)["checkpoints"]
    assert [each["step"] for each in rows] == list(range(-1, 11))
    assert [each["ran"] for each in rows] == ["", *(f"n{number}" for number in range(11))]


@pytest.mark.django_db(transaction=True)
def test_all_of_it_is_as_of_one_moment(client, monkeypatch) -> None:
    """Everything happens to the run while the fourth section is read."""
    run = make.running()
    tip = make.checkpoint(run, 0, at=make.ago(minutes=2), updated=["branch:to:n"])
    client.force_login(person("Rut"))
    before = document(client, run)
    checkpoints = export._checkpoints

    def meanwhile(run: Run) -> Iterator[export.Row]:
        elsewhere(lambda: change(run, tip))
        yield from checkpoints(run)

    monkeypatch.setattr(export, "_checkpoints", meanwhile)
    found = document(client, run)
    assert Run.objects.get(pk=run.pk).title == "Changed"
    assert "run.retried" not in [each["verb"] for each in found["audit"]]
    assert {name: found[name] for name in (*SECTIONS, "run") if name != "audit"} == {
        name: before[name] for name in (*SECTIONS, "run") if name != "audit"
    }


def elsewhere(act: Callable[[], object]) -> None:
    """Do it on another connection, and commit it."""

    def work() -> None:
        try:
            act()
        finally:
            connection.close()

    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(work).result(20)


def change(run: Run, tip: str) -> None:
    Run.objects.filter(pk=run.pk).update(title="Changed")
    make.attempt(run, 2, outcome=Outcome.RAISED)
    Intervention.objects.create(run=run, kind="retry", label="Ada", reason="Again.")
    trail.record("run.retried", actor=Actor.command("test"), target=("run", "x"), run_id=run.pk)
    make.write(run, tip, "task", "~__pregel_pull, n")
    make.checkpoint(run, 1, at=make.ago(seconds=1), updated=["branch:to:m"])
    effect(run)
    Message.objects.create(run=run, destination="crm", dedupe="1", payload={})


def _permissions(*names: str) -> Any:
    return Permission.objects.filter(codename__in=names)
