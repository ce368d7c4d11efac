"""Webhooks: what a receiver gets, and that its address stays a secret."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from ledger.models import Message
from ledger.outbox import dispatcher
from ledger.status import MessageStatus
from signalbox.env import Env
from tests.ledger.test_dispatcher import add, again, let_time_pass
from tests.support.receiver import Receiver, receiving


@pytest.fixture
def crm(settings):
    with receiving() as receiver:
        settings.LEDGER_WEBHOOKS = {"crm": f"{receiver.url}/hook/s3cr3t"}
        yield receiver


def test_the_receiver_gets_the_payload_and_our_id_at_every_try(crm: Receiver):
    message = add(7, destination="crm")
    crm.answers[:] = [(500, {})]
    dispatcher.dispatch()
    assert again(message).status == MessageStatus.PENDING
    let_time_pass(message)
    dispatcher.dispatch()
    assert again(message).status == MessageStatus.SENT
    assert [got.body for got in crm.got] == [{"n": 7}] * 2
    assert {got.headers["signalbox-event-id"] for got in crm.got} == {str(message.uid)}
    assert crm.got[0].path == "/hook/s3cr3t"


def test_a_busy_receiver_is_left_alone_as_long_as_it_asks(crm: Receiver):
    message = add(destination="crm")
    crm.answers[:] = [(429, {"Retry-After": "600"})]
    dispatcher.dispatch()
    left = again(message)
    assert left.due_at - left.created_at >= timedelta(seconds=600)
    assert left.error.startswith("HTTP 429")


def test_a_receiver_that_refuses_is_not_asked_again(crm: Receiver):
    message = add(destination="crm")
    crm.answers[:] = [(410, {})]
    dispatcher.dispatch()
    assert again(message).status == MessageStatus.DEAD


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/s3cr3t", "http://[s3cr3t", "s3cr3t"])
def test_an_address_that_does_not_answer_is_in_no_row_and_no_log(settings, caplog, address):
    settings.LEDGER_WEBHOOKS = {"crm": address}
    caplog.set_level(logging.DEBUG)
    add(destination="crm")
    assert dispatcher.dispatch() == 1
    assert Message.objects.get().error
    assert "s3cr3t" not in str(Message.objects.values().get()) + caplog.text


def test_an_address_that_answers_is_in_no_log(crm: Receiver, caplog):
    caplog.set_level(logging.DEBUG)
    crm.answers[:] = [(404, {})]
    add(destination="crm")
    dispatcher.dispatch()
    assert "HTTP 404" in Message.objects.get().error
    assert "s3cr3t" not in str(Message.objects.values().get()) + caplog.text


@pytest.mark.parametrize("text", ["[]", "s3cr3t", '{"crm": ""}', '{"crm": 1}'])
def test_a_setting_that_cannot_be_read_stops_the_start_and_is_not_repeated(monkeypatch, text):
    monkeypatch.setenv("LEDGER_WEBHOOKS", text)
    with pytest.raises(Exception, match="LEDGER_WEBHOOKS must be") as refused:
        Env().addresses("LEDGER_WEBHOOKS")
    assert "s3cr3t" not in str(refused.value)
