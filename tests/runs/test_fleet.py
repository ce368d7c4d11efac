"""Workers, the leases they hold, what waits for them, and the parts that must run."""

from __future__ import annotations

from datetime import timedelta

import pytest

from accounts.actors import Actor
from audit import seal, trail
from audit.models import Entry
from runs import fleet
from runs.models import Pulse, Worker
from runs.status import Status
from tests.support import standing as make
from tests.support.people import person

pytestmark = pytest.mark.django_db


def worker(name: str = "worker@alpha", **fields) -> Worker:
    usual = {"hostname": "alpha", "pid": 1, "agents": {"refund_desk": "1.0"}}
    return Worker.objects.create(name=name, **usual | fields)


@pytest.mark.parametrize(
    ("fields", "state"),
    [({}, "alive"), ({"draining": True}, "draining"), ({"seen_at": make.ago(hours=1)}, "gone")],
)
def test_a_worker_is_alive_draining_or_gone(fields, state) -> None:
    worker(**fields)
    assert [crew.state.value for crew in fleet.crews()] == [state]


def test_a_worker_holds_the_leases_of_its_processes() -> None:
    worker()
    worker("worker@alpha2")
    make.running()
    other = make.running()
    make.lease(other, holder="worker@alpha:9")
    make.stuck()
    assert {crew.worker.name: crew.leases for crew in fleet.crews()} == {
        "worker@alpha": 2,
        "worker@alpha2": 0,
    }


def test_only_workers_that_live_and_take_runs_count() -> None:
    worker()
    worker("sweep@alpha", agents={})
    worker("w3", draining=True)
    worker("w4", seen_at=make.ago(hours=1), agents={"triage": "1"})
    assert fleet.alive() == 1
    assert fleet.offered() == {"refund_desk"}


def test_live_leases_are_listed_with_the_time_left() -> None:
    make.stuck()
    run = make.running()
    (held,) = fleet.held(person("Ada"))
    assert held.lease.run == run
    assert timedelta(seconds=20) < held.left < timedelta(seconds=26)


def test_the_queue_holds_what_is_due_and_not_driven() -> None:
    make.running()
    make.run(status=Status.WAITING, wait_until=make.soon(hours=1))
    make.run(due_at=make.soon(hours=1))
    assert (fleet.queue().depth, fleet.queue().oldest) == (0, None)
    queued = make.run()
    make.stuck()
    found = fleet.queue()
    assert found.depth == 2
    assert found.oldest is not None
    assert found.oldest <= queued.updated_at


def test_the_sweeper_is_well_while_it_ran_lately() -> None:
    assert not fleet.sweeper_sign().well
    pulse = Pulse.objects.create(name="sweeper", note={"rang": 2, "failed": []})
    assert (fleet.sweeper_sign().well, fleet.sweeper_sign().note) == (True, "rang for 2 runs")
    Pulse.objects.filter(pk=pulse.pk).update(at=make.ago(minutes=5))
    assert not fleet.sweeper_sign().well


def test_a_sweeper_whose_rules_fail_is_not_well() -> None:
    Pulse.objects.create(name="sweeper", note={"rang": 0, "failed": ["ledger.sweep.sweep"]})
    sign = fleet.sweeper_sign()
    assert not sign.well
    assert "ledger.sweep.sweep" in sign.note


def test_the_sealer_is_judged_by_what_waits_for_it() -> None:
    assert (fleet.sealer_sign().well, fleet.sealer_sign().note) == (True, "every entry is sealed")
    trail.record("run.started", actor=Actor.system("x"), target=("run", "1"))
    assert Entry.objects.count() == 1
    assert fleet.sealer_sign().note == "1 entry waits for a seal"
    seal.seal()
    assert fleet.sealer_sign().at is not None
