"""What a thread lets anybody do to it: F10, F11, F12."""

from __future__ import annotations

import threading
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from langgraph.errors import EmptyInputError
from langgraph.types import Command

from accounts.actors import Actor
from approvals import decisions, errors
from runs.models import Run
from runs.status import Outcome, Park
from tests.runs.conftest import answer, checkpoints_of, finish, now, output, wake
from tests.runs.test_leases import in_threads
from tests.support import approver, graphs


def forget_state(thread_id: object) -> None:
    with connection.cursor() as cursor:
        for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
            cursor.execute(f"DELETE FROM {table} WHERE thread_id = %s", [str(thread_id)])  # noqa: S608


# --- F10 ------------------------------------------------------------------------------------------


def test_f10_two_callers_of_one_thread_both_run_to_the_end(thread) -> None:
    it = thread(graphs.ask)
    it.call({})
    asked = it.asked()["gate"]
    both = threading.Barrier(2)
    graphs.HOOKS["gate.after"] = lambda: both.wait(20)
    ended: list[Any] = in_threads(
        2, lambda number: it.resume({asked: ("approve", "reject")[number]})
    )
    assert sorted(each["log"][1][1] for each in ended) == ["approve", "reject"]
    assert graphs.visits(it.id).count("after") == 2


def test_f10_our_driver_is_alone_and_the_first_word_stands(start, drive) -> None:
    run = start("ask")
    drive(run)
    answer(run, "gate", "yes")
    second: list[object] = []

    def others_try() -> None:
        graphs.HOOKS.clear()
        second.append(in_threads(1, lambda _: drive(run, "w2"))[0])
        second.append(in_threads(1, lambda _: reject(run))[0])

    graphs.HOOKS["gate.after"] = others_try
    assert drive(run) is Outcome.FINISHED
    assert second == [None, "AlreadyDecided"]
    assert output(run) == {"log": ["before", ["gate", "yes"], "after"]}
    assert graphs.visits(run.pk).count("after") == 1


def reject(run: Run) -> str:
    request = run.requests.get()
    try:
        decisions.decide(
            request.pk,
            actor=Actor.person(approver.ben(), entry="page"),
            verdict="rejected",
            comment="on second thoughts",
            seen_digest=request.digest,
            token=uuid4().hex,
        )
    except errors.ApprovalsError as exc:
        return type(exc).__name__
    return ""


# --- F11 ------------------------------------------------------------------------------------------


def test_f11_invoking_with_nothing_runs_the_code_before_a_question_again(thread) -> None:
    it = thread(graphs.ask)
    with pytest.raises(EmptyInputError):
        it.call(None)
    it.call({})
    asked = it.asked()
    it.call(None)
    assert graphs.visits(it.id) == ["before", "gate.before", "gate.before"]
    assert it.asked() == asked
    it.resume({asked["gate"]: "yes"})
    seen = graphs.visits(it.id)
    assert it.call(None)["log"][-1] == "after"
    assert graphs.visits(it.id) == seen


def test_f11_our_driver_runs_no_code_of_a_run_that_waits_or_has_ended(start, drive) -> None:
    run = start("ask")
    drive(run)
    for _ in range(2):
        wake(run)
        assert drive(run) is Outcome.WAITED
    assert graphs.visits(run.pk) == ["before", "gate.before"]
    assert run.requests.count() == 1
    answer(run, "gate", "yes")
    finish(run, drive)
    wake(run)
    assert drive(run) is None
    assert len(graphs.visits(run.pk)) == 5


# --- F12 ------------------------------------------------------------------------------------------


def test_f12_answering_a_thread_that_is_not_there_starts_the_graph(thread) -> None:
    it = thread(graphs.ask)
    it.resume("yes")
    assert graphs.visits(it.id) == ["before", "gate.before"]
    it.saver.delete_thread(it.id)
    it.call(Command(resume={"0" * 32: "yes"}))
    assert graphs.visits(it.id) == ["before", "gate.before"] * 2


def test_f12_our_driver_parks_a_decided_run_whose_state_is_gone(start, drive) -> None:
    run = start("ask")
    drive(run)
    answer(run, "gate", "yes")
    forget_state(run.pk)
    assert drive(run) is Outcome.PARKED
    assert now(run).park_reason == Park.STATE_LOST
    assert graphs.visits(run.pk) == ["before", "gate.before"]
    assert checkpoints_of(run) == []
    assert run.requests.get().decision.delivery == "recorded"
