"""What the doctor says, and in which words."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import OperationalError, transaction
from langgraph.checkpoint.serde import _msgpack

from audit.models import ClockTimestamp
from ledger import outbox
from ledger.models import Message
from runs.models import Pulse
from signalbox import doctor


@pytest.fixture
def message(db: None, monkeypatch) -> Message:
    monkeypatch.setattr("runs.dispatch.call_now", lambda task: True)
    with transaction.atomic():
        uid = outbox.add("test", {}, dedupe="k")
    return Message.objects.get(uid=uid)


def says(part: str = "outbox") -> doctor.Finding:
    return next(each for each in doctor.examine() if each.part == part)


def test_a_message_that_waits_is_in_order(message):
    assert says().ok
    assert says().says == "1 message waits, none was given up"


def test_a_message_that_nobody_tries_to_send_is_not(message):
    Message.objects.update(due_at=ClockTimestamp() - timedelta(minutes=6))
    assert (says().ok, says().says) == (False, "1 message is late")


def test_a_message_given_up_is_not(message):
    Message.objects.update(status="dead", closed_at=ClockTimestamp())
    assert (says().ok, says().says) == (False, "1 message given up")


def test_a_sweeper_that_is_quiet_is_told_in_words(db):
    Pulse.objects.create(name="sweeper")
    Pulse.objects.update(at=ClockTimestamp() - timedelta(seconds=75))

    assert says("beat").says == "the sweeper ran 1 min ago"
    assert ".venv/bin/celery -A signalbox beat" in says("beat").todo


def test_a_database_that_cannot_be_reached_names_the_variable(settings, monkeypatch):
    settings.DATABASE_URL = "postgres://nobody@nowhere.example/x"

    def unreachable() -> None:
        raise OperationalError("could not translate host name\nmore")

    monkeypatch.setattr("django.db.connection.cursor", unreachable)

    first = next(doctor.examine())
    assert (first.part, first.says) == ("database", "could not translate host name")
    assert first.todo == "Start PostgreSQL, or correct DATABASE_URL."


def test_no_line_of_the_doctor_ends_twice(monkeypatch, capsys):
    findings = [
        doctor.Finding(part="a", says="It is broken.", todo="Repair it."),
        doctor.Finding(part="b", says="well"),
    ]
    monkeypatch.setattr(doctor, "examine", lambda: iter(findings))

    with pytest.raises(SystemExit):
        call_command("doctor")

    assert capsys.readouterr().out == "TODO a: It is broken. Repair it.\nok   b: well\n"


def test_every_command_that_the_doctor_names_can_be_typed():
    source = Path(doctor.__file__).read_text()
    assert not re.search(r"`manage\.py|(?<!/)\bcelery -A|(?<!bin/)python manage", source)


def test_checkpoints_that_may_make_any_object_are_a_finding(monkeypatch):
    assert says("checkpoints").ok
    monkeypatch.setattr(_msgpack, "STRICT_MSGPACK_ENABLED", False)
    assert not says("checkpoints").ok
    assert "LANGGRAPH_STRICT_MSGPACK" in says("checkpoints").todo
