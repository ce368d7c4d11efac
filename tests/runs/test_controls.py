"""What a person may do to a run: permitted, with a reason, told in any case, and never driving."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from django.db import transaction

from accounts import errors as people
from accounts.actors import Actor
from accounts.models import User
from audit.models import Entry
from runs import controls, errors, status
from runs.models import Intervention, Run
from tests.runs.conftest import SHELL, entries, expire, lease_of, now
from tests.support import graphs

Control = Callable[..., Run]
CONTROLS: dict[str, Control] = {
    "cancel": controls.cancel,
    "retry": controls.retry,
    "force_resume": controls.force_resume,
    "ask_again": controls.ask_again,
}
DONE = {
    "cancel": "run.cancel_asked",
    "retry": "run.retried",
    "force_resume": "run.force_resumed",
    "ask_again": "run.ask_again",
}


def as_person(user: User, minutes_ago: float = 0) -> Actor:
    at = datetime.now(UTC) - timedelta(minutes=minutes_ago)
    return Actor.person(user, entry="page", authenticated_at=at, method="password")


@pytest.fixture
def parked(start, drive) -> Run:
    """A run that is parked for a bad answer, so that every control applies."""
    run = start("line")
    drive(run)
    Run.objects.filter(pk=run.pk).update(
        status="parked", park_reason="bad_answer", ended_at=None, output=None
    )
    return now(run)


@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_wakes_the_run_rings_and_is_told(parked, ada, rung, name) -> None:
    rung.clear()
    run = CONTROLS[name](parked.pk, actor=as_person(ada), reason="because")
    assert run.wakes == parked.wakes + 1
    assert run.status == "parked", "whoever drives next moves it, not the person"
    assert [(run_id, to) for run_id, _, to in rung] == [(run.pk, "")]
    done = Intervention.objects.get(run=run)
    assert (done.kind, done.user, done.label, done.reason) == (name, ada, "Ada", "because")
    entry = Entry.objects.filter(run_id=run.pk).latest("pk")
    assert (entry.verb, entry.allowed, entry.reason) == (DONE[name], True, "because")
    assert entry.actor_id == str(ada.pk)


def refused(run_id: UUID, name: str, error: type[Exception], actor: Actor, reason: str) -> None:
    """The control raises, changes nothing, and the attempt is told."""
    before = Run.objects.filter(pk=run_id).values().first()
    with pytest.raises(error) as refusal:
        CONTROLS[name](run_id, actor=actor, reason=reason)
    assert Run.objects.filter(pk=run_id).values().first() == before
    assert not Intervention.objects.filter(run_id=run_id).exists()
    entry = Entry.objects.latest("pk")
    assert (entry.verb, entry.allowed) == (f"run.{name}_refused", False)
    assert (entry.run_id, entry.target_id) == (run_id, str(run_id))
    assert (entry.reason, entry.data) == (str(refusal.value), {"given": reason})


@pytest.mark.parametrize("name", CONTROLS)
def test_somebody_without_the_permission_is_refused(parked, ben, name) -> None:
    refused(parked.pk, name, people.NotPermitted, as_person(ben), "because")


@pytest.mark.parametrize("name", CONTROLS)
def test_a_reason_is_required(parked, ada, name) -> None:
    refused(parked.pk, name, errors.ReasonMissing, as_person(ada), " \n")


@pytest.mark.parametrize("name", CONTROLS)
def test_a_run_that_does_not_exist_is_refused(ada, name) -> None:
    refused(uuid4(), name, errors.NoSuchRun, as_person(ada), "because")


@pytest.mark.parametrize("name", CONTROLS)
def test_an_ended_run_is_refused(start, drive, ada, name) -> None:
    run = start("line")
    drive(run)
    refused(run.pk, name, errors.RunEnded, as_person(ada), "because")


@pytest.mark.parametrize("name", CONTROLS)
def test_a_reason_with_characters_that_cannot_be_stored_is_kept_visibly(parked, ada, name) -> None:
    run = CONTROLS[name](parked.pk, actor=as_person(ada), reason="a\x00b")
    assert Intervention.objects.get(run=run).reason == "a\\u{0}b"
    assert run.cancel_reason == ("a\\u{0}b" if name == "cancel" else "")


# --- cancel ---------------------------------------------------------------------------------------


def test_asking_to_cancel_twice_keeps_the_first_word(start, ada) -> None:
    run = start("line")
    first = controls.cancel(run.pk, actor=as_person(ada), reason="first")
    second = controls.cancel(run.pk, actor=SHELL, reason="second")
    assert (second.cancel_reason, second.cancelled_by) == ("first", "Ada")
    assert second.cancel_asked_at == first.cancel_asked_at


# --- retry ----------------------------------------------------------------------------------------


def test_a_retry_does_not_wait_for_its_time(start, drive, settings, ada) -> None:
    settings.RUNS_BACKOFF = timedelta(hours=1)
    tries = iter([ConnectionError("away")])

    def once() -> None:
        for exc in tries:
            raise exc

    graphs.HOOKS["first"] = once
    run = start("line", tries=1)
    assert drive(run) is status.Outcome.RAISED
    assert now(run).status == "failed"

    tries = iter([ConnectionError("away")])
    run = start("line", tries=2)
    drive(run)
    assert drive(run) is None
    controls.retry(run.pk, actor=as_person(ada), reason="it is back")
    assert drive(run) is status.Outcome.FINISHED


@pytest.mark.parametrize("resting", ["running", "waiting"])
def test_a_run_that_needs_no_retry_is_refused(start, drive, ada, resting) -> None:
    run = start("ask")
    drive(run)
    Run.objects.filter(pk=run.pk).update(status=resting)
    refused(run.pk, "retry", errors.NothingToDo, as_person(ada), "because")


# --- force-resume ---------------------------------------------------------------------------------


def test_forcing_needs_a_recent_sign_in(parked, ada) -> None:
    refused(parked.pk, "force_resume", people.ReauthenticationNeeded, as_person(ada, 6), "because")
    never = Actor.person(ada, entry="page")
    refused(parked.pk, "force_resume", people.ReauthenticationNeeded, never, "because")
    controls.force_resume(parked.pk, actor=as_person(ada, 4), reason="because")


def test_forcing_is_refused_while_somebody_holds_the_lease(start, drive, ada) -> None:
    run = start("line")
    told = []

    def force() -> None:
        try:
            controls.force_resume(run.pk, actor=as_person(ada), reason="because")
        except errors.NothingToDo as exc:
            told.append(str(exc))

    graphs.HOOKS["second"] = force
    assert drive(run) is status.Outcome.FINISHED
    assert told
    assert told[0].startswith("w1 holds the lease")
    assert "run.force_resume_refused" in entries(run)


def test_forcing_a_stuck_run_leaves_the_fence_to_whoever_takes_it(start, drive, ada) -> None:
    run = start("line")
    graphs.HOOKS["second"] = lambda: expire(run)
    drive(run)
    assert lease_of(run).fence == 1
    forced = controls.force_resume(run.pk, actor=as_person(ada), reason="because")
    assert (lease_of(run).fence, forced.forgiven_fence) == (1, 1)
    assert drive(run) is status.Outcome.FINISHED


def test_forcing_decides_nothing(start, drive, ada) -> None:
    run = start("ask")
    drive(run)
    controls.force_resume(run.pk, actor=as_person(ada), reason="because")
    assert drive(run) is status.Outcome.WAITED
    assert run.requests.filter(status="pending").count() == 1
    assert "gate.after" not in graphs.visits(run.pk)


# --- waking what is parked ------------------------------------------------------------------------


def test_runs_parked_for_one_reason_are_woken_and_no_others(start, rung) -> None:
    stopped, lost = start("line"), start("line")
    for run, reason in ((stopped, "emergency_stop"), (lost, "state_lost")):
        Run.objects.filter(pk=run.pk).update(status="parked", park_reason=reason)
    rung.clear()
    with transaction.atomic():
        assert controls.wake_parked(status.Park.EMERGENCY_STOP) == [stopped.pk]
    assert [run_id for run_id, _, _ in rung] == [stopped.pk]
    assert (now(stopped).wakes, now(lost).wakes) == (1, 0)
