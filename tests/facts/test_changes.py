"""Graphs that change while their runs wait: F17."""

from __future__ import annotations

from typing import Any

import pytest

from runs.status import Outcome, Park
from tests.runs.conftest import answer, now, output
from tests.support import approver, graphs

RENAMED = graphs.chain(before=graphs.plain("before"), renamed=graphs.asking("gate"))
REWORDED = graphs.chain(before=graphs.plain("before"), gate=graphs.asking("gate", "other words"))
LONGER = graphs.chain(before=graphs.plain("before"), gate=graphs.asking("gate", "new", "gate"))


def test_f17_a_renamed_node_looks_like_the_end_and_takes_no_answer(thread) -> None:
    it = thread(graphs.ask)
    it.call({})
    asked = it.asked()["gate"]
    it = it.of(RENAMED)
    assert (it.state().next, it.state().interrupts) == ((), ())
    it.resume({asked: "yes"})
    assert it.log() == ["before"]
    assert graphs.visits(it.id) == ["before", "gate.before"]


@pytest.mark.parametrize(
    ("changed", "log", "left"),
    [(REWORDED, ["before", ["gate", "yes"]], set()), (LONGER, ["before"], {"gate"})],
    ids=["other words", "a question in front"],
)
def test_f17_an_answer_goes_to_whatever_is_asked_first_now(thread, changed, log, left) -> None:
    it = thread(graphs.ask)
    it.call({})
    asked = it.asked()["gate"]
    it = it.of(changed)
    it.resume({asked: "yes"})
    assert it.log() == log
    assert it.asked().keys() == left
    assert "gate.after" in graphs.visits(it.id)


def test_f17_our_driver_parks_a_run_whose_node_was_renamed(start, drive, declare) -> None:
    run = start("ask")
    drive(run)
    answer(run, "gate", "yes")
    declare("ask", RENAMED)
    assert drive(run) is Outcome.PARKED
    assert (now(run).park_reason, now(run).park_detail) == (Park.GRAPH_CHANGED, "missing: gate")
    assert run.requests.get().decision.delivery == "recorded"


@pytest.mark.parametrize("changed", [REWORDED, LONGER], ids=["other words", "a question in front"])
def test_f17_our_driver_gives_no_answer_to_a_question_that_reads_differently(
    start, drive, declare, changed: Any
) -> None:
    """Even where nobody raised the version: the question carries its own digest."""
    run = start("ask")
    drive(run)
    answer(run, "gate", "yes")
    declare("ask", changed)
    assert drive(run) is Outcome.PARKED
    assert now(run).park_reason == Park.BAD_ANSWER
    assert "gate.after" not in graphs.visits(run.pk)
    assert output(run) is None


@pytest.mark.parametrize("changed", [REWORDED, LONGER], ids=["other words", "a question in front"])
def test_f17_our_driver_does_not_touch_a_run_of_another_version(
    bare, start, drive, declare, changed: Any
) -> None:
    run = start("ask")
    drive(run)
    approver.answer(run.pk, "gate", verdict="approved")
    declare("ask", changed, version="2")
    assert drive(run) is Outcome.PARKED
    assert now(run).park_reason == Park.GRAPH_CHANGED
    assert graphs.visits(run.pk) == ["before", "gate.before"]
