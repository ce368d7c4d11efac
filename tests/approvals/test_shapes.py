"""Shapes: every payload is recognised, readable, and answered in its own form or not at all.

LangGraph and LangChain check the same answers for themselves in test_shapes_driven.
"""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel

from approvals import errors, shapes
from approvals.models import Request
from approvals.shapes import NOTHING, Shape, kinds
from approvals.status import DELIVERIES, STATES, Delivery, Status, Verdict
from audit import canonical
from tests.approvals.conftest import REFUND, ours
from tests.support.answers import answer, asked

ALL = ["approve", "edit", "reject", "respond"]
MAIL = {"to": "a@example.com", "copies": 2, "urgent": True, "note": None, "parts": ["x"]}


def batched(*allowed: list[str], args: dict[str, Any] | None = None) -> dict[str, Any]:
    """LangChain's question about as many calls as there are lists of allowed decisions."""
    calls = [
        {"name": f"tool_{n}", "args": args or MAIL | {"to": f"{n}@example.com"}, "description": "D"}
        for n, _ in enumerate(allowed)
    ]
    configs = [
        {"action_name": f"tool_{n}", "allowed_decisions": each} for n, each in enumerate(allowed)
    ]
    return {"action_requests": calls, "review_configs": configs}


def inbox(**allowed: bool) -> dict[str, Any]:
    return {
        "action_request": {"action": "send_email", "args": MAIL},
        "config": {f"allow_{key}": value for key, value in allowed.items()},
        "description": "Says hello",
    }


BATCHED = batched(["approve"])
CALL = {
    "type": "tool_approval",
    "tool_call_id": "call_1",
    "name": "send_email",
    "args": MAIL,
    "description": "Hello",
}
INBOX = inbox(accept=True, edit=True, respond=True, ignore=True)


class Approve(BaseModel):
    type: Literal["approve"]


class Reject(BaseModel):
    type: Literal["reject"]
    message: str = ""


CALL_SCHEMA: dict[str, Any] = {
    "$defs": {
        "Args": {
            "type": "object",
            "properties": {
                "to": {"type": "string", "format": "email"},
                "copies": {"type": "integer", "maximum": 5},
                "cc": {"type": "string"},
            },
            "required": ["to"],
        },
        "Edited": {
            "type": "object",
            "properties": {"name": {"const": "send_email"}, "args": {"$ref": "#/$defs/Args"}},
            "required": ["name", "args"],
        },
    },
    "oneOf": [
        {
            "type": "object",
            "properties": {"type": {"const": "approve"}},
            "required": ["type"],
        },
        {
            "type": "object",
            "properties": {"type": {"const": "edit"}, "edited_action": {"$ref": "#/$defs/Edited"}},
            "required": ["type", "edited_action"],
        },
        {
            "type": "object",
            "properties": {"type": {"const": "reject"}, "message": {"type": "string"}},
            "required": ["type"],
        },
        {
            "type": "object",
            "properties": {"type": {"const": "respond"}, "message": {"type": "string"}},
            "required": ["type", "message"],
        },
    ],
}


# --- recognised and read --------------------------------------------------------------------------


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
        ("May I?", {}, Shape.TYPED),
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
        (Shape.LANGCHAIN_BATCHED, batched(ALL, args=MAIL), "Call tool_0", "tool_0", MAIL),
        (Shape.LANGCHAIN_CALL, CALL, "Call send_email", "send_email", MAIL),
        (Shape.AGENT_INBOX, INBOX, "Call send_email", "send_email", MAIL),
        (Shape.AGENT_INBOX, [INBOX], "Call send_email", "send_email", MAIL),
        (Shape.LANGCHAIN_CALL, {"type": "tool_approval", "name": 7}, "Call a tool", "", None),
        (Shape.LANGCHAIN_BATCHED, batched(ALL, ALL), "Call tool_0, tool_1", "", None),
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


