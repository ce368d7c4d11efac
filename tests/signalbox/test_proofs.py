"""Who is told of anchors, and who is called when the audit log is not what it was."""

from __future__ import annotations

import json

import pytest
from django.core import checks, mail
from django.db import connection, transaction

from accounts.actors import Actor
from audit import anchors, daily, seal, trail
from audit.errors import AnchorNotWritten
from ledger.models import Message
from ledger.outbox import dispatcher
from signalbox import doctor, proofs
from tests.support import flush
from tests.support.people import person
from tests.support.receiver import receiving
from tests.support.web import text_of

pytestmark = pytest.mark.django_db(transaction=True)
ACTOR = Actor.command("test")


@pytest.fixture(autouse=True)
def outside(settings, tmp_path, monkeypatch):
    settings.AUDIT_ANCHOR_FILE = tmp_path / "anchors.jsonl"
    settings.AUDIT_MAIL = ["notary@example.com"]
    settings.DEFAULT_FROM_EMAIL = "signalbox@example.com"
    monkeypatch.setattr("runs.dispatch.call_now", lambda task: True)


def test_an_anchor_goes_out_by_mail_whole(settings):
    made = anchors.make(actor=ACTOR)
    dispatcher.dispatch()
    (sent,) = mail.outbox
    assert sent.to == ["notary@example.com"]
    line = json.loads(sent.body.splitlines()[-1])
    assert (line["seq"], line["signature"]) == (0, made.signature)
    assert anchors.read(settings.AUDIT_ANCHOR_FILE) == [made]


def test_an_anchor_that_is_not_made_is_not_mailed(settings, tmp_path):
    settings.AUDIT_ANCHOR_FILE = tmp_path
    with pytest.raises(AnchorNotWritten):
        anchors.make(actor=ACTOR)
    assert not Message.objects.exists()


def test_an_alarm_calls_who_reads_the_log_and_the_addresses_once_a_day():
    person("Cy")
    person("Ada")
    for _ in range(2):
        with transaction.atomic():
            proofs.alarm(["Entry 7 is gone.", "Entry 8 is gone."])
    dispatcher.dispatch()
    assert sorted(sent.to[0] for sent in mail.outbox) == ["cy@example.com", "notary@example.com"]
    assert "- Entry 8 is gone." in mail.outbox[0].body
    assert "/audit/?verb=log" in mail.outbox[0].body
    assert "NOT intact" in mail.outbox[0].subject


def test_the_webhook_gets_the_same_as_json(settings):
    with receiving() as receiver:
        settings.LEDGER_WEBHOOKS = {"notary": receiver.url}
        settings.AUDIT_WEBHOOK = "notary"
        made = anchors.make(actor=ACTOR)
        dispatcher.dispatch()
        bodies = [got.body for got in receiver.got]
    assert bodies == [{"event": "anchor", "anchor": made.line.decode().strip()}]


def test_a_webhook_that_nobody_configured_stops_the_start(settings):
    settings.AUDIT_WEBHOOK = "https://example.com/hook"
    assert "signalbox.E001" in {found.id for found in checks.run_checks()}


def test_a_deploy_on_a_database_elsewhere_wants_one_key_for_all(settings):
    settings.AUDIT_KEY_IS_GIVEN = False

    def found() -> set[str]:
        messages = checks.run_checks(include_deployment_checks=True)
        return {each.id for each in messages if each.id}

    settings.DATABASE_URL = ""
    assert "signalbox.W002" not in found()
    settings.DATABASE_URL = "postgres://db.example/signalbox"
    assert "signalbox.W002" in found()
    settings.AUDIT_KEY_IS_GIVEN = True
    assert "signalbox.W002" not in found()


def says() -> doctor.Finding:
    return next(each for each in doctor.examine() if each.part == "audit log")


@pytest.fixture
def log() -> None:
    trail.record("run.started", actor=ACTOR, target=("run", "1"))
    seal.seal()


def change_the_log() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        for table in flush.GROWS:
            cursor.execute(flush.unlock(table))
        cursor.execute("UPDATE audit_entry SET reason = 'because' WHERE verb = 'run.started'")
        for table in flush.GROWS:
            cursor.execute(flush.lock(table))


def test_the_doctor_and_the_page_say_how_the_log_stands(client, log):
    client.force_login(person("Cy"))
    assert (says().ok, says().says) == (True, "not proved yet, not anchored yet")
    assert "Not proved yet: that happens once a day." in text_of(client.get("/audit/"))
    daily.run()
    assert says().ok
    assert says().says.startswith("proved ")
    assert says().says.endswith(", anchored at place 1")
    assert "Proved intact" in text_of(client.get("/audit/"))


def test_the_doctor_and_the_page_tell_of_a_changed_log(client, log):
    client.force_login(person("Cy"))
    change_the_log()
    daily.run()
    assert says().says == "the last proof found that it was changed"
    assert "verify_audit" in says().todo
    text = text_of(client.get("/audit/"))
    assert "This log is not what it was." in text
    assert "does not say what it said when it was recorded" in text


def test_the_daily_proof_calls_people_when_the_log_was_changed(log):
    change_the_log()
    daily.run()
    dispatcher.dispatch()
    assert [sent.to for sent in mail.outbox] == [["notary@example.com"]]
    assert "does not say what it said" in mail.outbox[0].body
