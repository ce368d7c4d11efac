"""Reading the log."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from accounts.actors import Actor
from audit import queries, trail
from audit.models import Entry
from audit.queries import Filters

RUN = uuid.UUID(int=9)


@pytest.fixture
def log(ada, record):
    """Four entries by name, oldest first."""
    sweeper = Actor.system("sweeper")
    return {
        "started": record(run_id=RUN),
        "parked": trail.record("run.parked", actor=sweeper, target=("run", "1"), run_id=RUN),
        "refused": record(allowed=False, target_id="2"),
        "stop": trail.record("stop.set", actor=ada, target=("agent", "1")),
    }


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        (Filters(), ["stop", "refused", "parked", "started"]),
        (Filters(verbs=("run.parked", "stop.set")), ["stop", "parked"]),
        (Filters(actor_id="7"), ["stop", "refused", "started"]),
        (Filters(actor_label="sweeper"), ["parked"]),
        (Filters(target_kind="run"), ["refused", "parked", "started"]),
        (Filters(target_kind="run", target_id="1"), ["parked", "started"]),
        (Filters(run_id=RUN), ["parked", "started"]),
        (Filters(allowed=False), ["refused"]),
        (Filters(allowed=True, actor_id="7"), ["stop", "started"]),
        (Filters(verbs=("person.changed",)), []),
    ],
)
def test_entries_are_filtered_newest_first(log, filters, names):
    assert queries.entries(filters) == [log[name] for name in names]


def test_entries_are_filtered_by_time_the_end_not_included(log):
    since, until = log["parked"].at, log["stop"].at
    assert queries.entries(Filters(since=since, until=until)) == [log["refused"], log["parked"]]
    assert queries.entries(Filters(since=until + timedelta(seconds=1))) == []


def test_a_log_that_grows_does_not_shift_the_page(log, record):
    first = queries.entries(Filters(), limit=2)
    record()
    assert first == [log["stop"], log["refused"]]
    second = queries.entries(Filters(), after_id=first[-1].id, limit=2)
    assert second == [log["parked"], log["started"]]
    assert queries.entries(Filters(), after_id=second[-1].id, limit=2) == []


def test_what_happened_to_a_run_is_told_from_the_beginning(log):
    assert list(queries.for_run(RUN)) == [log["started"], log["parked"]]


def test_an_entry_is_found_by_an_id_that_was_cut(record):
    entry = record(target_id="x" * 5000)
    assert queries.entries(Filters(target_id="x" * 5000)) == [entry]


def test_times_are_kept_to_also_where_the_clock_was_set_back(db):
    now = timezone.now()

    def made(**ago: int) -> int:
        fields = {"verb": "run.started", "target_kind": "run", "target_id": "1"}
        return Entry.objects.create(at=now - timedelta(**ago), **fields).pk

    old, young, set_back = made(days=5), made(hours=1), made(hours=20)
    assert found(until=now - timedelta(days=4)) == [old]
    assert found(until=now - timedelta(hours=10)) == [set_back, old]
    assert found(since=now - timedelta(hours=10)) == [young]
    assert found(since=now - timedelta(days=4)) == [set_back, young]


def found(*, since: datetime | None = None, until: datetime | None = None) -> list[int]:
    return [entry.pk for entry in queries.entries(Filters(since=since, until=until))]