@pytest.mark.parametrize(
    ("payload", "tools"),
    [
        (ours(), ["payments.refund"]),
        (batched(ALL, ALL), ["tool_0", "tool_1"]),
        (CALL, ["send_email"]),
        (INBOX, ["send_email"]),
        ("May I?", []),
    ],
)
def test_all_tools_that_would_be_called_are_known(payload, tools):
    found = shapes.calls(shapes.detect(payload), payload)
    assert [each.tool for each in found] == tools


# --- what is allowed ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "schema", "editable", "choices"),
    [
        (ours(), None, (), [["approve", "reject"]]),
        (ours(), None, ("cents",), [["approve", "edit", "reject"]]),
        (ours(tool="", args={}), None, ("cents",), [["approve", "reject"]]),
        ("May I?", None, ("*",), [["approve", "reject"]]),
        ("May I?", bool, (), [["answer"]]),
        (batched(ALL, ["reject"]), None, (), [["approve", "reject", "respond"], ["reject"]]),
        (batched(ALL, ["reject"]), None, ("to",), [ALL, ["reject"]]),
        (batched(["edit", "approve"]), None, ("other",), [["approve"]]),
        (CALL, CALL_SCHEMA, (), [["approve", "reject", "respond"]]),
        (CALL, CALL_SCHEMA, ("to",), [ALL]),
        (CALL, Approve, ("to",), [["approve"]]),
        (CALL, Approve | Reject, ("to",), [["approve", "reject"]]),
        (INBOX, None, (), [["accept", "response", "ignore"]]),
        (INBOX, None, ("to",), [["accept", "edit", "response", "ignore"]]),
        (inbox(ignore=True), None, ("to",), [["ignore"]]),
        (INBOX | {"config": {"allow_accept": "yes", "allow_ignore": 1}}, None, (), []),
    ],
)
def test_what_may_be_chosen_is_what_the_agent_and_the_policy_allow(
    payload, schema, editable, choices
):
    found = shapes.actions(asked(payload, schema=schema, editable=editable))
    assert [[choice.key for choice in action.choices] for action in found] == choices


def without(payload: dict[str, Any], *path: Any) -> dict[str, Any]:
    """The payload without what is at `path`."""
    key, *rest = path
    if not rest:
        return {name: value for name, value in payload.items() if name != key}
    inner = payload[key]
    if isinstance(inner, list):
        return payload | {key: [without(inner[rest[0]], *rest[1:])]}
    return payload | {key: without(inner, *rest)}


@pytest.mark.parametrize(
    ("payload", "schema"),
    [
        (without(BATCHED, "action_requests", 0, "name"), None),
        (without(BATCHED, "action_requests", 0, "args"), None),
        (without(BATCHED, "review_configs", 0, "allowed_decisions"), None),
        (without(BATCHED, "review_configs", 0, "action_name"), None),
        ({"action_requests": [], "review_configs": []}, None),
        (BATCHED | {"review_configs": []}, None),
        (BATCHED | {"action_requests": [7]}, None),
        (batched(["approve", "maybe"]), None),
        (batched([]), None),
        (without(CALL, "name"), CALL_SCHEMA),
        (without(CALL, "args"), CALL_SCHEMA),
        (CALL, None),
        (CALL, {"type": "string"}),
        (without(INBOX, "action_request", "args"), None),
        (inbox(), None),
        ("May I?", {"type": "nonsense"}),
        ("May I?", object()),
    ],
)
@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_a_question_that_no_answer_would_fit_takes_none(payload, schema, verdict):
    question = asked(payload, schema=schema)
    assert shapes.why_not(question, verdict)
    with pytest.raises(errors.NotAnswerable):
        answer(question, verdict)


@pytest.mark.parametrize(
    ("payload", "verdict", "possible"),
    [
        (batched(ALL, ["reject"]), "approved", True),
        (batched(["approve"], ["reject"]), "rejected", False),
        (batched(["reject"]), "approved", False),
        (batched(["respond"]), "approved", True),
        (inbox(ignore=True), "approved", False),
        (inbox(accept=True), "rejected", False),
    ],
)
def test_a_verdict_is_possible_if_some_choice_of_every_action_leads_to_it(
    payload, verdict, possible
):
    assert (not shapes.why_not(asked(payload), verdict)) is possible


