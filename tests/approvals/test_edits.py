"""Replies of their own form in the decision itself: changed arguments, batches, typed answers."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import User
from approvals import details, errors, replies, shapes
from approvals.electorate import Electorate, gate_of
from approvals.models import Decision, Request, Vote
from approvals.permits import Permits
from audit import canonical
from audit.models import Entry
from tests.approvals.conftest import REFUND, approve, ask, entries, now, pending, reject
from tests.support.people import person

ALL = ["approve", "edit", "reject", "respond"]
LESS = REFUND | {"cents": 5_000}
MORE = REFUND | {"cents": 90_000}
BATCH = {
    "action_requests": [
        {"name": "send_email", "args": {"to": "a", "copies": 1}},
        {"name": "delete_file", "args": {"path": "reports/x"}},
    ],
    "review_configs": [
        {"action_name": "send_email", "allowed_decisions": ALL},
        {"action_name": "delete_file", "allowed_decisions": ["approve", "reject"]},
    ],
}


@pytest.fixture
def cara(db: None) -> User:
    return person("Cara", "finance", "approver")


@pytest.fixture
def editable(rule) -> None:
    rule(editable=["cents", "to"])


def tokens(request: Request) -> list[str]:
    question = replies.asked(request, gate_of(request))
    return [each.token for each in shapes.actions(question)]


def refused(error: type[Exception], request: Request, **given: Any) -> None:
    """Nothing is stored, and the refusal is in the log."""
    before = Entry.objects.filter(verb="decision.refused").count()
    with pytest.raises(error):
        approve(request, **given)
    assert not Decision.objects.exists()
    assert not Vote.objects.filter(request=request, user=given["by"]).exists()
    assert Entry.objects.filter(verb="decision.refused").count() == before + 1


# --- changed arguments ----------------------------------------------------------------------------


@pytest.mark.usefixtures("editable")
def test_who_changes_arguments_does_not_approve_them_alone(asked, ben, eve):
    request = asked()
    outcome = approve(request, ben, args=LESS)
    assert (outcome.decided, outcome.missing) == (False, 1)
    assert not Decision.objects.exists()
    assert approve(request, eve, args=LESS).decided
    decision = Decision.objects.get()
    assert (decision.edited_by, decision.decided_by, decision.decider) == (ben, eve, "Eve")
    assert (decision.args, decision.answer["args"]) == (LESS, LESS)
    assert entries(request, "decision.made")[0].data["args"] == canonical.fingerprint(LESS)


@pytest.mark.usefixtures("editable")
def test_a_proposal_binds_nobody_to_it(asked, ben, eve):
    request = asked()
    approve(request, ben, args=LESS)
    assert approve(request, eve).decided
    decision = Decision.objects.get()
    assert (decision.args, decision.edited_by) == (None, None)
    assert "args" not in decision.answer


@pytest.mark.usefixtures("editable")
def test_a_quorum_counts_people_besides_the_editor(asked, ben, eve, cara, rule):
    rule(quorum=2)
    request = asked()
    assert approve(request, ben, args=LESS).missing == 2
    assert approve(request, eve, args=LESS).missing == 1
    assert Electorate.of([request]).tally(request, gate_of(request)).approvals == 1
    assert approve(request, cara, args=LESS).decided
    assert Decision.objects.get().edited_by == ben


@pytest.mark.usefixtures("editable")
def test_two_proposals_do_not_approve_each_other(asked, ben, eve, cara):
    request = asked()
    approve(request, ben, args=LESS)
    assert not approve(request, eve, args=REFUND | {"cents": 4_000}).decided
    assert not Decision.objects.exists()


@pytest.mark.usefixtures("editable")
def test_without_four_eyes_one_person_may_change_and_approve(asked, ben, rule):
    rule(four_eyes=False)
    request = asked()
    assert approve(request, ben, args=LESS).decided
    assert Decision.objects.get().edited_by == ben


@pytest.mark.usefixtures("editable")
def test_a_proposer_is_not_called_upon_again(asked, ben, eve):
    request = asked()
    approve(request, ben, args=LESS)
    tally = Electorate.of([request]).tally(request, gate_of(request))
    assert (tally.approvals, tally.able, tally.missing) == (0, 1, 1)
    assert not details.of(request.pk, ben).may_approve
    assert details.of(request.pk, eve).may_approve


@pytest.mark.usefixtures("editable")
def test_the_permit_is_for_what_was_approved_and_for_nothing_else(asked, ben, eve):
    request = asked()
    approve(request, ben, args=LESS)
    approve(request, eve, args=LESS)
    find = Permits().find
    assert find(request.run_id, request.tool, canonical.digest(REFUND)) is None
    assert find(request.run_id, request.tool, canonical.digest(LESS)) == Decision.objects.get().pk


@pytest.mark.usefixtures("editable")
def test_a_change_that_nobody_else_could_approve_is_not_stored(asked, ben):
    request = asked()  # Ada started the run, so that nobody is left besides Ben
    with pytest.raises(errors.NobodyElse, match="nobody else may"):
        approve(request, ben, args=LESS)
    assert not Vote.objects.exists()
    assert approve(request, ben).decided


@pytest.mark.usefixtures("editable")
def test_a_change_may_wait_for_who_joins_later(asked, ben, rule):
    rule(escalation=["10m leads"])
    person("Lou", "leads", "approver")
    assert not approve(asked(), ben, args=LESS).decided


@pytest.fixture
def large(settings) -> None:
    """Large refunds are for two people."""
    settings.APPROVALS_POLICIES = [
        settings.APPROVALS_DEFAULT
        | {"name": "large", "when": ["args.cents > 50000"], "quorum": 2, "editable": ["cents"]}
    ]


@pytest.mark.usefixtures("editable", "large")
def test_a_change_is_measured_by_the_policy_of_what_it_changes_to(asked, ben, eve):
    with pytest.raises(errors.NobodyElse, match="2 more would have to approve, and only 1 may"):
        approve(asked(), ben, args=MORE)


@pytest.mark.usefixtures("editable", "large")
def test_while_a_change_waits_what_it_needs_counts(asked, ben, eve, cara):
    request = asked()
    assert approve(request, ben, args=MORE).missing == 2
    tally = Electorate.of([request]).tally(request, gate_of(request))
    assert (tally.approvals, tally.able, tally.missing) == (0, 2, 2)
    cara.groups.clear()
    assert not Electorate.of([request]).tally(request, gate_of(request)).possible


def test_where_the_policy_names_no_argument_none_changes(asked, ben):
    refused(errors.BadValue, asked(), by=ben, args=LESS)


@pytest.mark.usefixtures("editable")
@pytest.mark.parametrize(
    "args",
    [REFUND, {"cents": 5}, REFUND | {"cents": "5"}, LESS | {"order": 8}, LESS | {"x": 1}, {}],
)
def test_a_change_that_does_not_fit_is_refused_and_not_stored(asked, ben, args):
    refused(errors.BadValue, asked(), by=ben, args=args)


@pytest.fixture
def larger(settings) -> None:
    """From 500 on, the chiefs decide, two of them."""
    settings.APPROVALS_POLICIES = [
        {
            "name": "large",
            "group": "chiefs",
            "quorum": 2,
            "editable": ["cents"],
            "when": ["args.cents > 50000"],
        }
    ]


@pytest.mark.usefixtures("editable", "larger")
def test_a_larger_amount_meets_the_policy_for_larger_amounts(asked, ben, eve):
    request = asked()
    assert request.group == "finance"
    refused(errors.NotEligible, request, by=ben, args=MORE)
    anna, chief = person("Anna", "finance", "chiefs", "approver"), person("Zoe", "chiefs")
    for name in ("Tom", "Uma"):
        person(name, "finance", "chiefs", "approver")
    assert approve(request, anna, args=MORE).missing == 2
    refused(errors.NotEligible, request, by=eve, args=MORE)
    refused(errors.NotEligible, request, by=chief, args=MORE)  # not of finance, which was asked


@pytest.mark.usefixtures("larger")
def test_a_policy_that_allows_no_changes_holds_for_what_would_become_of_it(
    asked, ben, rule, settings
):
    rule(editable=["cents"])
    settings.APPROVALS_POLICIES = [settings.APPROVALS_POLICIES[0] | {"editable": []}]
    ben.groups.add(*person("Anna", "chiefs").groups.all())
    refused(errors.BadValue, asked(), by=ben, args=MORE)


# --- batches --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("editable")
def test_each_call_of_a_batch_is_decided_on_its_own(asked, ben):
    request = asked(BATCH)
    first, second = tokens(request)
    value = {second: {"type": "reject", "message": "Keep it."}, first: {"type": "approve"}}
    assert approve(request, ben, value=value).decided
    decision = Decision.objects.get()
    assert decision.answer == {
        "decisions": [{"type": "approve"}, {"type": "reject", "message": "Keep it."}]
    }
    assert (decision.verdict, now(request).status) == ("approved", "approved")


@pytest.mark.usefixtures("editable")
def test_a_changed_call_of_a_batch_needs_another_person_too(asked, ben, eve):
    request = asked(BATCH)
    first, second = tokens(request)
    changed = {"name": "send_email", "args": {"to": "b", "copies": 1}}
    value = {first: {"type": "edit", "edited_action": changed}, second: {"type": "approve"}}
    assert not approve(request, ben, value=value).decided
    assert approve(request, eve, value=value).decided
    assert Decision.objects.get().edited_by == ben
    assert Decision.objects.get().answer["decisions"][0]["edited_action"] == changed


def test_the_requester_may_refuse_every_call_and_approve_none(asked, ada):
    request = asked(BATCH)
    first, second = tokens(request)
    mixed = {first: {"type": "reject", "message": "no"}, second: {"type": "approve"}}
    respond = {first: {"type": "respond", "message": "It was sent."}, second: {"type": "approve"}}
    for value in (mixed, respond):
        refused(errors.NotEligible, request, by=ada, value=value)
    assert reject(request, ada).decided
    assert now(request).status == "rejected"


@pytest.mark.parametrize("reasons", [("why", "why"), ("", "why")])
def test_a_refused_call_needs_a_reason_unless_the_whole_has_one(asked, ben, reasons):
    request = asked(BATCH)
    given = [{"type": "reject", "message": each} for each in reasons]
    value = dict(zip(tokens(request), given, strict=True))
    if all(reasons):
        assert reject(request, ben, value=value, comment="").decided
    else:
        with pytest.raises(errors.ReasonMissing):
            reject(request, ben, value=value, comment="")
        assert not Vote.objects.exists()


def test_a_call_that_is_refused_among_others_needs_a_reason_too(asked, ben):
    request = asked(BATCH)
    first, second = tokens(request)
    value: dict[str, Any] = {first: {"type": "approve"}, second: {"type": "reject"}}
    refused(errors.ReasonMissing, request, by=ben, value=value, comment="")


@pytest.mark.parametrize(
    "given",
    [
        lambda first, second: {first: {}, second: {}},
        lambda first, second: {first: {"type": "approve"}},
        lambda first, second: {first: {"type": "approve"}, "x" * 16: {"type": "approve"}},
        lambda first, second: {
            first: {"type": "approve"},
            second: {"type": "respond", "message": "m"},
        },
        lambda first, second: {first: {"type": "approve"}, second: None},
        lambda first, second: [{"type": "approve"}, {"type": "approve"}],
        lambda first, second: {"decisions": [{"type": "approve"}] * 2},
        lambda first, second: 0,
    ],
)
def test_a_reply_that_langchain_would_choke_on_is_not_stored(asked, ben, given):
    request = asked(BATCH)
    refused(errors.BadValue, request, by=ben, value=given(*tokens(request)))


# --- typed ----------------------------------------------------------------------------------------


def typed(waiting_run, schema: object) -> Request:
    question = pending("How many?")
    object.__setattr__(question, "schema", schema)
    request: Request = ask(waiting_run(), question)
    return request


def test_the_schema_is_kept_with_its_fields_in_their_order(waiting_run):
    schema = {"type": "object", "properties": {"zeta": {}, "a": {}, "beta": {}}}
    request = typed(waiting_run, schema)
    assert request.shape == "typed"
    assert request.answer_schema == schema
    assert list(request.answer_schema["properties"]) == ["zeta", "a", "beta"]


def test_a_typed_answer_is_stored_with_its_type(waiting_run, ben):
    request = typed(waiting_run, int)
    for wrong in (None, "7", 7.0, True, [7]):
        refused(errors.BadValue, request, by=ben, value=wrong)
    assert approve(request, ben, value=0).decided
    assert Decision.objects.get().answer == 0


def test_another_schema_under_the_same_question_is_another_round(waiting_run, ben):
    request = typed(waiting_run, {"type": "integer"})
    question = pending("How many?")
    object.__setattr__(question, "schema", {"type": "string"})
    newer = ask(request.run, question)
    assert newer.round == 2
    with pytest.raises(errors.PayloadChanged):
        approve(request, ben, value=7)


def test_two_people_must_give_the_same_answer(waiting_run, ben, eve, rule):
    rule(quorum=2)
    request = typed(waiting_run, int)
    assert not approve(request, ben, value=7).decided
    refused(errors.BadValue, request, by=eve, value=8)
    assert approve(request, eve, value=7).decided
