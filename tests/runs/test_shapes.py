"""Every shape of graph is driven to its end, and each answer reaches its question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from runs import authority, status
from tests.runs.conftest import answer, attempts, entries, finish, now, output
from tests.support import graphs

W, F = ("waited", ""), ("finished", "")


@dataclass(frozen=True)
class Shape:
    """What a graph is given and answered, what comes out, and which of its code runs."""

    output: dict[str, Any]
    visits: list[str]
    attempts: list[tuple[str, str]]
    given: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)


SHAPES = {
    "line": Shape({"log": ["first", "second", "third"]}, ["first", "second", "third"], [F]),
    "ask": Shape(
        {"log": ["before", ["gate", "yes"], "after"]},
        ["before", "gate.before", "gate.before", "gate.after", "after"],
        [W, F],
        answers={"gate": "yes"},
    ),
    "twice": Shape(
        {"log": [["gate", 1, 2], "after"]},
        [
            *("gate.before", "gate.before", "gate.after", "gate.before"),
            *("gate.before", "gate.after", "gate.before", "gate.after", "after"),
        ],
        [W, W, F],
        answers={"q1": 1, "q2": 2},
    ),
    "gates": Shape(
        {"log": [["one", "1"], ["two", "2"], "after"]},
        [
            *("one.before", "one.before", "one.after"),
            *("two.before", "two.before", "two.after", "after"),
        ],
        [W, W, F],
        answers={"one": "1", "two": "2"},
    ),
    "parallel": Shape(
        {"log": [["left", "L"], "quiet", ["right", "R"], "join"]},
        [
            *("left.before", "quiet", "right.before"),
            *("left.before", "left.after", "right.before", "right.after", "join"),
        ],
        [W, F],
        answers={"left": "L", "right": "R"},
    ),
    "nested": Shape(
        {"log": ["before", "before", "inner", ["gate", 1, 2], "after"]},
        [
            *("before", "inner", "gate.before", "gate.before", "gate.after", "gate.before"),
            *("gate.before", "gate.after", "gate.before", "gate.after", "after"),
        ],
        [W, W, F],
        answers={"q1": 1, "q2": 2},
    ),
    "router": Shape(
        {"log": [["gate", "yes"], "pay"]},
        ["gate.before", "gate.before", "gate.after", "route", "pay"],
        [W, F],
        answers={"gate": "yes"},
    ),
    "fan": Shape(
        {"log": ["spread", ["a", "A"], ["b", "B"], "join"]},
        [
            *("spread", "worker.a.before", "worker.b.before"),
            *("worker.a.before", "worker.a.after", "worker.b.before", "worker.b.after", "join"),
        ],
        [W, F],
        given={"items": ["a", "b"]},
        answers={"a": "A", "b": "B"},
    ),
    "functional": Shape(
        {"doubled": 6, "answers": ["yes", "no"]},
        ["double.3", "gate.before", "gate.before", "gate.after", "end"],
        [W, W, F],
        given={"number": 3},
        answers={"6": "yes", "again": "no"},
    ),
    "async_line": Shape(
        {"log": ["first", ["gate", "yes"], "last"]},
        ["first", "gate.before", "gate.before", "gate.after", "last"],
        [W, F],
        answers={"gate": "yes"},
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shape(start, drive, name: str) -> None:
    shape = SHAPES[name]
    run = finish(start(name, shape.given), drive, **shape.answers)
    assert run.status == status.Status.SUCCEEDED
    assert {key: output(run)[key] for key in shape.output} == shape.output
    assert sorted(graphs.visits(run.pk)) == sorted(shape.visits)
    assert attempts(run) == shape.attempts
    assert (run.wakes, run.ended_at is not None) == (run.seen_wakes, True)


@pytest.mark.parametrize("name", SHAPES)
def test_code_of_every_shape_knows_under_which_lease_it_runs(
    start, drive, monkeypatch, name: str
) -> None:
    seen: list[tuple[UUID, int] | None] = []
    real = graphs.reach

    def reach(place: str) -> None:
        mine = authority.current()
        seen.append((mine.lease.run_id, mine.lease.fence) if mine else None)
        real(place)

    monkeypatch.setattr(graphs, "reach", reach)
    shape = SHAPES[name]
    run = start(name, shape.given)
    finish(run, drive, **shape.answers)
    assert len(seen) == len(shape.visits)
    assert {each and each[0] for each in seen} == {run.pk}
    assert {each and each[1] for each in seen} == set(range(1, len(shape.attempts) + 1))
    assert authority.current() is None


def test_what_happens_to_a_run_is_told(start, drive) -> None:
    run = finish(start("ask"), drive, gate="yes")
    assert entries(run) == [
        "run.started",
        "request.opened",
        "request.nobody_can_decide",  # there is no account yet
        "run.waiting",
        "decision.made",
        "decision.delivered",
        "run.finished",
    ]


def test_a_run_that_waits_holds_no_lease_and_is_not_looked_at(start, drive) -> None:
    run = start("ask")
    assert drive(run) is status.Outcome.WAITED
    assert now(run).wait_until is not None
    visited = graphs.visits(run.pk)
    for _ in range(10):
        assert drive(run, cause="sweep") is None
    assert graphs.visits(run.pk) == visited


def test_one_answer_of_two_leaves_the_other_question_open(start, drive) -> None:
    run = start("parallel")
    drive(run)
    answer(run, "right", "R")
    assert drive(run) is status.Outcome.WAITED
    answer(run, "left", "L")
    assert drive(run) is status.Outcome.FINISHED
    visits = graphs.visits(run.pk)
    assert visits.count("right.after") == visits.count("left.after") == visits.count("quiet") == 1


def test_an_ended_run_is_not_driven_again(start, drive) -> None:
    run = finish(start("line"), drive)
    assert drive(run) is None
    assert len(graphs.visits(run.pk)) == 3
