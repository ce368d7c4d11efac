"""What comes with time alone: nothing is written then."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

import pytest

from approvals.models import (
    Claim,
    Delegation,
    Request,
)
from runs.fleet import health
from runs.models import Run
from runs.status import Status
from signalbox import stamps
from tests.support import scenes
from tests.support import standing as make
from tests.support.people import person
from tests.support.polling import flush

LISTS = (*stamps.ALL_RUNS, *stamps.ASKED)


def a_deadline_passes(asked: Request, soon: datetime) -> None:
    Request.objects.update(deadline=soon)


def somebody_goes_away(asked: Request, soon: datetime) -> None:
    delegated(starts_at=soon, ends_at=make.soon(days=1))


def somebody_is_back(asked: Request, soon: datetime) -> None:
    delegated(starts_at=make.ago(days=1), ends_at=soon)


def somebody_looks_no_more(asked: Request, soon: datetime) -> None:
    Claim.objects.create(request=asked, user=person("Gus"), at=make.ago(hours=1), expires_at=soon)


def delegated(**times: datetime) -> None:
    absent, stand_in = person("Ben"), person("Gus")
    Delegation.objects.create(
        absent=absent, stand_in=stand_in, made_by=absent, agents=["*"], reason="Away", **times
    )


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "sets",
    [a_deadline_passes, somebody_goes_away, somebody_is_back, somebody_looks_no_more],
    ids=lambda sets: sets.__name__,
)
def test_what_comes_with_time_alone_changes_what_lists_it(sets) -> None:
    waits = make.run(status=Status.WAITING)
    asked = scenes.question(waits, scenes.Clock(hours=1), "t", 0)
    Request.objects.update(created_at=make.ago(days=9))  # so its deadline is near already
    sets(asked, make.soon(seconds=2))
    flush()
    before = [stamps.of(path) for path in LISTS]
    late = time.monotonic() + 20
    while set(before) & {stamps.of(path) for path in LISTS}:
        assert time.monotonic() < late


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("since", [timedelta(0), health.LONG], ids=["due", "late"])
def test_that_a_run_is_due_and_that_it_waits_for_long_changes_the_overview(since) -> None:
    run = make.run(status=Status.QUEUED)
    soon = make.soon(seconds=2) - since
    Run.objects.filter(pk=run.pk).update(due_at=soon, updated_at=soon)
    flush()
    before, late = stamps.of("/"), time.monotonic() + 20
    while before == stamps.of("/"):
        assert time.monotonic() < late
