"""Deadlines: fired once, by the policy's outcome, whoever notices first."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import transaction

from accounts import clock
from approvals import deadlines, shapes, sweep
from approvals.models import Decision, Request
from approvals.policy import OnDeadline, Policy
from approvals.status import Status
from audit.models import Entry
from runs.models import Run
from tests.approvals.conftest import approve, due_in, entries, now, ours


@pytest.fixture
def overdue(asked, rule):
    """A request whose deadline has just passed, under a policy with this outcome."""

    def overdue(payload: object = None, **policy: object):
        rule(**policy)
        request = asked(payload)
        due_in(request, timedelta(milliseconds=-1))
        return request

    return overdue


def test_a_deadline_that_lies_ahead_fires_nothing(asked):
    request = asked()
    assert sweep.sweep() == 0
    assert sweep.expire(request.pk) is False
    assert now(request).status == Status.PENDING


def test_expired_is_an_answer_of_its_own(overdue, bells, django_capture_on_commit_callbacks):
    request = overdue()
    with django_capture_on_commit_callbacks(execute=True):
        assert sweep.sweep() == 1
    decision = Decision.objects.get()
    assert decision.verdict == "expired"
    assert decision.answer == {
        "decision": "expired",
        "value": None,
        "comment": "",
        "digest": request.digest,
        "by": "deadline",
    }
    assert (decision.decided_by, decision.decider) == (None, "deadline")
    assert now(request).status == Status.EXPIRED
    assert now(request.run).wakes == 1
    assert bells == [(request.run_id, "deadline")]
    (entry,) = entries(request, "request.expired")
    assert (entry.actor_kind, entry.actor_label) == ("system", "deadline")


def test_it_fires_once(overdue):
    request = overdue()
    assert [sweep.sweep() for _ in range(3)] == [1, 0, 0]
    assert now(request.run).wakes == 1
    assert Entry.objects.filter(verb="request.expired").count() == 1


def test_the_run_may_be_cancelled(overdue):
    request = overdue(on_deadline="cancel")
    sweep.sweep()
    run = now(request.run)
    assert run.cancel_asked_at is not None
    assert (run.cancel_reason, run.cancelled_by) == ("nobody decided in time", "deadline")
    assert run.wakes == 1
    assert not Decision.objects.exists()
    assert Entry.objects.filter(verb="run.cancel_asked", run_id=run.pk).count() == 1


def test_the_run_may_go_on_read_only(overdue):
    request = overdue(on_deadline="read_only")
    sweep.sweep()
    assert now(request.run).read_only
    assert Decision.objects.get().answer["decision"] == "expired"


def test_the_run_may_be_parked(overdue):
    request = overdue(on_deadline="park")
    sweep.sweep()
    run = now(request.run)
    assert (run.wakes, run.cancel_asked_at, run.read_only) == (1, None, False)
    assert not Decision.objects.exists()
    assert now(request).status == Status.EXPIRED


@pytest.mark.parametrize("on_deadline", ["reject", "read_only"])
def test_an_agent_that_has_no_word_for_expired_is_cancelled(overdue, on_deadline):
    request = overdue("May I?", on_deadline=on_deadline)
    sweep.sweep()
    run = now(request.run)
    assert run.cancel_asked_at is not None
    assert not run.read_only
    assert not Decision.objects.exists()


def test_a_policy_may_give_a_bare_interrupt_a_word_for_expired(overdue):
    overdue("May I?", answers={"expired": "too late"})
    sweep.sweep()
    assert Decision.objects.get().answer == "too late"


@pytest.mark.parametrize(
    ("shape", "on_deadline", "answers", "follows", "answered"),
    [
        ("ours", "reject", {}, "reject", True),
        ("ours", "read_only", {}, "read_only", True),
        ("ours", "cancel", {}, "cancel", False),
        ("ours", "park", {}, "park", False),
        ("plain", "reject", {}, "cancel", False),
        ("plain", "reject", {"reject": 1}, "cancel", False),
        ("plain", "reject", {"expired": 0}, "reject", True),
        ("plain", "park", {}, "park", False),
        ("agent_inbox", "read_only", {}, "cancel", False),
    ],
)
def test_what_follows_from_a_deadline(shape, on_deadline, answers, follows, answered):
    rule = Policy(name="p", group="g", on_deadline=on_deadline, answers=answers)
    request = Request(shape=shape, payload={"question": "May I?"}, digest="d")
    expiry = deadlines.outcome(request, rule)
    assert expiry.outcome == OnDeadline(follows)
    assert (expiry.answer is not shapes.NOTHING) is answered


def test_the_policy_of_then_says_what_follows(overdue, rule):
    request = overdue(on_deadline="park")
    rule(on_deadline="cancel")
    sweep.sweep()
    assert now(request.run).cancel_asked_at is None


def test_a_first_vote_of_two_does_not_keep_a_request_from_expiring(asked, ben, rule):
    rule(quorum=2)
    request = asked()
    approve(request, ben)
    due_in(request, timedelta(0))
    assert sweep.sweep() == 1
    assert Decision.objects.get().verdict == "expired"


def test_a_decided_request_does_not_expire(asked, ben):
    request = asked()
    approve(request, ben)
    due_in(request, timedelta(seconds=-1))
    assert sweep.sweep() == 0
    with transaction.atomic():
        assert deadlines.expire(now(request.run), now(request)) is False
    assert Decision.objects.get().verdict == "approved"
    assert now(request.run).wakes == 1


def test_a_run_that_is_being_cancelled_is_left_to_its_driver(overdue):
    request = overdue()
    Run.objects.filter(pk=request.run_id).update(cancel_asked_at=clock.now())
    assert sweep.sweep() == 0
    assert now(request).status == Status.PENDING


def test_one_that_fails_does_not_keep_the_others_from_their_turn(overdue, monkeypatch, caplog):
    bad, good = overdue(ours("A?")), overdue(ours("B?"))
    expire = sweep.expire

    def failing(request_id: UUID) -> bool:
        if request_id == bad.pk:
            raise KeyError("a policy that cannot be read")
        return expire(request_id)

    failing.__name__ = "expire"
    monkeypatch.setattr(sweep, "expire", failing)
    assert sweep.sweep() == 1
    assert now(good).status == Status.EXPIRED
    assert str(bad.pk) in caplog.text


# --- runs that did not notice ---------------------------------------------------------------------


@pytest.fixture
def rest(asked, ben):
    """A waiting run whose decision nobody has noticed, at rest for this long."""

    def rest(since: timedelta, *, decided: bool = True, **fields: object) -> Run:
        request = asked()
        if decided:
            approve(request, ben)
        run = Run.objects.get(pk=request.run_id)
        Run.objects.filter(pk=run.pk).update(
            seen_wakes=run.wakes, updated_at=clock.now() - since, **fields
        )
        return run

    return rest


LONG = timedelta(seconds=30)


def test_a_run_that_rests_on_a_decision_is_woken(rest, bells, django_capture_on_commit_callbacks):
    run = rest(LONG)
    with django_capture_on_commit_callbacks(execute=True):
        assert sweep.sweep() == 1
    assert now(run).wakes == run.wakes + 1
    assert bells == [(run.pk, "found by the sweeper")]
    assert sweep.sweep() == 0


def test_a_run_that_waits_for_nobody_is_woken(rest):
    run = rest(LONG, decided=False)
    run.requests.update(status="withdrawn")
    assert sweep.sweep() == 1


def test_a_run_that_waits_for_a_person_is_left_alone(rest):
    rest(LONG, decided=False)
    assert sweep.sweep() == 0


@pytest.mark.parametrize("delivery", ["took_effect", "not_delivered"])
def test_a_run_whose_decision_is_settled_and_that_asks_again_is_left_alone(rest, delivery):
    run = rest(LONG)
    Decision.objects.update(delivery=delivery)
    run.requests.update(status="pending")
    assert sweep.sweep() == 0


def test_a_run_that_was_decided_a_moment_ago_is_left_to_its_own_doorbell(rest):
    rest(timedelta(seconds=1))
    assert sweep.sweep() == 0


@pytest.mark.parametrize("status", ["running", "queued"])
def test_a_run_that_somebody_drives_or_will_drive_is_left_alone(rest, status):
    rest(LONG, status=status)
    assert sweep.sweep() == 0
