"""A verdict: recorded once, or refused with the reason, and told either way."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group

from accounts import clock
from accounts.actors import Actor
from accounts.errors import ReauthenticationNeeded
from approvals import decisions, errors, refusals, requests
from approvals.models import Decision, Request, Vote
from approvals.status import Delivery, Status
from audit.models import Entry
from runs import killpoints
from runs.models import Run
from tests.approvals.conftest import (
    approve,
    ask,
    due_in,
    effect,
    entries,
    give,
    now,
    of,
    ours,
    pending,
    reject,
)
from tests.support.people import person


def refused(error: type[Exception], request: Request, act) -> Any:
    """`act` is refused with `error`: nothing has changed, and the log tells of it."""
    before = Run.objects.get(pk=request.run_id).wakes, now(request).status, Vote.objects.count()
    with pytest.raises(error) as raised:
        act()
    after = Run.objects.get(pk=request.run_id).wakes, now(request).status, Vote.objects.count()
    assert after == before
    assert not Decision.objects.exists()
    (entry,) = entries(request, "decision.refused")
    assert not entry.allowed
    assert entry.reason == str(raised.value)
    assert entry.run_id == request.run_id
    return raised.value


# --- what is recorded -----------------------------------------------------------------------------


def test_an_approval_is_one_decision_with_the_answer_that_the_agent_gets(asked, ben):
    request = asked()
    outcome = approve(request, ben, comment="fine", value={"cents": 100})

    assert (outcome.decided, outcome.missing, outcome.verdict) == (True, 0, "approved")
    decision = Decision.objects.get()
    assert decision.answer == {
        "decision": "approved",
        "value": {"cents": 100},
        "comment": "fine",
        "digest": request.digest,
        "by": "Ben",
    }
    assert (decision.decided_by, decision.decider) == (ben, "Ben")
    assert decision.delivery == Delivery.RECORDED
    closed = now(request)
    assert closed.status == Status.APPROVED
    assert closed.closed_at is not None
    assert now(request.run).wakes == 1
    (entry,) = entries(request, "decision.made")
    assert (entry.actor_id, entry.reason, entry.data["verdict"]) == (
        str(ben.pk),
        "fine",
        "approved",
    )


def test_a_rejection_tells_the_agent_why(asked, ben):
    request = asked()
    assert reject(request, ben, comment="wrong order").decided
    assert Decision.objects.get().answer["decision"] == "rejected"
    assert Decision.objects.get().answer["comment"] == "wrong order"
    assert now(request).status == Status.REJECTED


def test_the_vote_keeps_what_was_seen_and_how_the_person_was_known(asked, ben):
    request = asked()
    at = clock.now()
    actor = of(ben, authenticated_at=at, method="webauthn")
    give("approved", request, actor, token="form-1")

    vote = Vote.objects.get()
    assert (vote.user, vote.digest, vote.token) == (ben, request.digest, "form-1")
    assert (vote.authenticated_at, vote.entry) == (at, "page")
    assert entries(request, "decision.made")[0].data["method"] == "webauthn"


def test_a_bare_interrupt_gets_true_or_false(asked, ben):
    approve(asked("Go on?"), ben)
    assert Decision.objects.get().answer is True


def test_a_bare_interrupt_that_is_rejected_gets_false(asked, ben):
    reject(asked("Go on?"), ben)
    assert Decision.objects.get().answer is False


def test_a_policy_says_what_a_verdict_means_to_a_bare_interrupt(asked, ben, rule):
    rule(answers={"approve": "yes", "reject": 0})
    approve(asked("Go on?"), ben)
    assert Decision.objects.get().answer == "yes"


@pytest.mark.parametrize("value", [False, 0, "", [], {}, {"a" * 32: 1}, "null", 1.5])
def test_values_that_are_easily_lost_arrive_unchanged(asked, ben, value):
    approve(asked(), ben, value=value)
    stored = Decision.objects.get().answer["value"]
    assert stored == value
    assert type(stored) is type(value)


def test_the_doorbell_rings_after_the_commit_and_after_the_killpoint(
    asked, ben, bells, django_capture_on_commit_callbacks
):
    request = asked()
    heard = []
    killpoints.install(lambda place, run_id: heard.append((place, list(bells))))
    with django_capture_on_commit_callbacks(execute=True):
        approve(request, ben)
    assert heard[0] == ("decision.committed", [])
    assert bells == [(request.run_id, "decision")]


# --- who may --------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ["page", "api", "command", "demo", "worker"])
def test_who_started_the_run_may_not_approve_it_through_any_entry(asked, ada, entry):
    request = asked()
    refusal = refused(
        errors.NotEligible, request, lambda: approve(request, Actor.person(ada, entry=entry))
    )
    assert refusal.why == "requester"
    assert refusal.http_status == 403


def test_a_superuser_who_started_the_run_may_not_approve_it(asked, ada):
    ada.is_superuser = True
    ada.save()
    request = asked()
    refusal = refused(errors.NotEligible, request, lambda: approve(request, ada))
    assert refusal.why == "requester"


def test_the_requester_is_known_by_account_and_not_by_the_spelling_of_an_address(asked, ada):
    ada.email = "ADA@example.com".lower()
    ada.first_name = "Somebody else"
    ada.save()
    request = asked()
    assert refused(errors.NotEligible, request, lambda: approve(request, ada)).why == "requester"


def test_a_claim_to_be_somebody_else_by_name_counts_for_nothing(asked, ada):
    request = asked()
    liar = Actor(kind="user", user_id=ada.pk, label="Ben", entry="api")
    refused(errors.NotEligible, request, lambda: approve(request, liar))


def test_the_log_and_the_answer_carry_the_name_of_the_account(asked, ben):
    liar = Actor(kind="user", user_id=ben.pk, label="The CFO", entry="api")
    approve(asked(), liar)
    assert Decision.objects.get().decider == "Ben"
    assert Decision.objects.get().answer["by"] == "Ben"


def test_who_started_the_run_may_reject_it(asked, ada):
    assert reject(asked(), ada).decided


def test_a_policy_without_four_eyes_lets_the_requester_approve(asked, ada, rule):
    rule(four_eyes=False)
    assert approve(asked(), ada).decided


@pytest.mark.parametrize("kind", ["force_resume", "retry", "ask_again"])
def test_who_had_a_hand_in_the_run_may_not_approve_it_but_may_reject(asked, eve, kind):
    request = asked()
    request.run.interventions.create(kind=kind, user=eve, label="Eve", reason="stuck")
    assert refused(errors.NotEligible, request, lambda: approve(request, eve)).why == "hands"
    assert reject(request, eve).decided


def test_who_asked_to_cancel_once_had_no_hand_in_what_the_run_does(asked, eve):
    request = asked()
    request.run.interventions.create(kind="cancel", user=eve, label="Eve", reason="late")
    assert approve(request, eve).decided


def test_a_run_that_no_person_started_can_be_approved(asked, ben):
    assert approve(asked(started_by=None, starter="command line: start"), ben).decided


@pytest.mark.parametrize(
    "actor",
    [
        Actor(kind="user", user_id=None, label="Somebody not signed in", entry="page"),
        Actor(kind="user", user_id=10**6, label="Nobody", entry="page"),
        Actor.system("sweeper"),
        Actor.command("decide"),
        Actor(kind="system", user_id=1, label="command line: x", entry="command"),
    ],
    ids=["anonymous", "gone", "system", "command", "system with an account"],
)
def test_whoever_is_no_known_person_is_refused(asked, actor):
    request = asked()
    refused(errors.NotEligible, request, lambda: approve(request, actor))


def test_somebody_of_another_group_is_refused(asked):
    request = asked()
    outsider = person("Mia", "approver", "marketing")
    assert refused(errors.NotEligible, request, lambda: approve(request, outsider)).why == "group"


def test_a_superuser_outside_the_group_is_refused(asked):
    request = asked()
    root = person("Rut", "approver", is_superuser=True, is_staff=True)
    assert refused(errors.NotEligible, request, lambda: approve(request, root)).why == "group"


def test_a_member_of_the_group_without_the_permission_is_refused(asked):
    request = asked()
    dee = person("Dee", "finance")
    assert refused(errors.NotEligible, request, lambda: approve(request, dee)).why == "permission"


@pytest.mark.parametrize("lost", ["group", "permission", "account"])
def test_a_right_that_was_taken_away_after_the_page_was_opened_is_gone(asked, ben, lost):
    request = asked()
    actor = of(ben)
    assert ben.has_perm("approvals.decide_request")  # looked up and kept by this object
    if lost == "account":
        type(ben).objects.filter(pk=ben.pk).update(is_active=False)
    else:
        ben.groups.remove(Group.objects.get(name={"group": "finance"}.get(lost, "approver")))
    refused(errors.NotEligible, request, lambda: give("approved", request, actor))


def test_both_the_group_of_then_and_the_group_of_now_must_allow_it(asked, ben, rule):
    request = asked()
    rule(group="treasury")
    refused(errors.NotEligible, request, lambda: approve(request, ben))
    newcomer = person("Tia", "approver", "treasury")
    with pytest.raises(errors.NotEligible):
        approve(request, newcomer)
    assert approve(request, person("Bo", "approver", "treasury", "finance")).decided


def test_four_eyes_counts_if_it_was_asked_then_or_is_asked_now(asked, ada, rule):
    then = asked()
    rule(four_eyes=False)
    refused(errors.NotEligible, then, lambda: approve(then, ada))
    later = asked()
    rule(four_eyes=True)
    refused(errors.NotEligible, later, lambda: approve(later, ada))


def test_a_policy_may_want_a_recent_proof_of_identity(asked, ben, rule):
    rule(reauthenticate_within=timedelta(minutes=5))
    request = asked()
    old = of(ben, authenticated_at=clock.now() - timedelta(minutes=6))
    refused(ReauthenticationNeeded, request, lambda: approve(request, old))
    with pytest.raises(ReauthenticationNeeded):
        approve(request, of(ben))
    assert approve(request, of(ben, authenticated_at=clock.now())).decided


def test_a_proof_of_identity_is_wanted_if_only_the_policy_of_then_wanted_it(asked, ben, rule):
    rule(reauthenticate_within=timedelta(minutes=5))
    request = asked()
    rule(reauthenticate_within=None)
    refused(ReauthenticationNeeded, request, lambda: approve(request, ben))


# --- still open -----------------------------------------------------------------------------------


def test_a_second_verdict_is_told_who_decided_what_and_when(asked, ben, eve):
    request = asked()
    reject(request, ben)
    with pytest.raises(errors.AlreadyDecided) as raised:
        approve(request, eve)
    assert (raised.value.decider, raised.value.verdict) == ("Ben", "rejected")
    assert raised.value.at == Decision.objects.get().at
    assert "Ben already rejected this" in str(raised.value)
    assert Decision.objects.get().verdict == "rejected"
    assert len(entries(request, "decision.refused")) == 1


def test_the_same_person_in_a_second_tab_is_told_the_same(asked, ben):
    request = asked()
    approve(request, ben)
    with pytest.raises(errors.AlreadyDecided):
        reject(request, ben)


def test_nothing_is_decided_once_a_cancel_was_asked(asked, ben):
    request = asked()
    Run.objects.filter(pk=request.run_id).update(cancel_asked_at=clock.now())
    refused(errors.CancelAsked, request, lambda: approve(request, ben))


def test_a_withdrawn_request_cannot_be_decided(asked, ben):
    request = asked()
    requests.withdraw(request.run, "the run has ended")
    refused(errors.Withdrawn, request, lambda: approve(request, ben))


def test_a_superseded_request_names_the_one_that_replaced_it(asked, ben):
    first = asked()
    ask(first.run, pending(ours("Refund order 8?")))
    third = ask(first.run, pending(ours("Refund order 9?")))
    refusal = refused(errors.PayloadChanged, first, lambda: approve(first, ben))
    assert refusal.now == third.pk


def test_an_unknown_request_is_refused_and_told(ben):
    missing = uuid4()
    with pytest.raises(errors.NoSuchRequest):
        decisions.decide(missing, actor=of(ben), verdict="approved", seen_digest="", token="t")
    entry = Entry.objects.get(verb="decision.refused")
    assert entry.target_id == str(missing)


@pytest.mark.parametrize("forged", ["1 OR 1=1", "", None, 7, "a\x00b", "x" * 2000])
def test_what_is_no_id_of_a_request_finds_none(ben, forged):
    with pytest.raises(errors.NoSuchRequest):
        decisions.decide(forged, actor=of(ben), verdict="approved", seen_digest="", token="t")
    assert Entry.objects.filter(verb="decision.refused").count() == 1


# --- in time --------------------------------------------------------------------------------------


def test_a_verdict_after_the_deadline_expires_the_request_once_without_any_sweeper(asked, ben, eve):
    request = asked()
    due_in(request, timedelta(seconds=-1))
    with pytest.raises(errors.DeadlinePassed) as raised:
        approve(request, ben)
    assert "expired" in str(raised.value)

    assert now(request).status == Status.EXPIRED
    decision = Decision.objects.get()
    assert decision.answer["decision"] == "expired"
    assert decision.decided_by is None
    assert now(request.run).wakes == 1
    assert not Vote.objects.exists()
    with pytest.raises(errors.DeadlinePassed):
        approve(request, eve)
    assert now(request.run).wakes == 1
    assert len(entries(request, "request.expired")) == 1
    assert len(entries(request, "decision.refused")) == 2


def test_somebody_who_may_not_decide_does_not_make_a_request_expire(asked, ada):
    request = asked()
    due_in(request, timedelta(seconds=-1))
    refused(errors.NotEligible, request, lambda: approve(request, ada))


# --- what was shown -------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_that_a_verdict_came_too_late_is_kept_with_the_expiry_or_not_at_all(
    asked, ben, monkeypatch
):
    request = asked()
    due_in(request, timedelta(0))

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:  # right after the transaction, as a process might
        dying.setattr(errors.DeadlinePassed, "__init__", die)
        with pytest.raises(KeyboardInterrupt):
            approve(request, ben)
    assert now(request).status == "pending"
    with monkeypatch.context() as dying:
        dying.setattr(refusals, "record", die)  # nothing is left to be written afterwards
        with pytest.raises(errors.DeadlinePassed):
            approve(request, ben)
    assert now(request).status == "expired"
    assert len(entries(request, "decision.refused")) == 1


@pytest.mark.parametrize("seen", ["", "0" * 64, None, "visible"])
def test_a_verdict_on_something_else_than_was_shown_is_refused(asked, ben, seen):
    request = asked()
    refusal = refused(
        errors.PayloadChanged, request, lambda: approve(request, ben, seen_digest=seen)
    )
    assert refusal.now == request.pk


# --- what can be used -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "verdict", [None, "", "expired", "approve", "APPROVED", True, 1, ["approved"]]
)
def test_a_verdict_that_is_none_is_refused(asked, ben, verdict):
    request = asked()
    refusal = refused(errors.BadValue, request, lambda: give(verdict, request, ben))
    assert refusal.http_status == 422


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        2**53,
        "a\x00b",
        {"a\x00": 1},
        "\ud800",
        {1: 2},
        ("a",),
        object(),
        {"deep": [1, {"x": float("nan")}]},
        "x" * 70_000,
    ],
)
def test_a_value_that_cannot_be_kept_as_it_is_is_refused(asked, ben, value):
    request = asked()
    refused(errors.BadValue, request, lambda: approve(request, ben, value=value))


@pytest.mark.parametrize("value", [False, 0, "", {}, {"decision": "approved"}, {"a" * 32: True}])
def test_a_bare_interrupt_takes_no_value_of_a_person(asked, ben, value):
    request = asked("Go on?")
    refused(errors.BadValue, request, lambda: approve(request, ben, value=value))


@pytest.mark.parametrize("comment", ["a\x00b", "\ud800", None, 7, "x" * 10_001])
def test_a_comment_that_cannot_be_kept_is_refused(asked, ben, comment):
    request = asked()
    refused(errors.BadValue, request, lambda: approve(request, ben, comment=comment))


@pytest.mark.parametrize("comment", ["", "  \n\t"])
def test_a_rejection_needs_a_reason(asked, ben, comment):
    request = asked()
    refusal = refused(errors.ReasonMissing, request, lambda: reject(request, ben, comment=comment))
    assert refusal.http_status == 422


def test_a_policy_may_take_a_rejection_without_a_reason(asked, ben, rule):
    rule(comment_required_to_reject=False)
    assert reject(asked(), ben, comment="").decided


@pytest.mark.parametrize("token", ["", None, "x" * 65, "a\x00", 7])
def test_a_form_without_a_proper_token_is_refused(asked, ben, token):
    request = asked()
    refused(errors.BadValue, request, lambda: approve(request, ben, token=token))


FOREIGN = [
    {"action_requests": [{"name": "pay", "args": {}}], "review_configs": []},
    {"type": "tool_approval", "name": "pay", "args": {}},
    [{"action_request": {"action": "pay", "args": {}}, "config": {"allow_other": True}}],
]


@pytest.mark.parametrize("payload", FOREIGN)
@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_a_question_of_another_format_is_not_answered_by_guess(asked, ben, payload, verdict):
    request = asked(payload)
    refused(errors.NotAnswerable, request, lambda: give(verdict, request, ben))


@pytest.mark.parametrize("payload", FOREIGN)
def test_a_policy_may_say_what_a_verdict_means_to_another_format(asked, ben, payload, rule):
    accept = [{"type": "accept", "args": None}]
    rule(answers={"approve": accept})
    request = asked(payload)
    with pytest.raises(errors.NotAnswerable):
        reject(request, ben)
    approve(request, ben)
    assert Decision.objects.get().answer == accept


def test_a_payload_that_cannot_be_told_from_others_can_be_rejected_only(asked, ben):
    deep: object = "end"
    for _ in range(120):
        deep = [deep]
    request = asked(deep)
    refused(errors.NotAnswerable, request, lambda: approve(request, ben))
    assert reject(request, ben).decided


# --- the same form again --------------------------------------------------------------------------


def test_the_same_form_again_gets_the_first_outcome_and_changes_nothing(asked, ben):
    request = asked()
    first = approve(request, ben, token="form")
    effect(request.run, args_hash=request.args_hash, status="sent")
    again = give("rejected", request, ben, token="form")
    assert again == first
    assert (first.repeated, again.repeated) == (False, True)
    assert (Vote.objects.count(), Decision.objects.count()) == (1, 1)
    assert now(request.run).wakes == 1
    assert not entries(request, "decision.refused")


def test_the_token_of_somebody_else_is_nothing_special(asked, ben, eve):
    request = asked()
    approve(request, ben, token="form")
    with pytest.raises(errors.AlreadyDecided):
        approve(request, eve, token="form")


def test_a_refused_form_may_be_corrected_and_sent_again(asked, ben):
    request = asked()
    with pytest.raises(errors.ReasonMissing):
        reject(request, ben, token="form", comment="")
    assert reject(request, ben, token="form", comment="no").decided


def test_a_token_used_for_another_request_decides_nothing(asked, ben):
    one, two = asked(), asked()
    approve(one, ben, token="form")
    with pytest.raises(errors.TokenReused):
        approve(two, ben, token="form")
    assert now(two).status == Status.PENDING


# --- when it has happened already -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "done"),
    [
        ("sent", True),
        ("confirmed", True),
        ("pending", False),
        ("failed", False),
        ("in_doubt", False),
    ],
)
def test_the_person_is_told_if_the_effect_had_already_happened(asked, ben, status, done):
    request = asked()
    effect(request.run, args_hash=request.args_hash, status=status)
    outcome = approve(request, ben)
    assert outcome.already_done is done
    assert outcome.decided


def test_the_same_effect_of_another_run_or_with_other_arguments_is_another_matter(asked, ben):
    request, other = asked(), asked()
    effect(other.run, args_hash=request.args_hash, status="sent")
    effect(request.run, args_hash="0" * 64, status="sent")
    assert not approve(request, ben).already_done
