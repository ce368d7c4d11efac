"""Ordering an operation, and stopping one: who may, once, and what is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission
from django.utils import timezone

from accounts import errors as people
from accounts.actors import Actor
from audit.models import Entry
from runs import errors
from runs.models import Operation
from runs.operations import ordering, work
from runs.operations.states import OUTCOMES, STATUSES
from runs.status import Park
from tests.runs.operations.hands import acting, again, asked, order, outcomes, wanted
from tests.support import standing as make
from tests.support.people import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db):
    return person("Ada")


def test_an_order_names_the_runs_that_were_shown_and_asks_for_a_worker(
    ada, called, django_capture_on_commit_callbacks
) -> None:
    runs = [make.run(), make.parked(Park.CRASH_LOOP)]
    with django_capture_on_commit_callbacks(execute=True):
        made = order(ada, runs, query="status=parked", matched=7)
    assert [item.run_id for item in made.items.order_by("position")] == [run.pk for run in runs]
    assert called == ["runs.tasks.operate"]
    entry = Entry.objects.get(verb="operation.ordered")
    assert (entry.reason, entry.data["matched"], len(entry.data["runs"])) == ("Twice.", 7, 2)


def test_the_same_form_sent_twice_orders_once(ada) -> None:
    same = wanted([make.run()])
    first = ordering.order(same, actor=acting(ada))
    assert ordering.order(same, actor=acting(ada)) == first
    assert Operation.objects.count() == 1
    assert Entry.objects.filter(verb="operation.ordered").count() == 1


@pytest.mark.parametrize("name", ["Ben", "Cy", "Dee"])
@pytest.mark.parametrize("kind", ["cancel", "resume"])
def test_who_may_not_is_refused_and_that_is_told(name, kind) -> None:
    user = person(name)
    with pytest.raises(people.NotPermitted):
        order(user, [make.stuck()], kind)
    assert not Operation.objects.exists()
    assert Entry.objects.get(verb="operation.refused").actor_id == str(user.pk)


def test_many_and_the_act_itself_are_two_permissions(ada) -> None:
    dee = person("Dee")
    dee.user_permissions.add(Permission.objects.get(codename="order_operation"))
    with pytest.raises(people.NotPermitted, match="cancel a run"):
        order(dee, [make.run()])
    ada.groups.clear()
    ada.user_permissions.add(Permission.objects.get(codename="cancel_run"))
    with pytest.raises(people.NotPermitted, match="many runs"):
        order(ada, [make.run()])


def test_the_system_orders_nothing(db) -> None:
    with pytest.raises(people.NotPermitted):
        ordering.order(wanted([make.run()]), actor=Actor.system("sweeper"))


def test_force_resuming_needs_a_recent_sign_in_and_cancelling_does_not(ada) -> None:
    old = acting(ada, at=timezone.now() - timedelta(minutes=6))
    with pytest.raises(people.ReauthenticationNeeded):
        ordering.order(wanted([make.stuck()], "resume"), actor=old)
    ordering.order(wanted([make.run()]), actor=old)
    order(ada, [make.stuck()], "resume")
    assert Operation.objects.count() == 2


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"reason": "  "}, errors.ReasonMissing),
        ({"runs": []}, errors.NoRunChosen),
        ({"runs": [(uuid4(), "under way")]}, errors.NoRunChosen),
        ({"runs": [(uuid4(), "")] * 51}, errors.TooManyRuns),
        ({"runs": [(uuid4(), "")] * 1001, "query": "q=x"}, errors.TooManyRuns),
    ],
)
def test_what_cannot_be_done_is_refused(ada, given, refusal) -> None:
    with pytest.raises(refusal):
        ordering.order(replace(wanted([make.run()]), **given), actor=acting(ada))
    assert not Operation.objects.exists()


def test_nobody_acts_on_what_they_may_not_see(ada) -> None:
    dee = person("Dee")
    for codename in ("order_operation", "cancel_run"):
        dee.user_permissions.add(Permission.objects.get(codename=codename))
    hers, other = make.run(by=dee), make.run()
    made = order(dee, [hers, other])
    assert [item.run_id for item in made.items.all()] == [hers.pk]


# --- stopping -------------------------------------------------------------------------------------


def test_stopping_leaves_the_rest_alone_and_needs_no_worker(ada) -> None:
    runs = [make.run() for _ in range(3)]
    made = order(ada, runs)
    made.items.filter(position=1).update(outcome="done")
    stopped = ordering.stop(made.pk, actor=acting(ada))
    assert (stopped.status, stopped.stopped_by) == ("stopped", "Ada")
    assert outcomes(made) == ["done", "stopped", "stopped"]
    assert Entry.objects.get(verb="operation.stopped").data == {"left": 2}
    assert work.work() == 0
    assert not any(map(asked, runs))


def test_what_has_ended_is_not_stopped(ada) -> None:
    made = order(ada, [make.run()])
    work.work()
    with pytest.raises(errors.OperationEnded):
        ordering.stop(made.pk, actor=acting(ada))
    assert again(made).status == "done"
    with pytest.raises(errors.NoSuchOperation):
        ordering.stop(uuid4(), actor=acting(ada))
    assert Entry.objects.filter(verb="operation.refused").count() == 2


def test_who_may_not_order_may_not_stop(ada) -> None:
    made = order(ada, [make.run()])
    with pytest.raises(people.NotPermitted):
        ordering.stop(made.pk, actor=acting(person("Cy")))
    assert again(made).status == "working"


def test_every_state_is_described() -> None:
    assert list(STATUSES) == Operation.Status.values
    assert set(OUTCOMES) == {"pending", "done", "skipped", "refused", "stopped"}