# --- the answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", Verdict.values)
def test_a_question_of_ours_gets_the_whole_answer_whatever_the_policy_maps(verdict):
    question = asked(ours(), answers={"approve": 1, "reject": 2, "expired": 3})
    assert answer(question, verdict, comment="c") == {
        "decision": verdict,
        "value": None,
        "comment": "" if verdict == "expired" else "c",
        "digest": question.digest,
        "by": "Ben",
    }


def test_plain_questions_get_true_false_and_no_answer_when_the_deadline_passed():
    assert answer(asked("May I?"), "approved") is True
    assert answer(asked("May I?"), "rejected") is False
    assert answer(asked("May I?"), "expired") is NOTHING


@pytest.mark.parametrize("falsy", [False, 0, "", []])
def test_a_mapped_answer_arrives_as_it_is_even_if_it_is_falsy(falsy):
    found = answer(asked("May I?", answers={"approve": falsy}), "approved")
    assert found == falsy
    assert type(found) is type(falsy)


@pytest.mark.parametrize("lost", [None, {}, {"0" * 32: 1}, {"a" * 32: 1, "F" * 32: 2}])
def test_no_mapped_answer_is_none_or_can_be_taken_for_a_map_of_interrupts(lost):
    assert answer(asked("May I?", answers={"approve": lost}), "approved") == {"value": lost}


def decisions(payload: dict[str, Any], *given: object, editable: tuple[str, ...] = ()) -> Any:
    """The answer to a batch, each call decided by what stands at its place in `given`."""
    question = asked(payload, editable=editable)
    tokens = [each.token for each in shapes.actions(question)]
    refusing = all(isinstance(each, dict) and each.get("type") == "reject" for each in given)
    value = dict(zip(tokens, given, strict=True))
    return answer(question, "rejected" if refusing else "approved", value=value)


def edit(args: object, name: str = "tool_0") -> dict[str, object]:
    return {"type": "edit", "edited_action": {"name": name, "args": args}}


@pytest.mark.parametrize(
    "given",
    [
        [{"type": "approve"}, {"type": "reject", "message": "no"}],
        [{"type": "reject", "message": "no"}, {"type": "reject", "message": "no, too"}],
        [{"type": "respond", "message": "yes"}, {"type": "approve"}],
        [edit(MAIL | {"to": "b@example.com"}), {"type": "approve"}],
    ],
)
def test_a_batch_gets_one_decision_for_each_call_in_its_order(given):
    payload = batched(ALL, ALL)
    assert decisions(payload, *given, editable=("to",)) == {"decisions": given}


def test_the_order_in_which_decisions_are_sent_means_nothing():
    question = asked(batched(ALL, ALL))
    first, second = (each.token for each in shapes.actions(question))
    value = {second: {"type": "reject", "message": "m"}, first: {"type": "approve"}}
    assert answer(question, "approved", value=value) == {
        "decisions": [{"type": "approve"}, {"type": "reject", "message": "m"}]
    }


def test_two_equal_calls_of_a_batch_are_told_apart():
    tokens = [each.token for each in shapes.actions(asked(batched(ALL, ALL, args={"a": 1})))]
    assert len(set(tokens)) == 2


def test_a_token_fits_one_question_only():
    (mine,), (other,) = (
        [each.token for each in shapes.actions(asked(batched(ALL, args={"a": n})))] for n in (1, 2)
    )
    assert mine != other
    with pytest.raises(errors.BadValue, match="exactly the 1 calls"):
        answer(asked(batched(ALL, args={"a": 1})), "approved", value={other: {"type": "approve"}})


