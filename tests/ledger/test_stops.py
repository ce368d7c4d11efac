"""Emergency stops: who may, what is recorded, and who is woken."""

from __future__ import annotations

from uuid import uuid4

import pytest

from accounts import errors as people
from accounts.actors import Actor
from audit.models import Entry
from ledger import errors, stops
from ledger.models import Stop
from ledger.port import Ledger
from runs.models import Run
from tests.ledger.conftest import fresh_actor, make_run, wakes_of

SHELL = Actor.command("test")


def told() -> list[tuple[str, bool]]:
    return list(Entry.objects.order_by("id").values_list("verb", "allowed"))


def test_an_operator_sets_and_lifts_a_stop():
    ada = fresh_actor("Ada")
    stop = stops.set("agent", " desk ", actor=ada, reason="Wrong amounts.")
    assert (stop.scope, stop.name, stop.set_by, stop.set_by_user_id) == (
        "agent",
        "desk",
        "Ada",
        ada.user_id,
    )
    assert list(stops.on()) == [stop]
    lifted = stops.lift(stop.pk, actor=ada, reason="Repaired.")
    assert (lifted.lifted_by, list(stops.on())) == ("Ada", [])
    assert lifted.lifted_at is not None
    assert told() == [("stop.set", True), ("stop.lifted", True)]


@pytest.mark.parametrize("name", ["Ben", "Cy", "Dee"])
def test_others_may_neither_set_nor_lift(name):
    stop = stops.set("everything", "", actor=SHELL, reason="A drill.")
    with pytest.raises(people.NotPermitted):
        stops.set("tool", "t", actor=fresh_actor(name), reason="Because.")
    with pytest.raises(people.NotPermitted):
        stops.lift(stop.pk, actor=Actor.system("sweeper"), reason="A rule.")
    assert list(stops.on()) == [stop]
    assert told() == [("stop.set", True), ("stop.refused", False), ("stop.refused", False)]


@pytest.mark.parametrize(
    ("scope", "name", "reason", "error"),
    [
        ("everything", "", " ", errors.ReasonMissing),
        ("everything", "desk", "x", errors.BadStop),
        ("agent", " ", "x", errors.BadStop),
        ("tool", "", "x", errors.BadStop),
        ("tool", "t" * 201, "x", errors.BadStop),
        ("run", "7", "x", errors.BadStop),
    ],
)
def test_a_stop_that_makes_no_sense_is_refused_and_recorded(scope, name, reason, error):
    with pytest.raises(error):
        stops.set(scope, name, actor=SHELL, reason=reason)
    assert (Stop.objects.count(), told()) == (0, [("stop.refused", False)])


def test_a_stop_is_on_once_and_lifted_once():
    stop = stops.set("everything", "", actor=SHELL, reason="x")
    with pytest.raises(errors.StopIsOn):
        stops.set("everything", "", actor=SHELL, reason="x")
    stops.lift(stop.pk, actor=SHELL, reason="x")
    with pytest.raises(errors.StopIsLifted, match="command line"):
        stops.lift(stop.pk, actor=SHELL, reason="x")
    with pytest.raises(errors.NoSuchStop):
        stops.lift(stop.pk + 1, actor=SHELL, reason="x")
    stops.set("everything", "", actor=SHELL, reason="once more")


def test_the_widest_stop_is_named():
    for scope, name in (("tool", "t"), ("everything", ""), ("agent", "desk")):
        stops.set(scope, name, actor=SHELL, reason="x")
    found = stops.applies("t", "desk")
    assert found is not None
    assert found.scope == "everything"


def test_lifting_wakes_the_runs_parked_for_a_stop_and_no_others(rung):
    stopped, doubtful = make_run(), make_run()
    for run, reason in ((stopped, "emergency_stop"), (doubtful, "effect_in_doubt")):
        Run.objects.filter(pk=run.pk).update(status="parked", park_reason=reason)
    stop = stops.set("tool", "t", actor=SHELL, reason="x")
    stops.lift(stop.pk, actor=SHELL, reason="x")
    assert (wakes_of(stopped), wakes_of(doubtful)) == (1, 0)
    assert rung == [stopped.pk]


def test_the_driver_is_told_of_stops_for_its_agent_and_for_everything():

    def stopped(agent: str) -> bool:
        return Ledger().hindrances(uuid4(), agent).stopped

    assert not stopped("desk")
    stops.set("tool", "t", actor=SHELL, reason="x")
    stops.set("agent", "other", actor=SHELL, reason="x")
    assert not stopped("desk")
    assert stopped("other")
    stops.set("everything", "", actor=SHELL, reason="x")
    assert stopped("desk")
