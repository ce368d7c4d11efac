"""Everybody who may decide, found at once for lists, is as each of them is found who decides."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group

from accounts import clock, groups
from accounts.models import User
from approvals import electorate, eligibility, persons, policy
from approvals.electorate import Electorate
from approvals.eligibility import Involved, Standing
from approvals.errors import NotEligible
from approvals.models import Delegation, Request
from approvals.policy import Excluded, Gate, Who
from tests.support.people import person

pytestmark = pytest.mark.django_db
AGENT, MONEY = "refund_desk", "Finance"


@pytest.fixture
def gate(db) -> Gate:
    usual = policy.together(policy.in_force().policies[-1])
    return replace(usual, who=(Who(groups=frozenset({MONEY}), people=frozenset()),))


def world(chance: random.Random) -> list[User]:
    """Five people, of whom some lost what they had, and some stand in for others."""
    people = [
        person(
            f"P{n}",
            *chance.sample([MONEY, groups.APPROVER], chance.randint(0, 2)),
            is_active=chance.random() < 0.85,
        )
        for n in range(5)
    ]
    for _ in range(chance.randint(0, 6)):
        absent, stand_in = chance.sample(people, 2)
        Delegation.objects.create(
            absent=absent,
            stand_in=stand_in,
            starts_at=clock.now() - timedelta(hours=1),
            ends_at=clock.now() + timedelta(days=1),
            agents=[chance.choice(["*", "refund_*", "mailing"])],
            reason="Away",
            made_by=absent,
        )
    return people


def told(found: Standing | NotEligible) -> object:
    if isinstance(found, NotEligible):
        return found.why
    return found.label, found.ids, found.behind(AGENT)


@pytest.mark.parametrize("seed", range(40))
def test_together_they_are_as_each_alone(gate: Gate, seed: int) -> None:
    Group.objects.get_or_create(name=MONEY)
    chance = random.Random(seed)  # noqa: S311 (worlds to be tried, no secret)
    people = world(chance)
    involved = Involved(
        requester_id=chance.choice(people).pk,
        hands={each.pk: "retry" for each in chance.sample(people, chance.randint(0, 2))},
        agent=AGENT,
    )
    gate = replace(gate, excluded=frozenset({Excluded.REQUESTER, Excluded.HANDS}))
    alone = [persons.person(User.objects.get(pk=each.pk)) for each in people]
    slow = {each.user_id: eligibility.standing(each, gate, involved) for each in alone}
    together = {each.user_id: each for each in electorate.deciders()}
    assert set(together) == {each.user_id for each in alone if each.may_decide}
    for user_id, each in together.items():
        assert told(eligibility.standing(each, gate, involved)) == told(slow[user_id])
    request = Request(run_id=uuid4())
    everybody = Electorate(
        people=tuple(together.values()),
        involved={request.run_id: involved},
        approved={},
        proposed={},
        strict={},
    )
    may = {user_id: told(each) for user_id, each in everybody._may(request, gate).items()}
    assert may == {
        user_id: told(each) for user_id, each in slow.items() if isinstance(each, Standing)
    }