@pytest.mark.parametrize(
    "given",
    [
        [],
        [{"type": "approve"}] * 3,
        [{"type": "approve"}],
        "approve",
        7,
        {"decisions": [{"type": "approve"}, {"type": "approve"}]},
        {},
    ],
)
def test_a_batch_is_decided_as_a_whole_or_not_at_all(given):
    with pytest.raises(errors.BadValue):
        answer(asked(batched(ALL, ALL)), "approved", value=given)


@pytest.mark.parametrize(
    "given",
    [
        None,
        "approve",
        [],
        {},
        {"type": None},
        {"type": ["approve"]},
        {"type": "accept"},
        {"type": "approve", "message": "m"},
        {"type": "reject", "message": 7},
        {"type": "reject", "reason": "m"},
        {"type": "respond"},
        {"type": "respond", "message": "  "},
        {"type": "edit"},
        edit(MAIL),
        edit(MAIL | {"to": "x@example.com"}, name="tool_1"),
        edit(MAIL | {"to": 7}),
        edit(MAIL | {"copies": 3}),
        edit(MAIL | {"new": 3}),
        edit({"to": "x@example.com"}),
        edit(None),
        edit([]),
    ],
)
def test_a_decision_that_langchain_would_choke_on_is_refused(given):
    with pytest.raises(errors.BadValue):
        decisions(batched(ALL, args=MAIL), given, editable=("to",))


def test_a_decision_that_is_not_allowed_for_its_call_is_refused():
    with pytest.raises(errors.BadValue, match="not allowed here"):
        decisions(batched(["reject"], ["approve"]), {"type": "approve"}, {"type": "approve"})


def test_a_bare_verdict_decides_every_call_and_gives_the_comment_as_the_reason():
    question = asked(batched(ALL, ALL))
    assert answer(question, "approved") == {"decisions": [{"type": "approve"}] * 2}
    assert answer(question, "rejected", comment="no") == {
        "decisions": [{"type": "reject", "message": "no"}] * 2
    }


def test_what_is_rejected_without_a_reason_of_its_own_says_the_comment():
    question = asked(batched(ALL, ALL))
    first, second = (each.token for each in shapes.actions(question))
    value = {first: {"type": "approve"}, second: {"type": "reject"}}
    assert answer(question, "approved", value=value, comment="why") == {
        "decisions": [{"type": "approve"}, {"type": "reject", "message": "why"}]
    }


def test_the_verdict_says_whether_anything_was_let_through():
    question = asked(batched(ALL, ALL))
    first, second = (each.token for each in shapes.actions(question))
    mixed = {first: {"type": "approve"}, second: {"type": "reject"}}
    refused = {first: {"type": "reject"}, second: {"type": "reject"}}
    for verdict, value in (("rejected", mixed), ("approved", refused)):
        with pytest.raises(errors.BadValue, match="disagree"):
            answer(question, verdict, value=value)


@pytest.mark.parametrize(
    ("verdict", "given"),
    [
        ("approved", {"type": "approve"}),
        ("rejected", {"type": "reject", "message": "no"}),
        ("approved", {"type": "respond", "message": "m"}),
        ("approved", edit(MAIL | {"to": "b@example.com"}, name="send_email")),
        ("approved", edit(MAIL | {"copies": 5}, name="send_email")),
        ("approved", edit(MAIL | {"cc": "c@example.com"}, name="send_email")),
    ],
)
def test_a_call_gets_one_decision(verdict, given):
    question = asked(CALL, schema=CALL_SCHEMA, editable=("to", "copies", "cc"))
    assert answer(question, verdict, value=given) == given


@pytest.mark.parametrize(
    "given",
    [
        [{"type": "approve"}],
        edit(MAIL | {"to": "nobody"}, name="send_email"),
        edit(MAIL | {"copies": 6}, name="send_email"),
        edit(MAIL | {"copies": "3"}, name="send_email"),
        edit(MAIL | {"urgent": False}, name="send_email"),
        edit(MAIL | {"to": "b@example.com"}, name="delete_file"),
    ],
)
def test_a_call_is_checked_against_its_own_schema(given):
    question = asked(CALL, schema=CALL_SCHEMA, editable=("to", "copies", "cc"))
    with pytest.raises(errors.BadValue):
        answer(question, "approved", value=given)


