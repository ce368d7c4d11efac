"""Standing in for somebody absent: both names, never around four eyes, never a second voice."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group

from accounts import clock
from accounts import errors as accounts_errors
from accounts.models import User
from approvals import delegations, details, errors, persons, queries
from approvals.electorate import Electorate, gate_of
from approvals.models import Decision, Delegation, Vote
from audit.models import Entry
from tests.approvals.conftest import approve, entries, now, of, reject
from tests.support.people import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def gus(db: None) -> User:
    """May decide, and is in no group that is asked."""
    return person("Gus", "approver")


@pytest.fixture
def delegate(ben, gus):
    """Have Gus stand in for Ben, for a week."""

    def delegate(absent: User = ben, stand_in: User = gus, **changes: object) -> Delegation:
        at = clock.now()
        given: dict[str, Any] = {
            "starts_at": at - timedelta(hours=1),
            "ends_at": at + timedelta(days=7),
        }
        actor = of(absent, authenticated_at=at)
        return delegations.make(
            absent, stand_in, **given | {"actor": actor, "reason": "Holiday"} | changes
        )

    return delegate


def refused(act, request, by) -> str:
    with pytest.raises(errors.NotEligible) as raised:
        act(request, by)
    assert entries(request, "decision.refused")
    return raised.value.why


def test_who_stands_in_decides_in_both_names(asked, ben, gus, delegate):
    request = asked()
    assert refused(approve, request, gus) == "group"
    delegate()
    assert approve(request, gus).decided
    assert Decision.objects.get().decider == "Gus for Ben"
    assert Decision.objects.get().decided_by == gus
    assert Vote.objects.get().on_behalf_of == ben
    (entry,) = entries(request, "decision.made")
    assert (entry.actor_label, entry.data["on_behalf_of"]) == ("Gus", "Ben")


def test_it_is_in_the_stand_ins_inbox_and_in_sight(asked, gus, delegate):
    request = asked()
    assert queries.waiting_for(gus) == 0
    with pytest.raises(errors.NoSuchRequest):
        details.of(request.pk, gus)
    delegate()
    assert [row.request for row in queries.needs(gus)] == [request]
    assert details.of(request.pk, gus).may_approve


@pytest.mark.parametrize(
    "changes",
    [
        {"starts_at": "+1h"},
        {"agents": ["other_*"]},
        {"ended": True},
        {"over": True},
    ],
)
def test_only_then_and_only_for_those_agents(asked, ben, gus, delegate, changes):
    at = clock.now()
    given = {"agents": changes["agents"]} if "agents" in changes else {}
    if "starts_at" in changes:
        given = {"starts_at": at + timedelta(hours=1)}
    made = delegate(**given)
    if "ended" in changes:
        delegations.end(made.pk, actor=of(ben), reason="Back")
    if "over" in changes:
        Delegation.objects.update(ends_at=at)
    assert refused(approve, asked(), gus) == "group"


@pytest.mark.parametrize("lost", ["group", "permission", "account"])
def test_nobody_is_lent_what_the_absent_person_does_not_have_any_more(
    asked, ben, gus, delegate, lost
):
    delegate()
    if lost == "group":
        ben.groups.remove(Group.objects.get(name="finance"))
    elif lost == "permission":
        ben.groups.remove(Group.objects.get(name="approver"))
    else:
        User.objects.filter(pk=ben.pk).update(is_active=False)
    assert refused(approve, asked(), gus) == "group"


def test_who_may_not_decide_at_all_stands_in_for_nobody(asked, gus, delegate):
    delegate()
    gus.groups.clear()
    assert refused(approve, asked(), gus) == "permission"


def test_a_stand_in_of_the_requester_may_not_approve_even_with_a_say_of_their_own(
    asked, ada, eve, delegate
):
    """Ada started the run; Eve is of finance herself, and stands in for Ada."""
    request = asked()
    delegate(ada, eve)
    assert refused(approve, request, eve) == "stand_in"
    assert not details.of(request.pk, eve).may_approve
    assert reject(request, eve).decided


def test_a_stand_in_of_whoever_forced_the_run_on_may_not_approve(asked, ben, eve, delegate):
    request = asked()
    request.run.interventions.create(kind="force_resume", user=ben, label="Ben", reason="stuck")
    delegate(ben, eve)
    assert refused(approve, request, eve) == "stand_in"


def test_the_requester_may_not_approve_as_a_stand_in_either(asked, ada, ben, delegate):
    delegate(ben, ada)
    assert refused(approve, asked(), ada) == "requester"


@pytest.mark.parametrize("first", ["absent", "stand_in"])
@pytest.mark.parametrize("own_say", [True, False])
def test_the_two_are_one_voice_of_a_quorum(asked, rule, ben, gus, eve, delegate, first, own_say):
    rule(quorum=2)
    request = asked()
    if own_say:
        gus.groups.add(Group.objects.get(name="finance"))
    delegate()
    one, other = (ben, gus) if first == "absent" else (gus, ben)
    assert approve(request, one).missing == 1
    assert refused(approve, request, other) == "one_voice"
    assert other.pk not in Electorate.of([request]).called(request, gate_of(request))
    assert "stands in for the other" in details.of(request.pk, other).why_not_approve
    assert approve(request, eve).decided


def test_two_stand_ins_of_one_person_are_one_voice(asked, rule, ben, gus, delegate):
    rule(quorum=2)
    flo = person("Flo", "approver")
    request = asked()
    delegate()
    delegate(ben, flo)
    assert approve(request, gus).missing == 1
    assert refused(approve, request, flo) == "one_voice"


def test_a_vote_given_for_somebody_stays_theirs_when_the_delegation_ends(
    asked, rule, ben, gus, delegate
):
    rule(quorum=2)
    request = asked()
    made = delegate()
    assert approve(request, gus).missing == 1
    delegations.end(made.pk, actor=of(ben), reason="Back")
    # Gus may not approve any more, so his word does not count; Ben's is the first again.
    assert approve(request, ben).missing == 1


def test_who_voted_for_somebody_and_has_a_say_of_their_own_since_is_still_one_voice_with_them(
    asked, rule, ben, gus, delegate
):
    rule(quorum=2)
    request = asked()
    made = delegate()
    approve(request, gus)
    delegations.end(made.pk, actor=of(ben), reason="Back")
    gus.groups.add(Group.objects.get(name="finance"))
    assert refused(approve, request, ben) == "one_voice"


def test_delegating_after_the_first_vote_makes_them_one_voice_too(asked, rule, ben, eve, delegate):
    rule(quorum=2)
    request = asked()
    approve(request, ben)
    delegate(ben, eve)
    assert refused(approve, request, eve) == "one_voice"


def test_nobody_stands_in_for_a_stand_in(asked, ben, gus, eve, delegate):
    flo = person("Flo", "approver")
    delegate(ben, gus)
    delegate(gus, flo)
    assert refused(approve, asked(), flo) == "group"


def test_the_say_of_two_people_is_not_added_up(asked, rule, ben, gus, delegate):
    """Then finance, now legal: Gus is of legal, Ben of finance, and together they are nobody."""
    request = asked()
    rule(group="legal")
    gus.groups.add(Group.objects.create(name="legal"))
    delegate()
    assert refused(approve, request, gus) == "group"


def test_an_electorate_counts_voices_not_people(asked, rule, ada, ben, gus, delegate):
    rule(quorum=2)
    request = asked()
    tally = Electorate.of([request]).tally(request, gate_of(request))
    assert (tally.able, tally.possible) == (1, False)
    delegate()
    tally = Electorate.of([request]).tally(request, gate_of(request))
    assert (tally.able, tally.possible) == (1, False)


# --- making one -----------------------------------------------------------------------------------


def test_only_the_absent_person_or_an_admin_delegates(ben, gus, eve, delegate):
    at = clock.now()
    with pytest.raises(accounts_errors.NotPermitted):
        delegate(actor=of(eve, authenticated_at=at))
    delegate(actor=of(person("Rut"), authenticated_at=at))
    assert Delegation.objects.get().made_by.first_name == "Rut"
    assert Entry.objects.filter(verb="delegation.refused", allowed=False).count() == 1


def test_it_needs_a_recent_proof_of_identity(ben, gus, delegate):
    with pytest.raises(accounts_errors.ReauthenticationNeeded):
        delegate(actor=of(ben, authenticated_at=clock.now() - timedelta(hours=1)))


def test_both_must_be_able_to_decide(ben, delegate):
    with pytest.raises(errors.BadDelegation, match="Dee may not decide"):
        delegate(stand_in=person("Dee", "finance"))


def test_nobody_stands_in_for_themselves(ben, delegate):
    with pytest.raises(errors.BadDelegation, match="themselves"):
        delegate(ben, ben)


def test_a_delegation_holds_by_the_databases_clock(ben, gus, delegate):
    delegate()
    assert [each.stand_in for each in persons.under_way()] == [gus]
    Delegation.objects.update(ends_at=clock.now())
    assert not persons.under_way().exists()
    assert now(Delegation.objects.get()).ended_at is None
