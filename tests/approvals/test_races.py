"""Races around one request: many forms, many people, the deadline, the run's own driver."""

from __future__ import annotations

import threading
import time
from collections import Counter
from datetime import timedelta
from functools import partial

import pytest
from django.db import connections, transaction

from accounts import clock
from accounts.models import User
from approvals import errors, requests, sweep
from approvals.decisions import Outcome
from approvals.models import Decision, Request, Vote
from approvals.status import Status
from audit.models import Entry
from runs.models import Run
from tests.approvals.conftest import (
    Handicap,
    approve,
    ask,
    due_in,
    entries,
    now,
    ours,
    pending,
    racing,
    reject,
    together,
)
from tests.support.people import person

pytestmark = [pytest.mark.race, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def duel(transactional_db: None):
    """Two racers for many races in a row."""
    with racing(2) as go:
        yield go


def outcomes(results: list[object]) -> Counter[str]:
    return Counter(type(result).__name__ for result in results)


def test_one_form_sent_twenty_times_at_once_is_one_verdict(asked, ben):
    request = asked()
    results = together(*[partial(approve, request, ben, token="form")] * 20)
    assert outcomes(results) == {"Outcome": 20}
    assert len(set(results)) == 1
    assert sum(not result.repeated for result in results) == 1
    assert (Vote.objects.count(), Decision.objects.count()) == (1, 1)
    assert now(request.run).wakes == 1
    assert len(entries(request, "decision.made")) == 1


def test_twenty_tabs_of_one_person_are_one_verdict_and_nineteen_are_told(asked, ben):
    request = asked()
    results = together(*[partial(approve, request, ben)] * 20)
    assert outcomes(results) == {"Outcome": 1, "AlreadyDecided": 19}
    assert all(each.decider == "Ben" for each in results if not isinstance(each, Outcome))
    assert Decision.objects.count() == 1
    assert len(entries(request, "decision.refused")) == 19


def test_of_an_approval_and_a_rejection_at_the_same_moment_one_counts(asked, ben, eve, duel):
    won: Counter[str] = Counter()
    fair = Handicap()
    for _ in range(200):
        request = asked()
        results = duel(*fair(partial(approve, request, ben), partial(reject, request, eve)))
        assert outcomes(results) == {"Outcome": 1, "AlreadyDecided": 1}
        (winner,) = [each for each in results if isinstance(each, Outcome)]
        (loser,) = [each for each in results if not isinstance(each, Outcome)]
        decision = Decision.objects.get(request=request)
        assert decision.verdict == winner.verdict == loser.verdict == now(request).status
        assert decision.decider == loser.decider
        assert now(request.run).wakes == 1
        won[winner.verdict] += 1
        fair.won(0 if winner.verdict == Status.APPROVED else 1)
    assert min(won["approved"], won["rejected"]) >= 40, won


def test_two_of_twenty_people_complete_a_quorum_and_nobody_is_counted_twice(asked, rule):
    rule(quorum=2)
    people = [person(f"P{n}", "finance", "approver") for n in range(10)]
    request = asked()
    # Each of them clicks twice, in two tabs.
    results = together(*[partial(approve, request, each) for each in people * 2])
    votes = [each for each in results if isinstance(each, Outcome)]
    assert [sorted(each.missing for each in votes)] == [[0, 1]]
    assert Vote.objects.values("user").distinct().count() == Vote.objects.count() == 2
    assert Decision.objects.get().decider.count(",") == 1
    assert now(request.run).wakes == 1


def test_an_approval_that_completes_a_quorum_and_a_rejection_give_one_verdict(
    asked, ben, eve, rule, duel
):
    rule(quorum=2)
    flo = person("Flo", "finance", "approver")
    for _ in range(20):
        request = asked()
        approve(request, ben)
        results = duel(partial(approve, request, eve), partial(reject, request, flo))
        assert outcomes(results) == {"Outcome": 1, "AlreadyDecided": 1}
        assert Decision.objects.get(request=request).verdict == now(request).status


def test_an_approval_at_the_deadline_and_the_sweeper_leave_one_terminal_state(asked, ben, duel):
    """200 trials around the boundary; the run and the person are told the same thing."""
    seen: Counter[str] = Counter()
    early = 0.02
    for trial in range(200):
        clicked = one_race_against_the_deadline(duel, asked(), ben, early)
        seen[type(clicked).__name__] += 1
        # Aim at the boundary, whatever this machine needs for a click, and miss it a little.
        early += 0.003 if isinstance(clicked, errors.DeadlinePassed) else -0.003
        early += (trial % 7 - 3) * 0.0005
    assert min(seen["Outcome"], seen["DeadlinePassed"]) >= 40, seen
    assert sum(seen.values()) == 200


def one_race_against_the_deadline(duel, request: Request, ben: User, early: float) -> object:
    """Click this many seconds before the deadline while a sweeper fires; what the person got."""
    set_ = threading.Event()

    def click() -> Outcome:
        deadline = due_in(request, timedelta(seconds=max(0.0, early) + 0.005))
        set_.set()
        time.sleep(max(0.0, (deadline - clock.now()).total_seconds() - early))
        return approve(request, ben)

    def fire() -> None:
        set_.wait(10)
        left = now(request).deadline - clock.now()
        time.sleep(max(0.0, left.total_seconds() - 0.001))
        while not sweep.expire(request.pk) and now(request).status == Status.PENDING:
            time.sleep(0.001)

    clicked, fired = duel(click, fire)
    assert fired is None
    decision = Decision.objects.get(request=request)
    assert decision.verdict == now(request).status
    assert now(request.run).wakes == 1
    if decision.verdict == Status.APPROVED:
        assert isinstance(clicked, Outcome)
        assert Vote.objects.get(request=request).at <= decision.at
    else:
        assert decision.verdict == Status.EXPIRED
        assert isinstance(clicked, errors.DeadlinePassed), clicked
        assert decision.at >= request.deadline
        assert decision.answer["decision"] == "expired"
        assert not Vote.objects.filter(request=request).exists()
    return clicked


def test_a_click_before_the_deadline_that_has_to_wait_past_it_comes_too_late(asked, ben):
    request = asked()
    held, clicked_in_time = threading.Event(), threading.Event()

    def hold():
        """As a driver that is slow in its last transaction."""
        with transaction.atomic():
            Run.objects.select_for_update(no_key=True).get(pk=request.run_id)
            held.set()
            clicked_in_time.wait(10)
            time.sleep(0.4)

    def click():
        held.wait(10)
        due_in(request, timedelta(milliseconds=200))
        clicked_in_time.set()
        return approve(request, ben)

    _, clicked = together(hold, click)
    assert isinstance(clicked, errors.DeadlinePassed)
    assert now(request).status == Status.EXPIRED


def test_two_sweepers_and_a_late_click_fire_a_deadline_once(asked, ben):
    for _ in range(10):
        overdue = [asked() for _ in range(3)]
        for request in overdue:
            due_in(request, timedelta(0))
        swept = together(sweep.sweep, sweep.sweep, partial(approve, overdue[1], ben))
        assert isinstance(swept[2], errors.DeadlinePassed)
        sweep.sweep()
        for request in overdue:
            assert now(request).status == Status.EXPIRED
            assert now(request.run).wakes == 1
            assert len(entries(request, "request.expired")) == 1


def test_the_sweeper_leaves_alone_what_somebody_has_locked(asked):
    request = asked()
    due_in(request, timedelta(0))
    held, swept = threading.Event(), threading.Event()

    def hold() -> object:
        """As a verdict or a driver that is at it."""
        with transaction.atomic():
            Run.objects.select_for_update(no_key=True).get(pk=request.run_id)
            held.set()
            assert swept.wait(20), "the sweeper waits for a lock"
            return now(request).status

    def fire() -> bool:
        held.wait(10)
        try:
            return sweep.expire(request.pk)
        finally:
            swept.set()

    assert together(hold, fire) == [Status.PENDING, False]
    assert sweep.expire(request.pk)


def test_a_verdict_and_a_change_of_the_question_never_mix(asked, ben, duel):
    """Either the old question was decided and that is void, or the verdict is refused."""
    seen: Counter[str] = Counter()
    fair = Handicap()
    for _ in range(40):
        request = asked()
        changed = pending(ours("Refund order 8?"))
        clicked, opened = duel(
            *fair(partial(approve, request, ben), partial(ask, request.run, changed))
        )
        assert isinstance(opened, Request)
        assert opened.round == 2
        if isinstance(clicked, Outcome):
            assert Decision.objects.get(request=request).delivery == "not_delivered"
            seen["void"] += 1
            fair.won(0)
        else:
            assert isinstance(clicked, errors.PayloadChanged)
            assert clicked.now == opened.pk
            seen["refused"] += 1
            fair.won(1)
        assert not Decision.objects.filter(request=opened).exists()
    assert len(seen) == 2, seen


def test_a_verdict_and_the_end_of_the_run_never_mix(asked, ben, duel):
    for _ in range(20):
        request = asked()

        def end(request=request):
            with transaction.atomic():
                run = Run.objects.select_for_update(no_key=True).get(pk=request.run_id)
                requests.withdraw(run, "the run has ended")

        clicked, _ = duel(partial(approve, request, ben), end)
        if isinstance(clicked, Outcome):
            assert Decision.objects.get(request=request).delivery == "not_delivered"
        else:
            assert isinstance(clicked, errors.Withdrawn)
        assert now(request).status != Status.PENDING


def test_a_token_used_for_two_requests_at_once_counts_for_one(asked, ben, duel):
    for _ in range(10):
        one, two = asked(), asked()
        results = duel(*[partial(approve, each, ben, token=str(one.pk)) for each in (one, two)])
        assert outcomes(results) == {"Outcome": 1, "TokenReused": 1}
        assert Decision.objects.filter(request__in=[one, two]).count() == 1


def test_a_right_taken_away_while_the_verdict_waits_for_the_lock_is_gone(asked, ben):
    request = asked()
    held = threading.Event()

    def hold():
        with transaction.atomic():
            Run.objects.select_for_update(no_key=True).get(pk=request.run_id)
            held.set()
            time.sleep(0.1)  # the click is waiting by now
            ben.groups.clear()

    def click():
        held.wait(10)
        return approve(request, ben)

    _, clicked = together(hold, click)
    assert isinstance(clicked, errors.NotEligible)
    assert not Decision.objects.exists()


def test_somebody_who_holds_the_run_for_too_long_makes_the_verdict_fail_openly(asked, ben):
    request = asked()
    held, clicked = threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            Run.objects.select_for_update(no_key=True).get(pk=request.run_id)
            held.set()
            clicked.wait(20)

    def click():
        held.wait(10)
        with connections["default"].cursor() as cursor:
            cursor.execute("SET lock_timeout = '50ms'")
        try:
            return approve(request, ben)
        finally:
            clicked.set()

    _, result = together(hold, click)
    assert isinstance(result, errors.Busy)
    assert now(request).status == Status.PENDING
    assert Entry.objects.get(verb="decision.refused").data["refusal"] == "Busy"
