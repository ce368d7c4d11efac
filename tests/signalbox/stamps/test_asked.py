"""What is asked of people."""

from __future__ import annotations

import pytest

from accounts.actors import Actor
from audit import trail
from runs.models import Run
from signalbox import stamps
from tests.support import changes
from tests.support import standing as make
from tests.support.polling import flush


def cancelled(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(cancel_asked_at=make.ago(seconds=1))


def opened(run: Run) -> None:
    target = ("request", str(changes.request(run).pk))
    trail.record("request.opened", actor=Actor.system("test"), target=target, run_id=run.pk)


WORK = (
    *(changes.status, changes.beat, changes.told, changes.checkpoint, changes.checkpoint_write),
    *(changes.attempt, changes.effect_settled, changes.call),
)
ASKED = (
    *(opened, changes.question, changes.decision, changes.escalation),
    *(cancelled, changes.claim),
)


@pytest.mark.django_db(transaction=True)
def test_what_is_asked_of_people_follows_requests_and_not_the_work_of_runs() -> None:
    run = changes.busy()
    flush()
    stamp = stamps.of("/approvals/")
    for change in WORK:
        change(run)
    flush()
    assert stamps.of("/approvals/") == stamp
    for change in ASKED:
        before = stamps.of("/approvals/")
        change(run)
        flush()
        assert stamps.of("/approvals/") != before, change.__name__
