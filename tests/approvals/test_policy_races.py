"""Races around policies, many of each: whoever wins, one verdict counts and the run agrees."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import Group

from accounts import clock
from approvals import errors, policy
from approvals.decisions import Outcome
from approvals.models import Decision, PolicyVersion, Request, Vote
from approvals.policies import versions
from approvals.policies.rule import Policy
from approvals.status import Status
from tests.approvals.conftest import Handicap, approve, entries, now, of, racing
from tests.support.people import person

pytestmark = [pytest.mark.race, pytest.mark.django_db(transaction=True)]

TRIALS = 80
FAIR = TRIALS // 5
"""Each outcome at least so often."""


def assert_one_verdict(request: Request, *, decided: bool) -> None:
    """The request, its decision and its run tell the same."""
    assert now(request).status == (Status.APPROVED if decided else Status.PENDING)
    assert Decision.objects.filter(request=request).count() == decided
    assert now(request.run).wakes == decided
    assert len(entries(request, "decision.made")) == decided


@pytest.fixture
def duel(transactional_db: None):
    """Two racers for many races in a row."""
    with racing(2) as go:
        yield go


def test_of_three_people_two_complete_a_quorum_and_the_third_is_told(asked, rule, ben, eve):
    rule(quorum=2)
    people = [ben, eve, person("Flo", "finance", "approver")]
    late: Counter[str] = Counter()
    fair = Handicap(len(people))
    with racing(len(people)) as go:
        for _ in range(TRIALS):
            request = asked()
            results = go(*fair(*[partial(approve, request, each) for each in people]))
            outcomes = [each for each in results if isinstance(each, Outcome)]
            (told,) = [each for each in results if not isinstance(each, Outcome)]
            assert isinstance(told, errors.AlreadyDecided), told
            assert sorted(each.missing for each in outcomes) == [0, 1]
            assert_one_verdict(request, decided=True)
            third = results.index(told)
            counted = {each.label for n, each in enumerate(people) if n != third}
            assert set(Decision.objects.get(request=request).decider.split(", ")) == counted
            assert Vote.objects.filter(request=request).count() == 2
            late[people[third].label] += 1
            fair.lost(third)
    assert len(late) == len(people), late
    assert min(late.values()) >= FAIR, late


@pytest.fixture
def tighten(settings):
    """Have an administrator ask for so many people, from now on."""
    rut = person("Rut")

    def tighten(quorum: int) -> PolicyVersion:
        actor = of(rut, authenticated_at=clock.now())
        book = policy.in_force()
        changed = Policy.read(book.policies[-1].stored() | {"quorum": quorum})
        return versions.save(
            changed, was="default", place=1, seen=book.version, actor=actor, reason="Finding"
        )

    return tighten


def test_a_policy_tightened_while_somebody_decides_holds_for_whoever_is_later(
    asked, ben, eve, duel, tighten
):
    seen: Counter[str] = Counter()
    fair = Handicap()
    for trial in range(TRIALS):
        if trial or PolicyVersion.objects.exists():
            tighten(1)
        request = asked()
        clicked, version = duel(*fair(partial(approve, request, ben), partial(tighten, 2)))
        assert isinstance(version, PolicyVersion), version
        assert isinstance(clicked, Outcome), clicked
        vote = Vote.objects.get(request=request)
        # Each has held the policies while at it, so their moments cannot mislead.
        assert clicked.decided == (vote.at < version.at)
        assert_one_verdict(request, decided=clicked.decided)
        if clicked.decided:
            seen["decided by the old policy"] += 1
            fair.won(0)
        else:
            assert clicked.missing == 1
            assert approve(request, eve).decided
            seen["one more needed by the new"] += 1
            fair.won(1)
    assert len(seen) == 2, seen
    assert min(seen.values()) >= FAIR, seen


def test_somebody_removed_from_the_group_between_page_and_click_decides_or_is_refused(
    asked, ben, duel
):
    finance = Group.objects.get(name="finance")
    seen: Counter[str] = Counter()
    fair = Handicap()
    for _ in range(TRIALS):
        ben.groups.add(finance)
        request = asked()
        results: list[Any] = duel(
            *fair(partial(approve, request, ben), partial(ben.groups.remove, finance))
        )
        clicked = results[0]
        assert results[1] is None
        decided = isinstance(clicked, Outcome)
        if not decided:
            assert isinstance(clicked, errors.NotEligible), clicked
            assert clicked.why == "group"
            assert len(entries(request, "decision.refused")) == 1
        assert_one_verdict(request, decided=decided)
        seen["decided" if decided else "refused"] += 1
        fair.won(0 if decided else 1)
    assert len(seen) == 2, seen
    assert min(seen.values()) >= FAIR, seen
