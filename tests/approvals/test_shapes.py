"""Shapes: every payload is recognised, readable, and answered in its own form or not at all."""

from __future__ import annotations

import pytest

from approvals import errors, shapes
from approvals.models import Request
from approvals.shapes import NOTHING, Shape
from approvals.status import DELIVERIES, STATES, Delivery, Status, Verdict
from audit import canonical
from tests.approvals.conftest import REFUND, ours

BATCHED = {
    "action_requests": [{"name": "send_email", "args": {"to": "a"}, "description": "Says hello"}],
    "review_configs": [{"action_name": "send_email", "allowed_decisions": ["approve"]}],
}
CALL = {"type": "tool_approval", "name": "send_email", "args": {"to": "a"}, "description": "Hello"}
INBOX = {
    "action_request": {"action": "send_email", "args": {"to": "a"}},
    "config": {"allow_accept": True},
    "description": "Says hello",
}


@pytest.mark.parametrize(
    ("payload", "schema", "shape"),
    [
        (ours(), None, Shape.OURS),
        (ours(), {"type": "boolean"}, Shape.OURS),
        (BATCHED, None, Shape.LANGCHAIN_BATCHED),
        (CALL, {"type": "object"}, Shape.LANGCHAIN_CALL),
        (INBOX, None, Shape.AGENT_INBOX),
        ([INBOX], None, Shape.AGENT_INBOX),
        ([INBOX, INBOX], None, Shape.PLAIN),
        ("May I?", {"type": "boolean"}, Shape.TYPED),
        ("May I?", bool, Shape.TYPED),
        ("May I?", None, Shape.PLAIN),
        (None, None, Shape.PLAIN),
        ([], None, Shape.PLAIN),
        ({"action_requests": "x", "review_configs": []}, None, Shape.PLAIN),
        ({"action_request": "x", "config": {}}, None, Shape.PLAIN),
        ({"type": "other"}, None, Shape.PLAIN),
        ({"type": ["tool_approval"]}, None, Shape.PLAIN),
    ],
)
def test_a_payload_is_recognised_by_its_form(payload, schema, shape):
    assert shapes.detect(payload, schema) is shape


@pytest.mark.parametrize(
    "change",
    [
        {"args": {"order": 7, "cents": 1}},
        {"digest": "0" * 64},
        {"signalbox": 2},
        {"signalbox": True},
        {"signalbox": 1.0},
        {"extra": 1},
        {"tool": None},
        {"tool": "t" * 201},
        {"tool": "pay\x00"},
        {"facts": []},
        {"question": 7},
    ],
)
def test_what_only_looks_like_a_question_of_ours_earns_no_permit(change):
    assert shapes.detect(ours() | change) is Shape.PLAIN


@pytest.mark.parametrize(
    "name", ["signalbox", "question", "tool", "args", "facts", "why", "digest"]
)
def test_a_question_of_ours_is_complete(name):
    payload = ours()
    del payload[name]
    assert shapes.detect(payload) is Shape.PLAIN


@pytest.mark.parametrize(
    ("shape", "payload", "title", "tool", "args"),
    [
        (Shape.OURS, ours(), "Refund order 7?", "payments.refund", REFUND),
        (Shape.LANGCHAIN_BATCHED, BATCHED, "Call send_email", "send_email", {"to": "a"}),
        (Shape.LANGCHAIN_CALL, CALL, "Call send_email", "send_email", {"to": "a"}),
        (Shape.AGENT_INBOX, INBOX, "Call send_email", "send_email", {"to": "a"}),
        (Shape.AGENT_INBOX, [INBOX], "Call send_email", "send_email", {"to": "a"}),
        (Shape.LANGCHAIN_CALL, {"type": "tool_approval", "name": 7}, "Call a tool", "", None),
        (
            Shape.LANGCHAIN_BATCHED,
            {"action_requests": [{"name": "a"}, {"name": "b"}, 7], "review_configs": []},
            "Call a, b",
            "",
            None,
        ),
        (
            Shape.LANGCHAIN_BATCHED,
            {"action_requests": [], "review_configs": []},
            "Call nothing",
            "",
            None,
        ),
    ],
)
def test_a_person_reads_what_would_be_done(shape, payload, title, tool, args):
    question = shapes.describe(shape, canonical.visible(payload))
    assert (question.title, question.tool, question.args) == (title, tool, args)


def test_the_agents_words_and_facts_are_kept_apart_from_the_question():
    question = shapes.describe(Shape.OURS, ours(facts={"Amount": "€120"}, why="CFO said so"))
    assert (question.facts, question.why) == ({"Amount": "€120"}, "CFO said so")


def answered(shape: str, verdict: str, **answers: object) -> object:
    return shapes.answer(
        shape, verdict, value=None, comment="c", digest="d", by="Ben", answers=answers
    )


@pytest.mark.parametrize("verdict", Verdict.values)
def test_a_question_of_ours_gets_the_whole_answer_whatever_the_policy_maps(verdict):
    assert answered("ours", verdict, approve=1, reject=2, expired=3) == {
        "decision": verdict,
        "value": None,
        "comment": "c",
        "digest": "d",
        "by": "Ben",
    }


def test_plain_questions_get_true_false_and_no_answer_when_the_deadline_passed():
    assert answered("plain", "approved") is True
    assert answered("plain", "rejected") is False
    assert answered("plain", "expired") is NOTHING


@pytest.mark.parametrize("falsy", [False, 0, "", []])
def test_a_mapped_answer_arrives_as_it_is_even_if_it_is_falsy(falsy):
    found = answered("plain", "approved", approve=falsy)
    assert found == falsy
    assert type(found) is type(falsy)


@pytest.mark.parametrize("shape", ["langchain_batched", "langchain_call", "agent_inbox", "typed"])
def test_other_formats_get_only_what_the_policy_maps(shape):
    assert answered(shape, "approved") is NOTHING
    assert answered(shape, "rejected", reject=[{"type": "ignore"}]) == [{"type": "ignore"}]
    assert shapes.unanswerable(shape, "approved", answers={"reject": 1}, digest="d")
    assert not shapes.unanswerable(shape, "rejected", answers={"reject": 1}, digest="d")


@pytest.mark.parametrize("lost", [None, {}, {"0" * 32: 1}, {"a" * 32: 1, "F" * 32: 2}])
def test_no_answer_is_none_or_can_be_taken_for_a_map_of_interrupts(lost):
    assert answered("plain", "approved", approve=lost) == {"value": lost}


def test_a_payload_that_cannot_be_compared_cannot_be_approved():
    cyclic: list[object] = []
    cyclic.append(cyclic)
    assert shapes.fingerprint(cyclic) == shapes.INCOMPARABLE
    for shape in Shape:
        assert shapes.unanswerable(
            shape, "approved", answers={"approve": 1}, digest=shapes.INCOMPARABLE
        )


def test_a_value_of_a_person_fits_only_a_question_of_ours():
    shapes.check_value("ours", {"cents": 5})
    for shape in set(Shape) - {Shape.OURS}:
        shapes.check_value(shape, None)
        with pytest.raises(errors.BadValue):
            shapes.check_value(shape, False)


def test_every_shape_fits_the_column_and_every_state_has_its_words():
    most = Request._meta.get_field("shape").max_length or 0
    assert all(len(shape) <= most for shape in Shape)
    assert set(STATES) == set(Status.values)
    assert set(DELIVERIES) == set(Delivery.values)