def test_a_call_whose_schema_wants_more_is_held_to_it():
    strict = {
        "properties": {"type": {"const": "reject"}, "message": {"minLength": 5}},
        "required": ["type", "message"],
    }
    question = asked(CALL, schema=strict)
    with pytest.raises(errors.BadValue):
        answer(question, "rejected", value={"type": "reject", "message": "no"})
    assert answer(question, "rejected", comment="because") == {
        "type": "reject",
        "message": "because",
    }


@pytest.mark.parametrize(
    ("verdict", "given"),
    [
        ("approved", {"type": "accept", "args": {"action": "send_email", "args": MAIL}}),
        ("approved", {"type": "response", "args": "Hold on"}),
        ("rejected", {"type": "ignore", "args": None}),
        (
            "approved",
            {"type": "edit", "args": {"action": "send_email", "args": MAIL | {"copies": 9}}},
        ),
    ],
)
def test_an_inbox_gets_a_list_of_one_with_json_types_kept(verdict, given):
    for payload in (INBOX, [INBOX]):
        question = asked(payload, editable=("copies",))
        assert answer(question, verdict, value=given) == [given]


@pytest.mark.parametrize(
    "given",
    [
        {"type": "accept", "args": None},
        {"type": "accept", "args": {"action": "send_email", "args": MAIL | {"copies": 9}}},
        {"type": "response", "args": None},
        {"type": "response", "args": ""},
        {"type": "response", "args": {"action": "send_email", "args": MAIL}},
        {"type": "ignore", "args": "no"},
        {"type": "edit", "args": {"action": "delete", "args": MAIL | {"copies": 9}}},
        {"type": "edit", "args": {"action": "send_email", "args": MAIL | {"copies": "9"}}},
        {"type": "edit", "args": {"action": "send_email", "args": MAIL | {"to": "b@example.com"}}},
        {"type": "edit", "args": {"action": "send_email", "args": {"copies": 9}}},
        {"type": "approve"},
        {"type": "accept"},
        [{"type": "accept", "args": {"action": "send_email", "args": MAIL}}],
        "accept",
    ],
)
def test_a_response_of_another_form_is_refused(given):
    for verdict in ("approved", "rejected"):
        with pytest.raises(errors.BadValue):
            answer(asked(INBOX, editable=("copies",)), verdict, value=given)


def test_a_bare_verdict_accepts_or_ignores():
    accepted = {"type": "accept", "args": {"action": "send_email", "args": MAIL}}
    assert answer(asked(INBOX), "approved") == [accepted]
    assert answer(asked(INBOX), "rejected") == [{"type": "ignore", "args": None}]


def test_what_was_not_kept_exactly_is_not_sent_back():
    odd = inbox(accept=True, edit=True, ignore=True)
    odd["action_request"]["args"] = {"n": 10**20, "to": "a"}
    (action,) = shapes.actions(asked(odd, editable=("to",)))
    assert [each.key for each in action.choices] == ["ignore"]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "integer"}, 0),
        ({"type": "boolean"}, False),
        ({"type": "string"}, ""),
        ({"type": "array"}, []),
        ({"type": "object"}, {}),
        ({}, {"0" * 32: 1}),
        (bool, True),
        (Reject, {"type": "reject", "message": "m"}),
        ({"type": "number"}, 1.5),
    ],
)
def test_a_typed_question_gets_the_value_itself(schema, value):
    found = answer(asked("How many?", schema=schema), "approved", value=value)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": ["integer", "null"]}, None),
        ({"type": "integer"}, "7"),
        ({"type": "integer"}, True),
        ({"type": "integer"}, 7.0),
        ({"type": "string"}, 7),
        ({"type": "string"}, "a\x00"),
        ({"type": "integer"}, 2**60),
        ({}, "x" * 70_000),
        (Reject, {"type": "approve"}),
    ],
)
def test_a_typed_question_takes_no_other_value(schema, value):
    with pytest.raises(errors.BadValue):
        answer(asked("How many?", schema=schema), "approved", value=value)


