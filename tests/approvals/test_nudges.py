"""Reminders, escalation and what nobody can decide: each once, by the database's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.db import transaction

from accounts import clock
from approvals import details, errors, gates, notices, nudges, queries, sweep
from approvals.decisions import Outcome
from approvals.electorate import Electorate
from approvals.models import Firing, Request
from approvals.policies import plan
from approvals.policies.plan import Kind
from approvals.policies.rule import Policy
from approvals.policies.steps import Step
from approvals.status import Status
from runs.models import Run
from tests.approvals.conftest import (
    approve,
    ask,
    entries,
    now,
    ours,
    pending,
    together,
)
from tests.support.people import person

CHAIN = ["10m leads", "20m board"]


@pytest.fixture(autouse=True)
def told(monkeypatch) -> list[tuple[str, str]]:
    """What people are told: event and key."""
    heard: list[tuple[str, str]] = []
    send = notices.notify

    def notify(event, request, *, key="", **more):
        heard.append((event.value, key))
        send(event, request, key=key, **more)

    monkeypatch.setattr(notices, "notify", notify)
    return heard


@pytest.fixture
def lou(db: None):
    return person("Lou", "leads", "approver")


def age(request: Request, by: timedelta) -> Request:
    """As if it had been asked so much earlier."""
    fresh = Request.objects.select_related("run").get(pk=request.pk)
    assert fresh.asked_at
    fresh.asked_at -= by
    fresh.deadline -= by
    fresh.nudge_at = fresh.nudge_at and fresh.nudge_at - by
    fresh.save()
    return fresh


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_a_plan_is_in_order_and_ends_before_the_deadline():
    rule = Policy(
        name="p",
        group="g",
        reminders=(timedelta(minutes=30), timedelta(hours=2), timedelta(hours=9)),
        escalation=(Step.parse("1h a"), Step.parse("7h b"), Step.parse("8h c")),
    )
    asked, deadline = utc("2026-07-03 08:00"), utc("2026-07-03 16:00")
    planned = plan.plan(rule, asked, deadline)
    assert [(each.kind, each.number, f"{each.at:%H:%M}") for each in planned] == [
        (Kind.ESCALATION, 1, "09:00"),
        (Kind.REMINDER, 2, "14:00"),
        (Kind.ESCALATION, 2, "15:00"),
        (Kind.REMINDER, 1, "15:30"),
    ]
    assert plan.first(rule, asked, deadline) == utc("2026-07-03 09:00")
    assert plan.first(Policy(name="p", group="g"), asked, deadline) is None


@pytest.mark.django_db
def test_nothing_is_due_before_its_time(asked, rule):
    rule(escalation=CHAIN, reminders=[timedelta(minutes=5)])
    request = asked()
    assert request.nudge_at - request.asked_at == timedelta(minutes=10)
    assert sweep.sweep() == 0
    assert not Firing.objects.filter(request=request, kind=Kind.ESCALATION).exists()


@pytest.mark.django_db
def test_each_step_lets_one_more_group_have_a_say_and_decides_nothing(
    asked, rule, ben, eve, lou, told
):
    rule(escalation=CHAIN)
    request = asked()
    with pytest.raises(errors.NotEligible):
        approve(request, lou)
    with pytest.raises(errors.NoSuchRequest):
        details.of(request.pk, lou)
    age(request, timedelta(minutes=11))
    assert [sweep.sweep() for _ in range(3)] == [1, 0, 0]
    escalated = now(request)
    assert (escalated.status, escalated.joined) == (Status.PENDING, ["leads"])
    assert (escalated.groups, escalated.asked_of) == (["finance", "leads"], "finance, leads")
    assert now(request.run).wakes == 0
    assert ("escalated", "1") in told
    (entry,) = entries(request, "request.escalated")
    assert (entry.actor_label, entry.data["group"]) == ("escalation", "leads")
    assert queries.waiting_for(lou) == queries.waiting_for(ben) == 1
    assert details.of(request.pk, lou).sentence == "1 of finance or leads, not who started the run"
    age(request, timedelta(minutes=10))
    assert sweep.sweep() == 1
    assert now(request).joined == ["leads", "board"]
    assert now(request).nudge_at is None
    assert approve(request, lou).decided


@pytest.mark.django_db
def test_a_verdict_brings_the_request_up_to_date_whether_or_not_a_sweeper_has_run(asked, rule, lou):
    rule(escalation=CHAIN)
    request = age(asked(), timedelta(minutes=11))
    assert now(request).joined == []
    assert approve(request, lou).decided
    assert now(request).joined == ["leads"]
    assert len(entries(request, "request.escalated")) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("escalation", [[], ["10m board"]])
def test_a_group_that_the_policy_of_now_does_not_let_join_has_no_say(
    asked, rule, lou, ben, escalation
):
    rule(escalation=CHAIN)
    request = age(asked(), timedelta(minutes=11))
    sweep.sweep()
    rule(escalation=escalation)
    with pytest.raises(errors.NotEligible):
        approve(request, lou)
    assert approve(request, ben).decided


@pytest.mark.django_db
def test_a_policy_that_escalates_later_changes_nothing_for_requests_of_before(asked, rule, lou):
    request = asked()
    rule(escalation=CHAIN)
    age(request, timedelta(minutes=30))
    assert sweep.sweep() == 0
    with pytest.raises(errors.NotEligible):
        approve(request, lou)


@pytest.mark.django_db
def test_missed_reminders_are_given_as_one_and_missed_steps_are_all_told(asked, rule, told):
    rule(escalation=CHAIN, reminders=[timedelta(minutes=m) for m in (45, 40, 35)])
    request = age(asked(), timedelta(minutes=26))
    assert sweep.sweep() == 1
    assert Firing.objects.filter(request=request).exclude(kind="nobody").count() == 5
    assert [each for each in told if each[1]] == [
        ("escalated", "1"),
        ("escalated", "2"),
        ("reminder", "3"),
    ]


@pytest.mark.django_db
def test_after_the_deadline_nothing_is_told_but_that_it_expired(asked, rule):
    rule(escalation=CHAIN)
    request = age(asked(), timedelta(hours=2))
    assert sweep.sweep() == 1
    assert now(request).status == Status.EXPIRED
    assert not entries(request, "request.escalated")


@pytest.mark.django_db
def test_a_run_that_is_being_cancelled_is_left_alone(asked, rule):
    rule(escalation=CHAIN)
    request = age(asked(), timedelta(minutes=11))
    Run.objects.update(cancel_asked_at=clock.now())
    assert sweep.sweep() == 0
    assert now(request).joined == []


@pytest.mark.django_db
def test_a_changed_question_keeps_its_place_in_time(asked, rule, lou):
    rule(escalation=CHAIN)
    request = age(asked(), timedelta(minutes=11))
    sweep.sweep()
    newer = ask(request.run, pending(ours("Refund order 8?")))
    assert (newer.asked_at, newer.deadline) == (request.asked_at, request.deadline)
    sweep.sweep()
    assert now(newer).joined == ["leads"]


@pytest.mark.django_db
def test_a_new_round_goes_on_with_what_has_happened(asked, rule, lou, told):
    rule(escalation=CHAIN, reminders=[timedelta(minutes=50), timedelta(minutes=30)])
    request = age(asked(), timedelta(minutes=11))
    sweep.sweep()
    told.clear()
    newer = ask(request.run, pending(ours("Refund order 8?")))
    assert (newer.joined, newer.groups) == (["leads"], ["finance", "leads"])
    assert queries.waiting_for(lou) == 1
    assert sweep.sweep() == 0
    assert [event for event, _ in told] == ["needs_you"]
    assert len(entries(newer, "request.escalated")) == 0
    age(newer, timedelta(minutes=10))
    sweep.sweep()
    assert now(newer).joined == ["leads", "board"]
    assert ("reminder", "1") not in told


@pytest.mark.django_db
def test_a_question_that_changes_without_end_cannot_postpone_what_is_due(asked, rule, lou):
    rule(escalation=CHAIN)
    request = age(asked(), timedelta(minutes=9))
    newer = ask(request.run, pending(ours("Refund order 8?")))
    newer = age(newer, timedelta(minutes=2))
    last = ask(request.run, pending(ours("Refund order 9?")))
    assert last.joined == ["leads"]  # before anybody has swept
    assert last.nudge_at - last.asked_at == timedelta(minutes=20)


@pytest.mark.django_db
def test_working_hours_count_for_deadline_and_escalation(asked, rule):
    rule(hours="Mon-Sun 00:00-01:00 UTC", deadline=timedelta(hours=2), escalation=["1h leads"])
    request = asked()
    assert request.deadline - request.asked_at > timedelta(hours=24)
    assert request.nudge_at < request.deadline


@pytest.mark.race
@pytest.mark.django_db(transaction=True)
def test_two_sweepers_and_a_verdict_escalate_once(asked, rule, lou):
    rule(escalation=CHAIN)
    for _ in range(10):
        request = age(asked(), timedelta(minutes=11))
        swept = together(sweep.sweep, sweep.sweep, partial(approve, request, lou))
        assert isinstance(swept[2], Outcome), swept
        assert Firing.objects.filter(request=request, kind=Kind.ESCALATION).count() == 1
        assert len(entries(request, "request.escalated")) == 1


# --- nobody ---------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_request_that_nobody_could_decide_is_told_at_once(asked, rule, ben, told):
    rule(quorum=2)  # and Ben alone is of finance, besides the requester
    request = asked()
    (entry,) = entries(request, "request.nobody_can_decide")
    assert (entry.data["missing"], entry.data["able"]) == (2, 1)
    assert ("nobody_can_decide", "") in told
    assert sweep.sweep() == 0
    assert len(entries(request, "request.nobody_can_decide")) == 1


@pytest.mark.django_db
def test_what_can_be_decided_is_no_alert(asked, ben, eve):
    request = asked()
    sweep.sweep()
    assert not entries(request, "request.nobody_can_decide")


@pytest.mark.django_db
def test_when_nobody_is_left_it_is_noticed_within_a_minute(asked, ben, told):
    request = asked()
    assert sweep.sweep() == 0
    ben.groups.clear()
    assert sweep.sweep() == 0, "looked at a moment ago"
    Request.objects.update(checked_at=clock.now() - sweep.CHECK)
    assert sweep.sweep() == 1
    assert len(entries(request, "request.nobody_can_decide")) == 1
    assert ("nobody_can_decide", "") in told


@pytest.mark.django_db
def test_a_tightened_policy_that_nobody_can_meet_is_noticed(asked, rule, ben):
    request = asked()
    rule(group="nobody-is-in-it")
    assert sweep.sweep() == 1
    assert entries(request, "request.nobody_can_decide")


@pytest.mark.django_db
def test_catching_up_twice_does_nothing_the_second_time(asked, rule):
    rule(escalation=CHAIN)
    request = age(asked(), timedelta(minutes=11))
    with transaction.atomic():
        at = clock.now()
        assert nudges.catch_up(request, at) == 1
        assert nudges.catch_up(request, at) == 0
    assert gates.of(request).asked == "finance or leads"


def look_again() -> int:
    Request.objects.update(checked_at=clock.now() - sweep.CHECK)
    return sweep.sweep()


@pytest.mark.django_db
def test_it_is_told_again_whenever_it_is_so_again(asked, ben, told):
    request, finance = asked(), list(ben.groups.all())
    for expected in (1, 2, 3):
        ben.groups.clear()
        assert look_again() == 1
        assert look_again() == 0
        assert len(entries(request, "request.nobody_can_decide")) == expected
        assert now(request).nobody_since is not None
        ben.groups.set(finance)
        assert look_again() == 1
        assert now(request).nobody_since is None
    assert [key for event, key in told if event == "nobody_can_decide"] == ["", "2", "3"]


@pytest.mark.django_db
def test_who_joins_later_is_told_with_the_alert(asked, rule, lou):
    rule(escalation=["10m empty", *CHAIN[1:], "30m leads"])
    request = asked()
    (entry,) = entries(request, "request.nobody_can_decide")
    assert entry.data["joins"] == "leads"
    relief = Electorate.of([request]).relief(request)
    assert relief is not None
    assert relief.at - request.asked_at == timedelta(minutes=30)
    assert relief.group == "leads"


@pytest.mark.django_db
def test_where_nobody_joins_later_nobody_is_promised(asked, rule):
    rule(escalation=["10m empty"])
    request = asked()
    assert Electorate.of([request]).relief(request) is None
    assert entries(request, "request.nobody_can_decide")[0].data["joins"] == ""
