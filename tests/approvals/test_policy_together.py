"""Then and now together: the stricter of the two in every respect, whatever they say."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.policies import declared, wording
from approvals.policies.calendars import At, Hours
from approvals.policies.conditions import Condition
from approvals.policies.rule import Excluded, Gate, OnDeadline, Policy, Risk, together
from approvals.policies.steps import Mask, Step
from approvals.policies.subjects import Subject

GROUPS = ("finance", "legal", "board")
PEOPLE = ("ben@example.com", "eve@example.com")


def several(*of: object) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(st.sampled_from(of), unique=True, max_size=3).map(tuple)


policies = st.builds(
    Policy,
    name=st.sampled_from(["p", "q"]),
    group=st.sampled_from(GROUPS),
    groups=several(*GROUPS),
    people=several(*PEOPLE),
    tool=st.sampled_from(["*", "payments.*"]),
    when=several(Condition.parse("args.x > 5"), Condition.parse("args.y missing")),
    four_eyes=st.booleans(),
    excluded=several(*Excluded.values),
    quorum=st.integers(1, 4),
    risk=st.sampled_from(Risk.values),
    deadline=st.integers(3600, 99_999).map(lambda each: timedelta(seconds=each)),
    deadline_at=st.none() | st.just(At.parse("17:00 +1")),
    hours=st.none() | st.just(Hours.parse("Mon-Fri 09:00-17:00 Europe/Berlin")),
    on_deadline=st.sampled_from(OnDeadline.values),
    reminders=several(timedelta(minutes=5), timedelta(minutes=10)),
    escalation=several(Step.parse("10m legal"), Step.parse("20m board")).map(
        lambda steps: tuple(sorted(steps, key=lambda step: step.after))
    ),
    comment_required_to_reject=st.booleans(),
    comment_required_to_approve=st.booleans(),
    reject_reasons=several("wrong amount", "no receipt"),
    reauthenticate_within=st.none() | st.integers(60, 600).map(lambda s: timedelta(seconds=s)),
    passkey=st.booleans(),
    answers=st.sampled_from([{}, {"approve": "yes"}]),
    editable=several("amount", "note"),
    summary=st.sampled_from(["", "Refund {amount}"]),
    key_facts=several("args.order_id"),
    masked=several(Mask.parse("args.iban: treasury"), Mask.parse("args.note")),
)


def admitted(gate: Gate) -> set[tuple[frozenset[str], str]]:
    """Which of all kinds of people may decide."""
    kinds = [
        (frozenset(groups), address)
        for groups in ((), *((each,) for each in GROUPS), GROUPS)
        for address in ("", *PEOPLE)
    ]
    return {kind for kind in kinds if all(who.admits(*kind) for who in gate.who)}


joined = several(*GROUPS)


@given(policies, policies, joined)
@settings(max_examples=300)
def test_together_is_never_laxer_than_either(then, now, wider):
    both = together(then, now, joined=wider)
    for alone in (together(then, joined=wider), together(now, joined=wider)):
        assert admitted(both) <= admitted(alone)
        assert both.quorum >= alone.quorum
        assert both.excluded >= alone.excluded
        assert Risk.values.index(both.risk) >= Risk.values.index(alone.risk)
        assert both.comment_required_to_reject >= alone.comment_required_to_reject
        assert both.comment_required_to_approve >= alone.comment_required_to_approve
        assert bool(both.reject_reasons) >= bool(alone.reject_reasons)
        assert both.passkey >= alone.passkey
        if alone.reauthenticate_within is not None:
            assert both.reauthenticate_within is not None
            assert both.reauthenticate_within <= alone.reauthenticate_within
        for argument in ("amount", "note", "other"):
            assert both.may_change(argument) <= alone.may_change(argument)
        assert set(both.masked) >= set(alone.masked)
    assert both.answers == then.answers


@given(policies, policies, joined)
def test_which_is_then_and_which_is_now_makes_nothing_laxer(then, now, wider):
    one, other = together(then, now, joined=wider), together(now, then, joined=wider)
    assert admitted(one) == admitted(other)
    assert (one.quorum, one.excluded, one.risk, one.passkey, one.reauthenticate_within) == (
        other.quorum,
        other.excluded,
        other.risk,
        other.passkey,
        other.reauthenticate_within,
    )


@given(policies, joined)
def test_a_policy_together_with_itself_is_itself(policy, wider):
    assert admitted(together(policy, policy, joined=wider)) == admitted(
        together(policy, joined=wider)
    )
    assert together(policy, policy).quorum == policy.quorum


@given(policies)
@settings(max_examples=200)
def test_a_policy_is_read_back_from_the_database_as_it_was(policy):
    assert Policy.read(json.loads(json.dumps(policy.stored()))) == policy


@given(policies)
def test_a_policy_that_is_in_force_may_be_written(policy):
    given = {each.name: getattr(policy, each.name) for each in fields(policy)}
    wrong = declared.faults(given)
    assert {fault.key for fault in wrong} <= {"reauthenticate_within"}
    assert bool(wrong) == (policy.passkey and policy.reauthenticate_within is None)


def test_every_key_has_a_rule():
    assert set(declared.RULES) | set(declared.PARSED) == {each.name for each in fields(Policy)}


def test_a_group_that_joined_has_a_say_only_as_far_as_both_policies_let_it_join():
    then = Policy(name="p", group="finance", escalation=(Step.parse("1h board"),))
    without = Policy(name="p", group="finance")
    board = (frozenset({"board"}), "")
    assert board not in admitted(together(then, then))
    assert board in admitted(together(then, then, joined=["board"]))
    assert board not in admitted(together(then, without, joined=["board"]))
    assert board not in admitted(together(then, then, joined=["legal"]))


def test_people_who_are_named_decide_whatever_groups_they_are_in():
    gate = together(Policy(name="p", people=("ben@example.com",)))
    assert admitted(gate) == {
        each for each in admitted(together(Policy(name="p", people=PEOPLE))) if "ben" in each[1]
    }
    assert gate.sentence == "1 of ben@example.com, not who started the run"


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        (Policy(name="p", group="a", quorum=2), "2 of a, not who started the run"),
        (Policy(name="p", group="a", groups=("b",)), "1 of a or b, not who started the run"),
        (Policy(name="p", group="a", four_eyes=False), "1 of a"),
        (Policy(name="p", group="a", excluded=()), "1 of a"),
        (Policy(name="p", group="a", excluded=("editor",)), "1 of a, not who edits it"),
    ],
)
def test_a_policy_in_words(policy, sentence):
    assert together(policy).sentence == sentence


def test_two_policies_in_words():
    one, other = Policy(name="p", group="a", groups=("b",)), Policy(name="q", group="c")
    assert together(one, other).sentence == "1 of (a or b) and c, not who started the run"


# --- the summary ----------------------------------------------------------------------------------

ORDER = {"order_id": "A-7", "amount_cents": 12_345, "currency": "EUR", "to": {"name": "Ada"}}


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        ("Refund {amount} for {args.order_id}", "Refund EUR 123.45 for A-7"),
        ("To {args.to.name} from {agent}", "To Ada from desk"),
        ("{args.to}", ""),
        ("{args.nobody}", ""),
        ("{args.order_id.__class__}", ""),
        ("{args.to.name.upper}", ""),
        ("No fields", "No fields"),
        ("", ""),
    ],
)
def test_a_summary_takes_named_plain_values_and_nothing_else(template, sentence):
    assert wording.summary(template, Subject(agent="desk", args=ORDER)) == sentence


@pytest.mark.parametrize(
    "template",
    ["{", "}", "{}", "{0}", "{args.x!r}", "{args.x:>9}", "{user.email}", "{{args.x}}", "{args.x"],
)
def test_a_template_with_anything_else_is_refused(template):
    assert wording.problem(template)


def test_what_a_stranger_wrote_does_not_become_a_template():
    args = {"name": "{amount} {args.secret}", "secret": "s3cret"}
    assert wording.summary("To {args.name}", Subject(agent="a", args=args)) == (
        "To {amount} {args.secret}"
    )


@pytest.mark.parametrize(
    ("args", "money"),
    [
        ({"amount_cents": -5, "currency": "EUR"}, "EUR -0.05"),
        ({"amount_minor": 100_000_000, "currency": "USD"}, "USD 1,000,000.00"),
        ({"cents": 500, "currency": "JPY"}, "JPY 500 (smallest unit)"),
        ({"cents": 500, "currency": "euro"}, ""),
        ({"cents": True, "currency": "EUR"}, ""),
        ({"cents": 5.0, "currency": "EUR"}, ""),
        ({"cents": 5, "amount_cents": 6, "currency": "EUR"}, ""),
    ],
)
def test_an_amount_is_told_only_where_it_is_beyond_doubt(args, money):
    assert wording.summary("{amount}", Subject(agent="a", args=args)) == money


def test_a_value_too_long_for_a_sentence_gives_no_summary():
    args = {"name": "x" * 201, "padded": "a" + " " * 500 + "b"}
    assert wording.summary("{args.name}", Subject(agent="a", args=args)) == ""
    assert wording.summary("{args.padded}", Subject(agent="a", args=args)) == "a b"
