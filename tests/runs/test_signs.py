"""Signs of life: each part is judged by what it leaves in the database."""

from __future__ import annotations

import pytest

from accounts.actors import Actor
from audit import seal, trail
from audit.models import Entry
from ledger.models import Message
from ledger.outbox.signs import dispatcher
from runs import dispatch, signs, sweeper
from runs.models import Pulse
from tests.support import standing as make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", ["beat", "sweeper"])
def test_what_runs_every_few_seconds_is_well_while_it_ran_lately(name) -> None:
    part = getattr(signs, name)
    assert (part().well, part().state.label) == (False, "Not seen")
    pulse = Pulse.objects.create(name=name, note={"rang": 2, "failed": []})
    assert part().well
    assert part().todo == ""
    Pulse.objects.filter(pk=pulse.pk).update(at=make.ago(minutes=5))
    assert (part().well, part().state.label) == (False, "Quiet")
    assert part().todo
    assert part().command


def test_beat_writes_down_that_it_ticks_but_not_every_time(monkeypatch) -> None:
    monkeypatch.setattr(signs, "_ticked", 0.0)
    signs.tick()
    first = Pulse.objects.get(name="beat").at
    signs.tick()
    assert Pulse.objects.get(name="beat").at == first
    monkeypatch.setattr(signs, "TICK", 0.0)
    signs.tick()
    assert Pulse.objects.get(name="beat").at > first


@pytest.mark.parametrize(
    ("did", "note"),
    [
        ({"rang": 0}, "found nothing to ring for"),
        ({"rang": 1}, "rang for 1 run"),
        ({"rang": 2, "did": 3}, "rang for 2 runs"),
        ({"rang": 0, "did": 3}, "did 3 things"),
    ],
)
def test_the_sweeper_says_what_its_last_pass_did(did, note) -> None:
    Pulse.objects.create(name="sweeper", note={"failed": [], **did})
    assert signs.sweeper().note == note


def test_a_pass_of_the_sweeper_leaves_what_it_did(monkeypatch) -> None:
    monkeypatch.setattr(
        sweeper, "_rules", lambda: [("a", lambda: 2), ("b", lambda: None), ("runs", lambda: 1)]
    )
    sweeper.sweep()
    assert Pulse.objects.get(name="sweeper").note == {"rang": 1, "did": 2, "failed": []}


def test_a_sweeper_whose_rules_fail_is_not_well() -> None:
    Pulse.objects.create(name="sweeper", note={"rang": 0, "failed": ["ledger.sweep.sweep"]})
    sign = signs.sweeper()
    assert not sign.well
    assert "ledger.sweep.sweep" in sign.note
    assert "log" in sign.todo


def test_the_sealer_is_judged_by_what_waits_for_it() -> None:
    assert (signs.sealer().well, signs.sealer().note) == (True, "every entry is sealed")
    trail.record("run.started", actor=Actor.system("x"), target=("run", "1"))
    assert Entry.objects.count() == 1
    assert signs.sealer().note == "1 entry waits for a seal"
    seal.seal()
    assert signs.sealer().at is not None


def test_the_dispatcher_is_judged_by_messages_that_nobody_tried() -> None:
    assert (dispatcher().well, dispatcher().note) == (True, "nothing waits to be sent")
    message = Message.objects.create(destination="crm", payload={}, dedupe="1")
    assert (dispatcher().well, dispatcher().note) == (True, "1 message waits to be sent")
    Message.objects.filter(pk=message.pk).update(due_at=make.ago(minutes=10))
    assert not dispatcher().well
    Message.objects.filter(pk=message.pk).update(tries=1)
    assert dispatcher().well, "it was tried: the receiver is away, not the dispatcher"


def test_a_broker_that_is_away_is_not_well_and_says_that_nothing_is_lost(monkeypatch) -> None:
    assert signs.broker().well
    monkeypatch.setattr(dispatch, "reachable", lambda: False)
    assert not signs.broker().well
    assert "Runs are accepted and kept" in signs.broker().todo


def test_every_part_is_told_once() -> None:
    assert [sign.key for sign in signs.all()] == [
        "broker",
        "beat",
        "sweeper",
        "dispatcher",
        "sealer",
    ]