def test_a_typed_question_cannot_be_rejected_unless_the_policy_says_what_that_means():
    assert shapes.why_not(asked("How many?", schema={"type": "integer"}), "rejected")
    mapped = asked("How many?", schema={"type": "integer"}, answers={"reject": 0, "expired": "x"})
    assert answer(mapped, "rejected") == 0
    assert answer(mapped, "expired") is NOTHING  # no integer, so no answer to this question


def test_other_formats_get_what_the_policy_maps_where_the_verdict_says_no_more():
    mapped = asked(INBOX, answers={"reject": [{"type": "ignore", "args": None}], "expired": []})
    assert answer(mapped, "expired") == []
    assert answer(mapped, "rejected") == [{"type": "ignore", "args": None}]
    assert answer(asked(BATCHED), "expired") is NOTHING


def test_a_payload_that_cannot_be_compared_cannot_be_approved():
    cyclic: list[object] = []
    cyclic.append(cyclic)
    assert shapes.fingerprint(cyclic) == shapes.INCOMPARABLE
    assert shapes.why_not(asked(cyclic, answers={"approve": 1}), "approved")


def test_a_question_of_ours_takes_a_value_and_changed_arguments():
    question = asked(ours(), editable=("cents",))
    assert answer(question, "approved", value={"n": 5})["value"] == {"n": 5}  # type: ignore[index]
    found = answer(question, "approved", args=REFUND | {"cents": 5})
    assert isinstance(found, dict)
    assert found["args"] == REFUND | {"cents": 5}
    assert found["value"] is None


@pytest.mark.parametrize(
    "args",
    [
        REFUND,
        REFUND | {"cents": "5"},
        REFUND | {"cents": 5.0},
        REFUND | {"cents": 5, "order": 8},
        REFUND | {"cents": 5, "new": 1},
        {"cents": 5},
        {},
    ],
)
def test_only_named_arguments_change_and_keep_their_types(args):
    with pytest.raises(errors.BadValue):
        answer(asked(ours(), editable=("cents",)), "approved", args=args)


def test_nothing_changes_where_the_policy_names_nothing():
    for args in (REFUND | {"cents": 5}, REFUND):
        with pytest.raises(errors.BadValue):
            answer(asked(ours()), "approved", args=args)
    with pytest.raises(errors.BadValue):
        answer(asked(ours(), editable=("cents",)), "rejected", args=REFUND | {"cents": 5})


@pytest.mark.parametrize("payload", ["May I?", INBOX, BATCHED])
def test_changed_arguments_of_their_own_are_for_questions_of_ours(payload):
    with pytest.raises(errors.BadValue):
        answer(asked(payload, editable=("*",)), "approved", args={"to": "b"})


@pytest.mark.parametrize("value", [False, 0, "", {"type": "approve"}, []])
def test_a_plain_question_takes_no_value(value):
    with pytest.raises(errors.BadValue):
        answer(asked("May I?"), "approved", value=value)


def test_every_shape_fits_the_column_and_every_state_has_its_words():
    most = Request._meta.get_field("shape").max_length or 0
    assert all(len(shape) <= most for shape in Shape)
    assert set(kinds.KINDS) == set(Shape)
    assert set(STATES) == set(Status.values)
    assert set(DELIVERIES) == set(Delivery.values)


@pytest.mark.parametrize("more", [["f" * 16], ["f" * 16, "e" * 16]])
def test_a_decision_too_many_is_refused(more):
    question = asked(batched(ALL, ALL))
    tokens = [*(each.token for each in shapes.actions(question)), *more]
    with pytest.raises(errors.BadValue, match="exactly the 2 calls"):
        answer(question, "approved", value={token: {"type": "approve"} for token in tokens})
