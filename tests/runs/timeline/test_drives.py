"""Who drove when: what a lost worker leaves behind."""

from __future__ import annotations

import pytest
from django.utils import timezone

from runs import leases
from runs.models import Attempt, Lease
from runs.timeline import drives
from tests.runs.conftest import expire
from tests.support import scenes


def test_taking_over_keeps_the_last_heartbeat_and_when_the_lease_ran_out(start) -> None:
    run = start("line")
    leases.take(run.pk, holder="w1", cause="test")
    expire(run)
    before = Lease.objects.get(pk=run.pk)
    leases.take(run.pk, holder="w2", cause="test")
    lost, open_ = Attempt.objects.filter(run=run).order_by("fence")
    assert (lost.seen_at, lost.expired_at) == (before.renewed_at, before.expires_at)
    assert (open_.seen_at, open_.expired_at) == (None, None)


@pytest.mark.django_db
def test_a_lost_worker_drove_up_to_its_last_heartbeat() -> None:
    run = scenes.killed()
    attempts = list(run.attempts.order_by("fence"))
    lost, second, _third = drives.of(run, attempts, [], timezone.now())
    assert (lost.end, lost.expired) == (attempts[0].seen_at, attempts[0].expired_at)
    assert [lost.end, lost.expired, second.start] == sorted(
        filter(None, [second.start, lost.expired, lost.end])
    )


@pytest.mark.django_db
def test_after_its_end_a_run_waits_for_nobody() -> None:
    run = scenes.short()
    (only,) = drives.of(run, list(run.attempts.all()), [], timezone.now())
    assert only.why == "the run has ended"
