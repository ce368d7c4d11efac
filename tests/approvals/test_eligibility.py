"""Who may decide: the rule itself, for every combination that matters."""

from __future__ import annotations

from itertools import product

import pytest

from approvals import eligibility, persons
from approvals.eligibility import Involved, Person
from approvals.policy import Excluded, Gate, Who
from tests.support.people import person


def gate(*groups: str, four_eyes: bool = True) -> Gate:
    return Gate(
        who=tuple(Who(groups=frozenset({each})) for each in groups or ("finance",)),
        excluded=frozenset(Excluded.values if four_eyes else ()),
        quorum=1,
    )


def somebody(*groups: str, may: bool = True) -> Person:
    return Person(user_id=1, label="Ben", may_decide=may, groups=frozenset(groups))


@pytest.mark.parametrize(
    ("verdict", "may", "member", "requester", "hand", "four_eyes"),
    list(product(("approved", "rejected"), *[(True, False)] * 5)),
)
def test_every_combination(verdict, may, member, requester, hand, four_eyes):
    refusal = eligibility.why_not(
        somebody(*["finance"] * member, may=may),
        gate(four_eyes=four_eyes),
        Involved(requester_id=1 if requester else 2, hands={1: "retry"} if hand else {}),
        verdict,
    )
    strict = four_eyes and verdict == "approved"
    if not may:
        wanted = "permission"
    elif not member:
        wanted = "group"
    elif strict and requester:
        wanted = "requester"
    elif strict and hand:
        wanted = "hands"
    else:
        wanted = None
    assert (refusal and refusal.why) == wanted


def test_all_groups_are_needed():
    nobody = Involved(requester_id=None)
    assert eligibility.why_not(somebody("a", "b"), gate("a", "b"), nobody) is None
    refusal = eligibility.why_not(somebody("a"), gate("a", "b"), nobody)
    assert refusal is not None
    assert "members of b" in str(refusal)


def test_people_are_looked_up_as_they_are_now(ben):
    assert persons.of([ben.pk])[0].may_decide
    type(ben).objects.filter(pk=ben.pk).update(is_active=False)
    assert not persons.of([ben.pk])[0].may_decide


def test_people_of_the_demo_decide_only_in_demo_mode(db, settings):
    dan = person("Dan", "finance", "approver", is_demo=True)
    settings.DEMO = False
    assert not persons.of([dan.pk])[0].may_decide
    settings.DEMO = True
    assert persons.of([dan.pk])[0].may_decide


def test_who_is_involved_is_read_once_for_many_runs(
    waiting_run, ada, eve, django_assert_num_queries
):
    one, two = waiting_run(), waiting_run(started_by=None)
    two.interventions.create(kind="retry", user=eve, label="Eve", reason="r")
    two.interventions.create(kind="force_resume", user=None, label="command line", reason="r")
    with django_assert_num_queries(1):
        found = persons.involved_in([one, two])
    assert found[one.pk] == Involved(requester_id=ada.pk, agent="refund_desk")
    assert found[two.pk] == Involved(
        requester_id=None, hands={eve.pk: "retry"}, agent="refund_desk"
    )
