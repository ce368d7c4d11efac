"""Asking from a node: what was approved is what runs, and only approved is true."""

from __future__ import annotations

import enum
import subprocess
import sys
from decimal import Decimal
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command

import approvals
from approvals import shapes
from approvals.asking import Answer, ask
from approvals.errors import AnswerForOtherPayload, PayloadNotPlain
from approvals.shapes import Shape
from tests.approvals.conftest import REFUND, ours
from tests.support import answers


class Colour(enum.StrEnum):
    RED = "red"


class State(TypedDict, total=False):
    said: Any


class Desk:
    """A graph of one node that asks what `question` holds at that moment."""

    def __init__(self, *question: Any, **parts: Any) -> None:
        self.question, self.parts = question, parts
        self.answers: list[Answer] = []
        self.config: Any = {"configurable": {"thread_id": "1", "__pregel_strict_resume": True}}
        builder: Any = StateGraph(State)
        builder.add_node("gate", self._gate)
        builder.add_edge(START, "gate")
        self.graph = builder.compile(checkpointer=InMemorySaver())

    def _gate(self, _: State) -> State:
        self.answers.append(ask(*self.question, **self.parts))
        return {"said": self.answers[-1].decision}

    def start(self) -> Any:
        """Run to the question and return its payload."""
        self.graph.invoke({}, self.config)
        return self.asked.value

    @property
    def asked(self) -> Any:
        (interrupt,) = self.graph.get_state(self.config).interrupts
        return interrupt

    def resume(self, given: object) -> Answer:
        self.graph.invoke(Command(resume={self.asked.id: given}), self.config)
        return self.answers[-1]


def answer_to(payload: object, verdict: str = "approved", value: object = None) -> Any:
    """What `decisions.decide` records for this payload."""
    return answers.answer(answers.asked(payload), verdict, value=value, comment="fine")


def test_the_payload_is_one_of_ours_and_carries_its_digest():
    payload = Desk("Refund order 7?", tool="payments.refund", args=REFUND).start()
    assert payload == ours()
    assert shapes.detect(payload) is Shape.OURS


@pytest.mark.parametrize(
    ("verdict", "truth"), [("approved", True), ("rejected", False), ("expired", False)]
)
def test_an_answer_is_true_if_approved_and_for_nothing_else(verdict, truth):
    desk = Desk("Refund order 7?", tool="payments.refund", args=REFUND)
    answer = desk.resume(answer_to(desk.start(), verdict, value={"cents": 5}))
    assert bool(answer) is truth
    said = ({"cents": 5}, "fine") if verdict != "expired" else (None, "")
    assert (answer.decision, answer.value, answer.comment, answer.by) == (verdict, *said, "Ben")
    assert answer.args == REFUND


def test_one_mapping_asks_the_same_as_arguments():
    parts = {"tool": "payments.refund", "args": REFUND, "facts": {"a": 1}, "why": "because"}
    assert Desk({"question": "Q?", **parts}).start() == Desk("Q?", **parts).start()


def test_a_changed_question_does_not_use_the_answer_to_the_old_one():
    desk = Desk("Refund order 7?", tool="payments.refund", args=REFUND)
    given = answer_to(desk.start())
    desk.parts = {"tool": "payments.refund", "args": REFUND | {"cents": 999_999}}
    with pytest.raises(AnswerForOtherPayload):
        desk.resume(given)
    assert desk.answers == []


@pytest.mark.parametrize("part", ["question", "tool", "args", "facts", "why"])
def test_every_part_of_the_question_counts(part):
    parts = {"question": "Q?", "tool": "t", "args": {"a": 1}, "facts": {"f": 1}, "why": "w"}
    desk = Desk(parts)
    given = answer_to(desk.start())
    desk.question = (parts | {part: {"x": 2} if part in ("args", "facts") else "other"},)
    with pytest.raises(AnswerForOtherPayload):
        desk.resume(given)


@pytest.mark.parametrize(
    "given",
    [
        True,
        "approved",
        ["approved"],
        {"decision": "approved"},
        {"decision": "approved", "digest": "0" * 64, "comment": "", "by": ""},
        {"decision": "yes"},
        {"decision": True},
        {"decision": "approved", "comment": None},
        {"decision": ["approved"]},
        {"by": None},
    ],
)
def test_an_answer_that_is_none_of_ours_is_not_used(given):
    desk = Desk("Q?")
    payload = desk.start()
    if isinstance(given, dict) and "digest" not in given and len(given) < 2 and "by" not in given:
        given = {"comment": "", "by": "", "digest": shapes.fingerprint(payload)} | given
        if given["decision"] == "approved":
            given.pop("digest")
    elif isinstance(given, dict) and "digest" not in given:
        given = answer_to(payload) | given
    with pytest.raises(AnswerForOtherPayload):
        desk.resume(given)
    assert desk.answers == []


@pytest.mark.parametrize(
    ("args", "same"),
    [
        ({"items": (1, 2)}, {"items": [1, 2]}),
        ({"colour": Colour.RED}, {"colour": "red"}),
        ({"n": 1.0}, {"n": 1}),
        ({"text": "a\x00b", "é": "\u202e"}, {"text": "a\x00b", "é": "\u202e"}),
    ],
)
def test_the_digest_holds_over_a_checkpoint(args, same):
    desk = Desk("Q?", tool="t", args=args)
    payload = desk.start()
    assert repr(payload["args"]) == repr(same)  # plain values, whatever was passed
    assert desk.resume(answer_to(payload))


@pytest.mark.parametrize(
    "args",
    [
        {"n": float("nan")},
        {"n": 2**53},
        {"n": Decimal("1.10")},
        {"s": "\ud800"},
        {"o": object()},
        {"set": {1}},
        {1: "a"},
        [("a", 1)],
        "text",
    ],
)
def test_anything_but_plain_json_is_refused_before_anybody_is_asked(args):
    desk = Desk("Q?", tool="t", args=args)
    with pytest.raises(PayloadNotPlain):
        desk.start()


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("", {}),
        ("  ", {}),
        ({}, {}),
        ({"question": None}, {}),
        ({"question": 7}, {}),
        ({"question": "Q?", "tols": "t"}, {}),
        ({"question": "Q?"}, {"tool": "t"}),
        ("Q?", {"args": {"a": 1}}),
        ("Q?", {"tool": "t" * 201}),
        ("Q?", {"tool": "t\x00"}),
        ("Q?", {"why": 7}),
        ("Q?", {"facts": ["a"]}),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(question, parts):
    with pytest.raises(PayloadNotPlain):
        Desk(question, **parts).start()


def test_the_package_offers_it_without_loading_any_model():
    assert approvals.ask is ask
    code = "import sys, approvals as a; print('django.db.models' in sys.modules, callable(a.ask))"
    done = subprocess.run(  # noqa: S603 (our own interpreter)
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True"]
