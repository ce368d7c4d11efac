"""Workers, how busy they are, and the leases they hold."""

from __future__ import annotations

from datetime import timedelta

import pytest

from runs import workers
from runs.fleet.crews import crews
from runs.fleet.held import held
from tests.support import standing as make
from tests.support.fleet import worker
from tests.support.people import person

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("fields", "state"),
    [({}, "alive"), ({"draining": True}, "draining"), ({"seen_at": make.ago(hours=1)}, "gone")],
)
def test_a_worker_is_alive_draining_or_gone(fields, state) -> None:
    worker(**fields)
    assert [crew.state.value for crew in crews()] == [state]


def test_a_worker_holds_the_leases_of_its_processes() -> None:
    worker()
    worker("worker@alpha2")
    make.running()
    other = make.running()
    make.lease(other, holder="worker@alpha:9")
    make.stuck()
    assert {crew.worker.name: crew.leases for crew in crews()} == {
        "worker@alpha": 2,
        "worker@alpha2": 0,
    }


def test_a_worker_of_another_release_is_marked(settings) -> None:
    settings.RELEASE = "2.1"
    worker("same", release="2.1")
    worker("older", release="2.0")
    worker("says nothing")
    assert [crew.worker.name for crew in crews() if crew.other_release] == ["older"]


def test_only_workers_that_live_and_take_runs_count() -> None:
    worker()
    worker("sweep@alpha", agents={})
    worker("w3", draining=True)
    worker("w4", seen_at=make.ago(hours=1), agents={"triage": "1"})
    assert len(workers.driving()) == 1
    assert list(workers.Offers.now().by_worker.values()) == [{"refund_desk": "1.0"}]


def test_what_a_worker_says_of_itself_is_kept(settings) -> None:
    settings.RELEASE = "2.1"
    workers.announce("w", drives=True, slots=3)
    (crew,) = crews()
    assert (crew.worker.release, crew.worker.slots) == ("2.1", 3)
    workers.announce("sweeper", drives=False, slots=3)
    assert [crew.worker.slots for crew in crews()] == [3, 0]


def test_live_leases_are_listed_with_the_time_left_and_the_node() -> None:
    make.stuck()
    run = make.running()
    make.checkpoint(run, 5, at=make.ago(seconds=8), updated=["branch:to:assess"])
    (found,) = held(person("Ada"))
    assert (found.lease.run, found.node) == (run, "assess")
    assert timedelta(seconds=20) < found.left < timedelta(seconds=26)


def test_a_lease_that_nobody_renewed_for_long_warns() -> None:
    fresh, old = make.running(), make.running()
    make.lease(fresh, expires_at=make.soon(seconds=29))
    make.lease(old, expires_at=make.soon(seconds=5))
    assert [(each.lease.run, each.state.tone) for each in held(person("Ada"))] == [
        (old, "warn"),
        (fresh, "info"),
    ]


def test_leases_of_runs_of_others_are_not_shown_to_who_may_not_see_them() -> None:
    make.running()
    assert held(person("Ben")) == []
