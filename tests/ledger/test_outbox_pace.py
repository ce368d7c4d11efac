"""Destinations that are served at a pace, or that want to be left alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from audit.models import ClockTimestamp
from ledger.models import Message, Pace
from ledger.outbox import dispatcher, pace
from ledger.outcomes import Outcome
from ledger.status import MessageStatus
from tests.ledger import desks
from tests.ledger.test_dispatcher import add, again, desk, got  # noqa: F401 (desk: a fixture)
from tests.support import child
from tests.support.processes import worker
from tests.support.receiver import Receiver, receiving

LONG = timedelta(hours=1)


@pytest.fixture
def crm(settings) -> Iterator[Receiver]:
    with receiving() as receiver:
        settings.LEDGER_WEBHOOKS = {"crm": f"{receiver.url}/"}
        yield receiver


def test_a_destination_at_a_pace_gets_one_message_and_the_others_their_own(settings):
    settings.LEDGER_OUTBOX_PACES = {"test": LONG}
    first, second = add(1), add(2)
    assert dispatcher.dispatch() == 1
    assert got() == [1]
    assert (again(first).status, again(second).status) == ("sent", "pending")
    assert pace.take_turn("other")  # which has no pace


def test_waiting_for_a_turn_is_no_try_and_no_error(settings):
    settings.LEDGER_OUTBOX_PACES = {"test": LONG}
    assert pace.take_turn("test")
    message = add()
    claimed = Message.objects.get(pk=message.pk)
    Pace.objects.update(next_at=ClockTimestamp())
    mine = dispatcher.claim()
    assert mine is not None
    assert mine.pk == claimed.pk
    assert pace.take_turn("test")  # another dispatcher was quicker
    assert not dispatcher.deliver(mine)
    left = again(message)
    assert (left.tries, left.claimed_until, left.error) == (0, None, "")
    assert got() == []


def test_a_dispatcher_waits_for_a_turn_that_comes_soon(settings):
    settings.LEDGER_OUTBOX_PACES = {"test": timedelta(milliseconds=30)}
    for n in range(4):
        add(n)
    assert dispatcher.dispatch() == 4
    assert got() == [0, 1, 2, 3]


def test_a_dispatcher_does_not_wait_beyond_its_own_turn(settings):
    settings.LEDGER_OUTBOX_PACES = {"test": timedelta(seconds=5)}
    add(1), add(2)
    assert dispatcher.dispatch(turn=timedelta(seconds=1)) == 1
    assert dispatcher.due()  # the sweeper comes back for it


def test_a_receiver_that_wants_to_be_left_alone_gets_none_of_its_messages(crm):
    crm.answers = [(429, {"Retry-After": "3600"})]
    first, second, elsewhere = add(1, "crm"), add(2, "crm"), add(3)
    dispatcher.dispatch()
    assert [each.body["n"] for each in crm.got] == [1]
    assert [again(each).status for each in (first, second, elsewhere)] == [
        MessageStatus.PENDING,
        MessageStatus.PENDING,
        MessageStatus.SENT,
    ]
    Pace.objects.update(next_at=ClockTimestamp())
    dispatcher.dispatch()
    assert [each.body["n"] for each in crm.got] == [1, 2]  # the first has a wait of its own


def test_what_one_message_is_told_to_wait_for_holds_up_no_other():
    desks.ANSWERS.append(Outcome.refused("not yet", retryable=True, retry_after=3600))
    add(1), add(2)
    dispatcher.dispatch()
    assert got() == [1, 2]


def test_the_longer_of_two_rests_counts():
    pace.rest("crm", LONG)
    pace.rest("crm", timedelta(seconds=1))
    assert (pace.next_turn() is None) == (not dispatcher.due())
    assert Pace.objects.filter(next_at__gt=ClockTimestamp() + LONG / 2).exists()


@pytest.mark.race
def test_two_dispatchers_keep_one_pace(settings, tmp_path):
    apart = timedelta(milliseconds=60)
    file = tmp_path / "got"
    for n in range(12):
        add(n, destination="file", payload={"file": str(file), "at": True})
    with ExitStack() as stack:
        two = [
            stack.enter_context(worker(child.dispatch_on_word, LEDGER_OUTBOX_PACES={"file": apart}))
            for _ in range(2)
        ]
        for each in two:
            assert each.hears() == ("reached", "ready")
        for each in two:
            each.pipe.send("go")
        sent = [each.result() for each in two]
    assert sum(sent) == 12
    lines = [line.split() for line in file.read_text().splitlines()]
    assert sorted(int(line[1]) for line in lines) == list(range(12))
    # Turns are taken in the database. What happens between a turn and its arrival may bring two
    # arrivals nearer to each other, but not twelve of them.
    arrived = sorted(datetime.fromisoformat(line[3]) for line in lines)
    assert arrived[-1] - arrived[0] >= apart * 10
    assert all(later >= earlier for earlier, later in pairwise(arrived))
