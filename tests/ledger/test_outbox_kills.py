"""Dispatchers that are killed again and again, while another one works beside them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta

import pytest

from ledger.models import Message
from ledger.outbox import dispatcher
from ledger.outbox.webhooks import EVENT_ID
from ledger.status import MessageStatus
from tests.ledger.test_dispatcher import add
from tests.support import child
from tests.support.processes import Worker, until, worker
from tests.support.receiver import Receiver, receiving

KILLS = 50
EACH = 3
"""Messages for two dispatchers, so that both get some."""


@pytest.fixture
def crm(settings) -> Iterator[Receiver]:
    with receiving() as receiver:
        settings.LEDGER_DESTINATIONS = {}
        settings.LEDGER_WEBHOOKS = {"crm": receiver.url}
        settings.LEDGER_OUTBOX_CLAIM = timedelta(seconds=1)  # not to wait for long
        yield receiver


def killed(victim: Worker, place: str) -> bool:
    """Kill it where it has stopped; False if the other one has left it nothing to do."""
    kind, what = victim.hears()
    if (kind, what) != ("reached", place):
        return False
    victim.send(signal.SIGKILL)
    victim.process.join(10)
    return True


def two_dispatchers(place: str, **settings: object) -> bool:
    """Let two work at once, one of which dies when it reaches the place; whether it did."""
    with ExitStack() as stack:
        victim = stack.enter_context(worker(child.dispatch_until, place, True, **settings))
        other = stack.enter_context(worker(child.dispatch_on_word, **settings))
        for each in (victim, other):
            assert each.hears() == ("reached", "ready")
        for each in (victim, other):
            each.pipe.send("go")
        died = killed(victim, place)
        other.result()
    return died


@pytest.mark.chaos
@pytest.mark.parametrize("place", ["outbox.claimed", "outbox.called"])
def test_nothing_is_lost_or_taken_twice_when_dispatchers_die(crm, settings, place):
    given = {
        "LEDGER_DESTINATIONS": {},
        "LEDGER_WEBHOOKS": settings.LEDGER_WEBHOOKS,
        "LEDGER_OUTBOX_CLAIM": settings.LEDGER_OUTBOX_CLAIM,
    }
    kills, added = 0, 0
    while kills < KILLS:
        assert added < KILLS * EACH * 3, "the victim hardly ever gets a message"
        for _ in range(EACH):
            add(added, "crm")
            added += 1
        kills += two_dispatchers(place, **given)
    until(lambda: dispatcher.dispatch() == 0 and not pending())

    said: dict[str, int] = {}
    for request in crm.got:  # a receiver that takes each event id once
        first = said.setdefault(request.headers[EVENT_ID.lower()], request.body["n"])
        assert first == request.body["n"]
    assert sorted(said.values()) == list(range(added))
    assert set(said) == {str(uid) for uid in Message.objects.values_list("uid", flat=True)}
    again = len(crm.got) - added
    assert again == (kills if place == "outbox.called" else 0)


def pending() -> bool:
    return Message.objects.exclude(status=MessageStatus.SENT).exists()
