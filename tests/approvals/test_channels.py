"""Channels: what groups are told through Apprise, against a real server, and what stays secret."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta

import apprise
import pytest
from django.db import transaction
from django.db.models import F

from approvals.models import Request
from approvals.notices import Event, channels, notify
from ledger.models import Message
from ledger.outbox import dispatcher
from ledger.status import MessageStatus
from signalbox.env import Env
from tests.approvals.conftest import ours, reject
from tests.support.receiver import Receiver, receiving

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(settings, ben) -> Iterator[Receiver]:
    settings.SIGNALBOX_URL = "https://box.example/"
    with receiving() as receiver:
        address = f"json://127.0.0.1:{receiver.port}/s3cr3t"
        settings.APPROVALS_CHANNELS = {"finance": [address], "legal": [f"{address}/other"]}
        yield receiver


def told() -> Message:
    return Message.objects.get(destination=channels.DESTINATION)


def dispatch_again() -> None:
    Message.objects.filter(status="pending").update(due_at=F("due_at") - timedelta(hours=1))
    dispatcher.dispatch()


def test_the_groups_channel_is_told_what_happened_and_where_to_look(desk, asked):
    request = asked(ours("<!channel> pay @everyone http://evil.example"))
    dispatcher.dispatch()
    (got,) = desk.got
    assert got.path == "/s3cr3t"
    assert got.body["title"] == "A request waits for finance"
    assert f"https://box.example/approvals/{request.pk}/" in got.body["message"]
    assert "refund_desk" in got.body["message"]
    assert "evil" not in str(got.body)
    assert "@everyone" not in str(got.body)
    assert got.headers["signalbox-event-id"] == str(told().uid)
    assert told().status == MessageStatus.SENT


def test_another_groups_channel_is_not(desk, asked, settings):
    del settings.APPROVALS_CHANNELS["finance"]
    asked()
    dispatcher.dispatch()
    assert desk.got == []


def test_a_channel_that_is_down_is_told_later_with_the_same_id(desk, asked):
    asked()
    desk.answers[:] = [(503, {})]
    dispatcher.dispatch()
    assert (told().status, told().error) == ("pending", "json did not take it")
    dispatch_again()
    assert told().status == MessageStatus.SENT
    assert len({got.headers["signalbox-event-id"] for got in desk.got}) == 1


def test_one_channel_that_fails_does_not_have_the_other_told_twice(desk, asked, settings):
    settings.APPROVALS_CHANNELS = {
        "finance": [f"json://127.0.0.1:{desk.port}/{name}" for name in ("a", "b")]
    }
    asked()
    desk.answers[:] = [(503, {})]
    dispatcher.dispatch()
    dispatch_again()
    paths = [got.path for got in desk.got]
    assert sorted(paths) in (["/a", "/a", "/b"], ["/a", "/b", "/b"])


def test_what_was_decided_meanwhile_is_not_announced(desk, asked, ben):
    request = asked()
    desk.answers[:] = [(503, {})]
    dispatcher.dispatch()
    reject(request, ben)
    dispatch_again()
    assert [got.body["title"] for got in desk.got] == [
        "A request waits for finance",
        "A request for finance was decided: rejected",
    ]


def test_a_channel_that_was_taken_away_is_not_told(desk, asked, settings):
    asked()
    desk.answers[:] = [(503, {})]
    dispatcher.dispatch()
    settings.APPROVALS_CHANNELS = {"finance": ["json://127.0.0.1:9/new"]}
    dispatch_again()
    assert told().status == MessageStatus.DEAD
    assert len(desk.got) == 1


@pytest.mark.parametrize("status", [200, 404])
def test_addresses_are_in_no_row_no_log_and_on_no_page(desk, asked, caplog, client, ben, status):
    caplog.set_level(logging.DEBUG)
    desk.answers[:] = [(status, {})]
    asked()
    dispatcher.dispatch()
    assert len(desk.got) == 1
    client.force_login(ben)
    page = client.get("/me/notices/").content.decode()
    assert "finance: json" in page
    rows = str(list(Message.objects.values()))
    assert "s3cr3t" not in rows + caplog.text + page
    assert str(desk.port) not in rows + page


@pytest.mark.parametrize(
    "address", ["json://127.0.0.1:9/s3cr3t", "nonsense://s3cr3t", "s3cr3t", "slack://s3cr3t"]
)
def test_an_address_that_does_not_work_is_not_repeated(settings, ben, asked, caplog, address):
    caplog.set_level(logging.DEBUG)
    settings.APPROVALS_CHANNELS = {"finance": [address]}
    asked()
    dispatcher.dispatch()
    assert told().error
    assert "s3cr3t" not in str(list(Message.objects.values())) + caplog.text


def test_what_a_broken_service_says_is_not_repeated(desk, asked, caplog, monkeypatch):
    def instantiate(address: str, **_: object) -> None:
        raise ValueError(address)

    monkeypatch.setattr(apprise.Apprise, "instantiate", instantiate)
    asked()
    dispatcher.dispatch()
    assert (told().status, told().error) == ("pending", "json: ValueError")
    assert "s3cr3t" not in caplog.text


@pytest.mark.parametrize("text", ["[]", "s3cr3t", '{"finance": [""]}', '{"finance": 7}', "7"])
def test_a_setting_that_cannot_be_read_stops_the_start_and_is_not_repeated(monkeypatch, text):
    monkeypatch.setenv("APPROVALS_CHANNELS", text)
    with pytest.raises(Exception, match="APPROVALS_CHANNELS must be") as refused:
        Env().channels("APPROVALS_CHANNELS")
    assert "s3cr3t" not in str(refused.value)


def test_one_address_or_several(monkeypatch):
    monkeypatch.setenv("APPROVALS_CHANNELS", '{"finance": "json://a", "legal": ["json://b"]}')
    read = Env().channels("APPROVALS_CHANNELS")
    assert read == {"finance": ["json://a"], "legal": ["json://b"]}


def test_every_event_that_is_announced_has_words(asked):
    assert set(channels.WORDS) == channels.ANNOUNCED
    request = asked()
    for event in channels.ANNOUNCED:
        with transaction.atomic():
            notify(event, request, key="again")
    assert Request.objects.count() == 1
    assert Message.objects.filter(payload__event=Event.TOOK_EFFECT).count() == 0
