"""A quorum: different people, all of whom may still approve, for the same thing."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from approvals import errors
from approvals.models import Decision, Vote
from approvals.status import Status
from tests.approvals.conftest import approve, entries, now, reject
from tests.support.people import person


@pytest.fixture
def two(asked, rule):
    """A request that two people have to approve."""
    rule(quorum=2)
    return asked()


def test_the_first_of_two_approvals_decides_nothing(two, ben):
    outcome = approve(two, ben)
    assert (outcome.decided, outcome.missing) == (False, 1)
    assert not Decision.objects.exists()
    assert now(two).status == Status.PENDING
    assert now(two.run).wakes == 0
    (entry,) = entries(two, "decision.voted")
    assert entry.data["missing"] == 1


def test_the_second_approval_by_somebody_else_decides_in_the_name_of_both(two, ben, eve):
    approve(two, ben)
    outcome = approve(two, eve, comment="and me")
    assert (outcome.decided, outcome.missing) == (True, 0)
    decision = Decision.objects.get()
    assert (decision.decider, decision.decided_by) == ("Ben, Eve", eve)
    assert (decision.answer["by"], decision.answer["comment"]) == ("Ben, Eve", "and me")


def test_one_person_counts_once(two, ben):
    approve(two, ben)
    for act in (approve, reject):
        with pytest.raises(errors.NotEligible) as raised:
            act(two, ben)
        assert raised.value.why == "voted"
    assert Vote.objects.count() == 1
    assert not Decision.objects.exists()


def test_the_same_form_again_counts_once(two, ben, eve):
    first = approve(two, ben, token="form")
    assert approve(two, ben, token="form") == first
    assert approve(two, eve).decided
    assert approve(two, ben, token="form") == first  # as it was then: one more was missing


def test_one_rejection_is_enough_whatever_others_said_before(two, ben, eve):
    approve(two, ben)
    assert reject(two, eve).decided
    decision = Decision.objects.get()
    assert (decision.verdict, decision.decider) == ("rejected", "Eve")


@pytest.mark.parametrize("lost", ["group", "account", "hands"])
def test_the_vote_of_somebody_who_may_not_approve_any_more_does_not_count(two, ben, eve, lost):
    approve(two, ben)
    if lost == "group":
        ben.groups.remove(Group.objects.get(name="finance"))
    elif lost == "account":
        type(ben).objects.filter(pk=ben.pk).update(is_active=False)
    else:
        two.run.interventions.create(kind="force_resume", user=ben, label="Ben", reason="stuck")
    assert approve(two, eve).missing == 1
    assert approve(two, person("Flo", "finance", "approver")).decided
    assert Decision.objects.get().decider == "Eve, Flo"


def test_a_vote_counts_again_once_the_person_may_approve_again(two, ben, eve):
    approve(two, ben)
    finance = Group.objects.get(name="finance")
    ben.groups.remove(finance)
    assert approve(two, eve).missing == 1
    ben.groups.add(finance)
    assert approve(two, person("Flo", "finance", "approver")).decided
    assert Decision.objects.get().decider == "Ben, Eve, Flo"


def test_people_who_approve_different_values_do_not_agree(two, ben, eve):
    approve(two, ben, value={"cents": 100})
    with pytest.raises(errors.BadValue, match="Ben approved with another value"):
        approve(two, eve, value={"cents": 999})
    assert not Decision.objects.exists()
    assert approve(two, eve, value={"cents": 100.0}).decided


@pytest.mark.parametrize(("then", "current"), [(1, 2), (2, 1)])
def test_the_larger_quorum_of_then_and_now_counts(asked, ben, eve, rule, then, current):
    rule(quorum=then)
    request = asked()
    rule(quorum=current)
    assert approve(request, ben).missing == 1
    assert approve(request, eve).decided
