"""What the doctor says of the outbox."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction

from audit.models import ClockTimestamp
from ledger import outbox
from ledger.models import Message
from signalbox import doctor


@pytest.fixture
def message(db: None, monkeypatch) -> Message:
    monkeypatch.setattr(outbox.dispatch, "call_now", lambda task: True)
    with transaction.atomic():
        uid = outbox.add("test", {}, dedupe="k")
    return Message.objects.get(uid=uid)


def says() -> doctor.Finding:
    return next(each for each in doctor.examine() if each.part == "outbox")


def test_a_message_that_waits_is_in_order(message):
    assert says().ok
    assert says().says == "1 messages wait, none was given up"


def test_a_message_that_nobody_tries_to_send_is_not(message):
    Message.objects.update(due_at=ClockTimestamp() - timedelta(minutes=6))
    assert (says().ok, says().says) == (False, "1 messages are late")


def test_a_message_given_up_is_not(message):
    Message.objects.update(status="dead", closed_at=ClockTimestamp())
    assert (says().ok, says().says) == (False, "1 messages given up")
