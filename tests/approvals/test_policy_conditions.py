"""Conditions: met, not met or in doubt; and doubt opens nothing."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.policies.book import Book
from approvals.policies.conditions import Condition
from approvals.policies.rule import Policy
from approvals.policies.subjects import MISSING, Subject
from approvals.policy import together


def met(line: str, args: object, **more: Any) -> bool | None:
    return Condition.parse(line).met_by(Subject(agent="a", args=args, **more))


@pytest.mark.parametrize(
    ("line", "args", "answer"),
    [
        ("args.cents > 500", {"cents": 501}, True),
        ("args.cents > 500", {"cents": 500}, False),
        ("args.cents > 500", {"cents": 500.5}, True),
        ("args.cents > 500", {"cents": "501"}, None),
        ("args.cents > 500", {"cents": True}, None),
        ("args.cents > 500", {"cents": None}, None),
        ("args.cents > 500", {"cents": [501]}, None),
        ("args.cents > 500", {"cents": math.nan}, None),
        ("args.cents > 500", {}, None),
        ("args.cents > 500", None, None),
        ("args.cents > 500", [501], None),
        ("args.cents < -1.5", {"cents": -2}, True),
        ("args.kind = refund", {"kind": "refund"}, True),
        ('args.kind = "refund"', {"kind": "Refund"}, False),
        ("args.kind = refund", {"kind": 1}, None),
        ("args.flag = true", {"flag": True}, True),
        ("args.flag = true", {"flag": 1}, None),
        ("args.flag = 1", {"flag": True}, None),
        ("args.flag = 1", {"flag": 1.0}, True),
        ("args.flag = null", {"flag": None}, True),
        ("args.flag = null", {}, None),
        ("args.kind != refund", {"kind": "credit"}, True),
        ("args.kind != refund", {"kind": None}, None),
        ("args.kind in refund, credit", {"kind": "credit"}, True),
        ('args.kind in "a, b", c', {"kind": "a, b"}, True),
        ("args.kind in refund, 7", {"kind": 8}, False),
        ("args.kind in refund, credit", {"kind": 8}, None),
        ("args.kind not in refund, credit", {"kind": "gift"}, True),
        ("args.kind not in refund", {"kind": {}}, None),
        ("args.to within example.com", {"to": "a@example.com"}, True),
        ("args.to within example.com", {"to": "a@EXAMPLE.com"}, True),
        ("args.to within example.com", {"to": "a@mail.example.com"}, False),
        ("args.to within *.example.com", {"to": "a@mail.example.com"}, True),
        ("args.to within *.example.com", {"to": "a@badexample.com"}, False),
        ("args.to within example.com", {"to": "a@example.com.evil.org"}, False),
        ("args.to within example.com", {"to": "https://example.com/x?a@evil.org"}, True),
        ("args.to within example.com", {"to": "https://example.com@evil.org/"}, None),
        ("args.to within example.com", {"to": "https://evil.org\\@example.com/"}, None),
        ("args.to within example.com", {"to": "https://evil.org/@example.com"}, False),
        ("args.to within example.com", {"to": "Ada <ada@example.com>"}, None),
        ("args.to within example.com", {"to": "a@example.com, b@evil.org"}, None),
        ("args.to within example.com", {"to": "a@ex\u0430mple.com"}, None),
        ("args.to within example.com", {"to": "a@example.com\nb@evil.org"}, None),
        ("args.to within example.com", {"to": "example.com"}, None),
        ("args.to within example.com", {"to": ["a@example.com", "b@example.com"]}, True),
        ("args.to within example.com", {"to": ["a@example.com", "b@evil.org"]}, False),
        ("args.to within example.com", {"to": []}, None),
        ("args.to within example.com", {"to": ["a@example.com", 7]}, None),
        ("args.to outside example.com", {"to": ["a@example.com", "b@evil.org"]}, True),
        ("args.to outside example.com", {"to": "a@example.com"}, False),
        ("args.to outside example.com", {}, None),
        ("args.order matches R-*", {"order": "R-17"}, True),
        ("args.order matches R-*", {"order": "r-17"}, False),
        ("args.order matches R-*", {"order": 17}, None),
        ("args.why missing", {}, True),
        ("args.why missing", {"why": None}, False),
        ("args.lines.1.cents > 5", {"lines": [{"cents": 1}, {"cents": 9}]}, True),
        ("args.lines.2.cents > 5", {"lines": [{"cents": 9}]}, None),
        ("args.lines.-1.cents > 5", {"lines": [{"cents": 9}]}, None),
        ("args.__class__ = x", {}, None),
    ],
)
def test_what_is_met_not_met_and_in_doubt(line, args, answer):
    assert met(line, args) is answer


def test_agent_node_tool_and_the_whole_question_can_be_looked_at():
    assert met("tool = payments.refund", None, tool="payments.refund")
    assert met("node matches gate*", None, node="gate_2")
    assert met("payload.kind = x", None, payload={"kind": "x"})
    assert Subject(agent="a", args={"b": {"keys": 1}}).look("args.b.keys") == 1
    assert Subject(agent="a", args={"b": {}}).look("args.b.items") is MISSING


@pytest.mark.parametrize(
    "line",
    [
        "",
        "args.x",
        "x > 5",
        "args.x >",
        "args.x > five",
        "args.x > true",
        "args.x = {}",
        'args.x = "open',
        "args.x in",
        "args.x within",
        "args.x within exa mple",
        "args.x within *",
        "args.x missing 5",
        "args.x ~ 5",
        "args.x = NaN",
        "args.x matches",
        "args..x = 5",
        "self.x = 5",
        7,
        None,
    ],
)
def test_what_is_no_condition_is_refused_with_words(line):
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        Condition.parse(line)


plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
)
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
)
paths = st.sampled_from(["args.a", "args.a.b", "payload.0", "tool", "args"])
conditions = st.one_of(
    st.builds(
        lambda path, op, value: Condition(path=path, operator=op, operand=value),
        paths,
        st.sampled_from(["=", "!="]),
        plain,
    ),
    st.builds(
        lambda path, op, of: Condition(path=path, operator=op, operand=tuple(of)),
        paths,
        st.sampled_from(["in", "not in"]),
        st.lists(plain, min_size=1, max_size=3),
    ),
    st.builds(
        lambda path, op, value: Condition(path=path, operator=op, operand=value),
        paths,
        st.sampled_from([">", "<"]),
        st.integers(-1000, 1000),
    ),
    st.builds(
        lambda path, op: Condition(path=path, operator=op, operand=("example.com", "*.b.org")),
        paths,
        st.sampled_from(["within", "outside"]),
    ),
    st.builds(lambda path: Condition(path=path, operator="missing"), paths),
)


@given(conditions)
def test_a_condition_is_read_back_as_it_was_written(condition):
    assert Condition.parse(str(condition)) == condition


@given(conditions, values, values)
@settings(max_examples=300)
def test_whatever_an_agent_sends_there_is_an_answer(condition, args, payload):
    subject = Subject(agent="a", args=args, payload=payload)
    assert condition.met_by(subject) in (True, False, None)


@given(st.lists(conditions, max_size=3), st.lists(conditions, max_size=3), values)
@settings(max_examples=300)
def test_doubt_never_opens_what_certainty_would_have_closed(first, second, args):
    """Whatever the truth about a field in doubt is, what holds is at least as strict."""
    strict = Policy(name="strict", group="legal", quorum=3, when=tuple(first))
    lax = Policy(name="lax", group="finance", quorum=1, when=tuple(second))
    default = Policy(name="default", group="board", quorum=2)
    for order in ((strict, lax, default), (lax, strict, default)):
        subject = Subject(agent="a", args=args)
        held = Book(version=0, policies=order).find(subject)
        for policy in order:  # the first that is met beyond doubt would hold if doubt were no
            if policy is default or policy.fits(subject) is True:
                certain = policy
                break
        assert certain in held
        possible = order[: order.index(certain) + 1]
        assert held == tuple(each for each in possible if each.fits(subject) is not False)
        assert together(*held).quorum == max(each.quorum for each in held)


def test_a_restricting_condition_counts_as_met_where_its_field_is_missing():
    large = Policy(name="l", group="legal", quorum=2, when=(Condition.parse("args.cents > 500"),))
    default = Policy(name="d", group="finance")
    book = Book(version=0, policies=(large, default))
    assert together(*book.find(Subject(agent="a", args={}))).quorum == 2


def test_a_loosening_condition_does_not_count_as_met_where_its_field_is_missing():
    small = Policy(name="s", group="finance", when=(Condition.parse("args.cents < 500"),))
    default = Policy(name="d", group="legal", quorum=2)
    book = Book(version=0, policies=(small, default))
    gate = together(*book.find(Subject(agent="a", args={"cents": "499"})))
    assert (gate.quorum, sorted(gate.groups)) == (2, ["finance", "legal"])
    assert book.find(Subject(agent="a", args={"cents": 499})) == (small,)


def test_of_several_actions_asked_about_together_each_ones_policy_holds():
    small = Policy(name="s", group="finance", when=(Condition.parse("args.cents < 500"),))
    default = Policy(name="d", group="legal", quorum=2)
    book = Book(version=0, policies=(small, default))
    batch = [Subject(agent="a", args={"cents": cents}) for cents in (1, 9000)]
    assert book.find(*batch) == (small, default)
