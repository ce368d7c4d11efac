"""Dispatchers: claims, tries, dead letters, and what is left of a dispatcher that was killed."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from accounts import clock
from accounts import errors as people
from accounts.actors import Actor
from audit.models import ClockTimestamp, Entry
from ledger import checks, errors, outbox, refusals
from ledger.models import Message, Stop
from ledger.outbox import adding, dispatcher, replays
from ledger.outcomes import Outcome
from ledger.status import MessageStatus
from runs import dispatch as doorbell
from runs.errors import LeaseLost
from tests.ledger import desks
from tests.ledger.conftest import fresh_actor, make_run, take_over
from tests.support import child
from tests.support.processes import until, worker

SHELL = Actor.command("test")


@pytest.fixture(autouse=True)
def desk(settings) -> Iterator[None]:
    settings.LEDGER_DESTINATIONS = {
        "test": "tests.ledger.desks.take",
        "file": "tests.ledger.desks.write_down",
    }
    desks.GOT.clear()
    desks.ANSWERS.clear()
    yield
    desks.ANSWERS.clear()


def add(n: int = 1, destination: str = "test", **more: Any) -> Message:
    payload = {"n": n} | more.pop("payload", {})
    with transaction.atomic():
        uid = outbox.add(destination, payload, **{"dedupe": f"k{n}"} | more)
    return Message.objects.get(uid=uid)


def again(message: Message) -> Message:
    return Message.objects.get(pk=message.pk)


def got() -> list[int]:
    return [letter.payload["n"] for letter in desks.GOT]


def let_time_pass(message: Message) -> None:
    """Until its next try is due and its claim has expired."""
    Message.objects.filter(pk=message.pk).update(due_at=ClockTimestamp())
    Message.objects.filter(pk=message.pk, claimed_until__isnull=False).update(
        claimed_until=ClockTimestamp() - timedelta(seconds=1)
    )


# --- sending --------------------------------------------------------------------------------------


def test_what_is_due_is_sent_once_with_its_own_id():
    message = add()
    assert dispatcher.dispatch() == 1
    assert dispatcher.dispatch() == 0
    assert [letter.id for letter in desks.GOT] == [message.uid]
    assert (again(message).status, again(message).error) == (MessageStatus.SENT, "")


def test_nothing_is_sent_before_its_time():
    message = add(not_before=clock.now() + timedelta(minutes=1))
    assert dispatcher.dispatch() == 0
    let_time_pass(message)
    assert dispatcher.dispatch() == 1


def test_what_commits_late_is_not_left_out():
    """The one with the lower number commits last, after a dispatcher has been by."""
    with transaction.atomic():
        late = outbox.add("test", {"n": 1}, dedupe="k1")
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(_add_and_dispatch, 2).result(20) == 1
    assert got() == [2]
    assert dispatcher.dispatch() == 1
    assert desks.GOT[1].id == late


def _add_and_dispatch(n: int) -> int:
    try:
        add(n)
        return dispatcher.dispatch()
    finally:
        connection.close()


def test_the_broker_is_asked_once_the_transaction_has_committed(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(doorbell, "call_now", asked.append)
    with transaction.atomic():
        outbox.add("test", {}, dedupe="a")
        assert asked == []
    assert asked == [adding.TASK]


def test_a_lost_bell_is_rung_again_by_the_sweeper(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(doorbell, "call_now", asked.append)
    assert (dispatcher.sweep(), asked) == (0, [])
    message = add()
    asked.clear()
    assert (dispatcher.sweep(), asked) == (1, [adding.TASK])
    dispatcher.claim()
    assert dispatcher.sweep() == 0
    let_time_pass(message)
    assert dispatcher.sweep() == 1


def test_a_turn_ends_and_rings_for_the_rest(monkeypatch):
    asked: list[str] = []
    for n in range(3):
        add(n)
    monkeypatch.setattr(doorbell, "call_now", asked.append)
    assert dispatcher.dispatch(timedelta(0)) == 0
    assert asked == [adding.TASK]


def test_messages_sent_long_ago_are_forgotten_and_dead_ones_are_not(settings):
    settings.LEDGER_OUTBOX_KEEP = timedelta(0)
    add(1)
    desks.ANSWERS[:] = [Outcome.success(""), Outcome.refused("gone")]
    add(2)
    dispatcher.dispatch()
    dispatcher.sweep()
    assert [each.payload["n"] for each in Message.objects.all()] == [2]


# --- failing --------------------------------------------------------------------------------------


def test_a_failure_is_tried_again_later_and_later(settings):
    settings.LEDGER_OUTBOX_BACKOFF = timedelta(seconds=8)
    message = add()
    waits = []
    for _ in range(3):
        desks.ANSWERS[:] = [RuntimeError("no")]
        before = clock.now()
        assert dispatcher.dispatch() == 1
        waits.append((again(message).due_at - before).total_seconds())
        let_time_pass(message)
    assert again(message).error == "RuntimeError: no"
    for wait, most in zip(waits, (8, 16, 32), strict=True):
        assert most / 2 <= wait <= most + 1
    assert dispatcher.dispatch() == 1
    assert again(message).status == MessageStatus.SENT


def test_jitter_spreads_the_tries():
    assert len({dispatcher.backoff(5) for _ in range(20)}) > 10


def test_a_receiver_that_names_a_time_is_left_alone_until_then():
    message = add()
    desks.ANSWERS[:] = [Outcome.refused("429", retryable=True, retry_after=3600)]
    before = clock.now()
    dispatcher.dispatch()
    assert again(message).due_at - before >= timedelta(seconds=3600)


def test_a_message_is_given_up_after_so_many_tries_and_recorded(settings):
    settings.LEDGER_OUTBOX_TRIES = 3
    message = add()
    desks.ANSWERS[:] = [Outcome.unknown("down")] * 3
    for _ in range(3):
        assert dispatcher.dispatch() == 1
        let_time_pass(message)
    dead = again(message)
    assert (dead.status, dead.tries, dead.error) == (MessageStatus.DEAD, 3, "down")
    assert dispatcher.dispatch() == 0
    entry = Entry.objects.get(verb="message.given_up")
    assert (entry.target_id, entry.reason) == (str(message.uid), "down")


def test_what_is_refused_for_certain_is_given_up_at_once():
    message = add()
    desks.ANSWERS[:] = [Outcome.refused("no such address")]
    dispatcher.dispatch()
    assert again(message).status == MessageStatus.DEAD


def test_a_destination_that_nobody_serves_is_named(settings):
    message = add(destination="nowhere")
    dispatcher.dispatch()
    assert "Nothing is registered for nowhere" in again(message).error
    assert again(message).status == MessageStatus.PENDING  # the next version may know it


def test_a_message_that_kills_whoever_sends_it_is_given_up(settings):
    settings.LEDGER_OUTBOX_TRIES = 2
    message = add()
    for _ in range(2):
        assert dispatcher.claim() == message
        let_time_pass(message)
    assert dispatcher.dispatch() == 1
    assert (again(message).status, desks.GOT) == (MessageStatus.DEAD, [])


# --- claims ---------------------------------------------------------------------------------------


def test_a_claim_keeps_others_away_until_it_expires():
    message = add()
    assert dispatcher.claim() == message
    assert dispatcher.claim() is None
    let_time_pass(message)
    assert dispatcher.claim() == message


def test_who_lost_a_claim_may_say_that_it_was_sent_but_not_that_it_was_not():
    message = add()
    slow = dispatcher.claim()
    let_time_pass(message)
    fast = dispatcher.claim()
    assert slow
    assert fast
    desks.ANSWERS[:] = [Outcome.refused("no")]
    dispatcher.deliver(slow)
    assert again(message).status == MessageStatus.PENDING
    assert again(message).claim == fast.claim
    dispatcher.deliver(slow)
    assert again(message).status == MessageStatus.SENT
    desks.ANSWERS[:] = [Outcome.refused("no")]
    dispatcher.deliver(fast)
    assert again(message).status == MessageStatus.SENT


# --- order ----------------------------------------------------------------------------------------


def test_messages_of_one_order_go_out_one_after_another():
    first, second = add(1, order_key="o"), add(2, order_key="o")
    add(3, order_key="p")
    desks.ANSWERS[:] = [Outcome.unknown("down")]
    dispatcher.dispatch()
    assert got() == [1, 3]
    let_time_pass(first)
    dispatcher.dispatch()
    assert got() == [1, 3, 1, 2]
    assert again(second).status == MessageStatus.SENT


def test_a_claimed_message_holds_up_the_ones_behind_it():
    add(1, order_key="o")
    add(2, order_key="o")
    assert dispatcher.claim() is not None
    assert dispatcher.claim() is None


def test_a_message_given_up_does_not_hold_the_others_up():
    add(1, order_key="o")
    add(2, order_key="o")
    desks.ANSWERS[:] = [Outcome.refused("no")]
    dispatcher.dispatch()
    assert got() == [1, 2]


# --- by hand --------------------------------------------------------------------------------------


def dead(n: int = 1) -> Message:
    message = add(n)
    desks.ANSWERS[:] = [Outcome.refused("no")]
    dispatcher.dispatch()
    desks.GOT.clear()
    return again(message)


def test_an_operator_queues_a_dead_message_again_and_it_keeps_its_id():
    message = dead()
    replays.replay(message.uid, actor=fresh_actor("Ada"), reason="It is back.")
    assert dispatcher.dispatch() == 1
    assert desks.GOT[0].id == message.uid
    assert again(message).status == MessageStatus.SENT
    entry = Entry.objects.get(verb="message.retried")
    assert (entry.actor_label, entry.reason) == ("Ada", "It is back.")


def test_all_dead_messages_of_one_destination_go_out_again():
    dead(1), dead(2)
    other = add(3, destination="file")
    Message.objects.filter(pk=other.pk).update(
        status=MessageStatus.DEAD, closed_at=ClockTimestamp()
    )
    assert replays.replay_all("test", actor=fresh_actor("Ada"), reason="Back.") == 2
    dispatcher.dispatch()
    assert got() == [1, 2]
    assert Entry.objects.filter(verb="message.retried").count() == 2


@pytest.mark.parametrize("name", ["Ben", "Cy", "Dee"])
def test_others_may_not_queue_again_and_that_is_recorded(name):
    message, actor = dead(), fresh_actor(name)
    with pytest.raises(people.NotPermitted):
        replays.replay(message.uid, actor=actor, reason="x")
    with pytest.raises(people.NotPermitted):
        replays.replay_all("test", actor=actor, reason="x")
    assert again(message).status == MessageStatus.DEAD
    assert Entry.objects.filter(verb="message.retry_refused", allowed=False).count() == 2


def test_only_what_was_given_up_is_queued_again():
    message = add()
    for uid, error in ((message.uid, errors.NotGivenUp), (UUID(int=7), errors.NoSuchMessage)):
        with pytest.raises(error):
            replays.replay(uid, actor=SHELL, reason="x")
    with pytest.raises(errors.ReasonMissing):
        replays.replay(dead(2).uid, actor=SHELL, reason=" ")


# --- in a node ------------------------------------------------------------------------------------


def test_a_node_that_runs_again_adds_nothing_new(run, driver):
    first = driver(lambda: add())
    assert driver(lambda: add()) == first
    assert first.run == run
    assert driver(lambda: add(2)) != first
    other = take_over(make_run())
    assert other(lambda: add()) != first


def test_a_driver_that_lost_its_lease_adds_nothing(run, driver):
    take_over(run)
    with pytest.raises(LeaseLost):
        driver(lambda: add())
    assert not Message.objects.exists()


def test_a_read_only_run_has_nobody_told_anything(run, driver):
    type(run).objects.filter(pk=run.pk).update(read_only=True)
    with pytest.raises(refusals.ReadOnly):
        driver(lambda: add())


def test_an_emergency_stop_holds_messages_of_agents_back_and_nothing_else(run, driver):
    held = driver(lambda: add(1))
    add(2)
    stop = Stop.objects.create(scope="agent", name=run.agent, reason="x", set_by="x")
    dispatcher.dispatch()
    assert got() == [2]
    assert (again(held).tries, again(held).status) == (0, MessageStatus.PENDING)
    Stop.objects.filter(pk=stop.pk).update(lifted_at=ClockTimestamp())
    let_time_pass(held)
    dispatcher.dispatch()
    assert got() == [2, 1]


# --- processes ------------------------------------------------------------------------------------


def lines(file: Path) -> list[list[str]]:
    return [line.split() for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.chaos
@pytest.mark.parametrize(("place", "arrivals"), [("outbox.claimed", 1), ("outbox.called", 2)])
def test_the_message_of_a_killed_dispatcher_is_sent_by_another(settings, tmp_path, place, arrivals):
    settings.LEDGER_OUTBOX_CLAIM = timedelta(seconds=1)  # not to wait for long
    file = tmp_path / "got"
    message = add(destination="file", payload={"file": str(file)})
    with worker(child.dispatch_until, place) as killed:
        assert killed.frozen() == place
        killed.send(signal.SIGKILL)
        assert dispatcher.dispatch() == 0 or again(message).tries == 2
        until(lambda: dispatcher.due() or again(message).status == MessageStatus.SENT)
        dispatcher.dispatch()
    assert again(message).status == MessageStatus.SENT
    assert [line[0] for line in lines(file)] == [str(message.uid)] * arrivals


@pytest.mark.race
def test_two_dispatchers_share_the_work_and_send_nothing_twice(tmp_path):
    file = tmp_path / "got"
    for n in range(60):
        add(n, destination="file", payload={"file": str(file)}, order_key=f"o{n % 20}")
    with ExitStack() as stack:
        two = [stack.enter_context(worker(child.dispatch_on_word)) for _ in range(2)]
        for each in two:
            assert each.hears() == ("reached", "ready")
        for each in two:
            each.pipe.send("go")
        assert sum(each.result() for each in two) == 60
    arrived = lines(file)
    assert Counter(line[1] for line in arrived) == {str(n): 1 for n in range(60)}
    assert len({line[2] for line in arrived}) == 2  # neither of them was idle
    for order in range(20):
        mine = [int(line[1]) for line in arrived if int(line[1]) % 20 == order]
        assert mine == sorted(mine)


def test_the_time_of_a_claim_is_the_databases():
    message = add()
    dispatcher.claim()
    ends = again(message).claimed_until
    assert ends
    assert timedelta(seconds=100) < ends - clock.now() <= timedelta(seconds=120)


@pytest.mark.parametrize(
    ("setting", "value", "problem"),
    [
        ("LEDGER_OUTBOX_TRIES", 0, "ledger.E007"),
        ("LEDGER_OUTBOX_CLAIM", timedelta(seconds=29), "ledger.E008"),
        ("LEDGER_DESTINATIONS", {"test": "tests.ledger.desks.nothing"}, "ledger.E009"),
        ("LEDGER_WEBHOOKS", {"test": "https://hooks.example"}, "ledger.E010"),
        ("LEDGER_OUTBOX_PACES", {"tset": timedelta(seconds=1)}, "ledger.E011"),
    ],
)
def test_settings_that_cannot_work_are_found_at_the_start(settings, setting, value, problem):
    assert checks.settings_fit() + checks.destinations_fit() == []
    setattr(settings, setting, value)
    found = checks.settings_fit() + checks.destinations_fit()
    assert [each.id for each in found] == [problem]
