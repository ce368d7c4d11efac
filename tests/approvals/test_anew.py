"""A page finds people and policies once; whoever decides finds them anew, even within a page."""

from __future__ import annotations

import pytest

from accounts import clock, once
from accounts.actors import Actor
from accounts.models import User
from approvals import persons, policy
from approvals.models import PolicyVersion
from tests.support.people import person

pytestmark = pytest.mark.django_db


def test_policies_are_read_again_once_they_are_held(db) -> None:
    with once.page():
        before = policy.in_force()
        changed = [each.stored() | {"quorum": 3} for each in before.policies]
        PolicyVersion.objects.create(number=1, policies=changed, at=clock.now())
        assert policy.in_force() is before
        assert policy.hold().policies[-1].quorum == 3


def test_who_acts_is_looked_up_again() -> None:
    ben = person("Ben", "finance")
    with once.page():
        assert persons.reader(ben).groups >= {"finance"}
        ben.groups.clear()
        assert persons.reader(ben).groups >= {"finance"}
        assert not persons.person(User.objects.get(pk=ben.pk)).groups


def test_who_decides_is_looked_up_again() -> None:
    ben = person("Ben", "finance")
    actor = Actor.person(ben, entry="page")
    with once.page():
        persons.reader(ben)
        ben.groups.remove(ben.groups.get(name="finance"))
        assert "finance" not in persons.identify(actor).groups
