"""What the pages show: the same answer to "may I?" that the decision gives."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group

from accounts import clock
from approvals import details, errors, light, queries, requests
from approvals.models import Request
from runs.models import Run
from tests.approvals.conftest import approve, ask, due_in, give, now, ours, pending, reject
from tests.support.people import person


@pytest.fixture(
    params=[
        "open",
        "requester",
        "outsider",
        "no permission",
        "superuser",
        "hand",
        "voted",
        "cancelled",
        "late",
        "decided",
        "withdrawn",
        "other format",
        "incomparable",
        "group changed",
    ]
)
def situation(request, asked, ada, ben, rule):  # noqa: C901 (one line per case)
    """A request and somebody who looks at it."""
    case, who = request.param, ben
    payload: Any = None
    if case == "voted":
        rule(quorum=2)
    if case == "other format":
        payload = {"type": "tool_approval", "name": "pay"}
    if case == "incomparable":
        payload = "end"
        for _ in range(120):
            payload = [payload]
    found = asked(payload)
    if case == "requester":
        who = ada
    elif case == "outsider":
        who = person("Mia", "approver", "operator")
    elif case == "no permission":
        who = person("Dee", "finance", "auditor")
    elif case == "superuser":
        who = person("Rut", is_superuser=True)
    elif case == "hand":
        found.run.interventions.create(kind="retry", user=ben, label="Ben", reason="r")
    elif case == "voted":
        approve(found, ben)
    elif case == "cancelled":
        Run.objects.filter(pk=found.run_id).update(cancel_asked_at=clock.now())
    elif case == "late":
        due_in(found, timedelta(0))
    elif case == "decided":
        approve(found, person("Eve", "finance", "approver"))
    elif case == "withdrawn":
        requests.withdraw(found.run, "the run has ended")
    elif case == "group changed":
        rule(group="treasury")
    return found, type(who).objects.get(pk=who.pk)


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_the_page_offers_exactly_what_would_be_accepted(situation, verdict):
    request, user = situation
    shown = details.of(request.pk, user)
    may = shown.may_approve if verdict == "approved" else shown.may_reject
    why = shown.why_not_approve if verdict == "approved" else shown.why_not_reject
    assert may is (why == "")
    waiting = {row.request.pk for row in queries.needs(user)}
    assert queries.waiting_for(user) == len(waiting)
    try:
        give(verdict, request, user, seen_digest=shown.digest, token=shown.token)
        accepted = True
    except errors.ApprovalsError:
        accepted = False
    assert may is accepted


def test_it_waits_for_those_who_may_act_on_it(asked, ada, ben, eve):
    request = asked()
    assert queries.waiting_for(ben) == queries.waiting_for(eve) == 1
    assert queries.waiting_for(ada) == 0  # she may reject it, but it waits for an approval
    (row,) = queries.needs(ben)
    assert (row.request, row.run, row.mine) == (request, request.run, True)
    approve(request, ben)
    assert queries.waiting_for(eve) == 0


def test_what_one_has_voted_on_does_not_wait_for_one_any_more(asked, ben, eve, rule):
    rule(quorum=2)
    approve(asked(), ben)
    assert (queries.waiting_for(ben), queries.waiting_for(eve)) == (0, 1)


@pytest.mark.parametrize("waiting", [1, 6])
def test_the_badge_costs_the_same_however_much_waits(
    asked, ben, waiting, django_assert_num_queries
):
    for _ in range(waiting):
        asked()
    light.forget()
    for questions in (6, 5):  # what has not changed is not read again
        user = type(ben).objects.get(pk=ben.pk)
        with django_assert_num_queries(questions):
            assert queries.waiting_for(user) == waiting


def test_policies_of_now_are_asked_about_requests_that_have_not_changed(asked, ben, rule):
    asked()
    assert queries.waiting_for(ben) == 1
    rule(group="legal")
    assert queries.waiting_for(ben) == 0


def test_the_nearest_deadline_comes_first(asked, ben):
    late, soon = asked(), asked()
    due_in(soon, timedelta(minutes=1))
    assert [row.request for row in queries.needs(ben)] == [soon, late]
    assert [row.request for row in queries.pending(ben)] == [soon, late]


def test_approvers_see_what_their_groups_were_asked_and_others_see_all(asked, ben):
    request = asked()
    stranger = person("Mia", "approver", "marketing")
    dee = person("Dee")
    for sees in (ben, person("Olga", "operator"), person("Cy"), person("Rut")):
        assert details.of(request.pk, sees).request == request
        assert len(queries.pending(sees)) == 1
    for blind in (stranger, dee):
        assert queries.pending(blind) == queries.decided(blind) == queries.needs(blind) == []
        with pytest.raises(errors.NoSuchRequest):
            details.of(request.pk, blind)


def test_the_review_page_has_everything_that_a_decision_needs(waiting_run, ben, rule):
    rule(quorum=2, on_deadline="read_only", reauthenticate_within=timedelta(minutes=5))
    run = waiting_run()
    first = ask(run, pending(ours()))
    second = ask(run, pending(ours("Refund order 8?", facts={"Amount": "€120"}, why="CFO said so")))
    shown = details.of(second.pk, ben)
    assert shown.question.title == "Refund order 8?"
    assert (shown.question.facts, shown.question.why) == ({"Amount": "€120"}, "CFO said so")
    assert (shown.question.tool, shown.question.args) == ("payments.refund", ours()["args"])
    assert shown.sentence == "2 of finance, not who started the run"
    assert shown.lapse == "then the run goes on without side effects"
    assert (shown.previous, shown.replaced_by) == (first, None)
    assert first.payload["question"] == "Refund order 7?"
    assert (shown.answerable, shown.reauthenticate) == (True, True)
    assert [each.key for each in shown.actions[0].choices] == ["approve", "reject"]
    assert shown.digest == second.digest
    assert shown.token != details.of(second.pk, ben).token
    assert details.of(first.pk, ben).replaced_by == second.pk


def test_what_was_decided_is_listed_newest_first_page_by_page(asked, ben):
    decided = [asked() for _ in range(5)]
    for request in decided:
        reject(request, ben)
    first = queries.decided(ben, limit=2)
    last: Any = first[-1].request
    second = queries.decided(ben, before=(last.closed_at, last.pk), limit=9)
    assert [row.request for row in first + second] == decided[::-1]
    newest: Any = first[0]
    assert (newest.decision.decider, newest.delivery.value) == ("Ben", "recorded")
    assert [row.request for row in queries.of_run(decided[0].run, ben)] == [decided[0]]


def test_a_right_that_was_taken_away_hides_the_inbox(asked, ben):
    asked()
    ben.groups.remove(Group.objects.get(name="finance"))
    assert queries.needs(type(ben).objects.get(pk=ben.pk)) == []


def test_a_deadline_without_a_word_for_it_says_that_the_run_is_cancelled(asked, ben):
    assert details.of(asked("May I?").pk, ben).lapse == "then the run is cancelled"
    assert now(Request.objects.get()).status == "pending"
