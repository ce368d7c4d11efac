"""What waits for a worker, and whether any could take it."""

from __future__ import annotations

import pytest

from runs.fleet import backlog
from runs.fleet.crews import crews
from runs.status import Status
from tests.support import caches
from tests.support import standing as make
from tests.support.fleet import worker

pytestmark = pytest.mark.django_db


def lines() -> list[backlog.Line]:
    return backlog.lines(crews())


def test_the_queue_holds_what_is_due_and_not_driven() -> None:
    make.running()
    make.run(status=Status.WAITING, wait_until=make.soon(hours=1))
    make.run(due_at=make.soon(hours=1))
    assert (backlog.queue().depth, backlog.queue().oldest) == (0, None)
    assert lines() == []
    queued = make.run()
    make.stuck()
    found = backlog.queue()
    assert found.depth == 2
    assert found.oldest is not None
    assert found.oldest <= queued.updated_at


def test_what_no_worker_knows_comes_first_and_says_how_to_start_one() -> None:
    worker()
    make.run()
    for _ in range(3):
        make.run(agent="returns_desk", agent_version="2.0")
    unknown, known = lines()
    assert (unknown.agent, unknown.version, unknown.depth) == ("returns_desk", "2.0", 3)
    assert unknown.says == "No worker knows returns_desk 2.0. Start one from a release that has it."
    assert (unknown.state.tone, unknown.command) == ("bad", backlog.COMMAND)
    assert (known.says, known.command) == ("1 worker knows it.", "")


def test_a_worker_with_another_version_is_no_help_and_is_named() -> None:
    worker(agents={"refund_desk": "2.0"})
    make.run()
    (line,) = lines()
    assert line.blocked
    assert "in another version only (2.0), and would park runs of 1.0" in line.says


def test_a_worker_whose_version_is_compatible_takes_them(settings) -> None:
    first = {**settings.RUNS_AGENTS[0], "version": "2.0", "compatible_with": ["1.0"]}
    settings.RUNS_AGENTS = [first]
    caches.forget()
    worker(agents={"refund_desk": "2.0"})
    make.run()
    (line,) = lines()
    assert not line.blocked


@pytest.mark.parametrize("gone", [{"draining": True}, {"seen_at": make.ago(hours=1)}])
def test_workers_that_stop_or_are_gone_take_nothing(gone) -> None:
    worker(**gone)
    make.run()
    (line,) = lines()
    assert line.blocked


def test_when_every_slot_is_taken_they_wait_for_the_next_free_one() -> None:
    worker(slots=1)
    make.run()
    assert [(line.free, line.state.tone) for line in lines()] == [(1, "ok")]
    make.running()
    assert [(line.free, line.state.tone) for line in lines()] == [(0, "warn")]


def test_who_does_not_say_how_much_it_drives_is_not_called_busy() -> None:
    worker(slots=0)
    make.running()
    make.run()
    (line,) = lines()
    assert (line.free, line.state.tone) == (None, "ok")
