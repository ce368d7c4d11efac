"""Errors: tried again if they may pass, told if they do not, and never at the wrong place."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import replace
from datetime import timedelta
from operator import add
from typing import Annotated, Any, TypedDict

import httpx
import psycopg
import pytest
from django.db import DataError, OperationalError, connection
from langgraph.errors import GraphRecursionError
from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy
from pydantic import BaseModel

from audit.models import Entry
from ledger import refusals
from runs import driver, errors, failures, leases, moves, resting, status
from runs.models import Run
from runs.registry import Declaration
from runs.stop import StopRun
from tests.runs.conftest import answer, attempts, doubt, expire, finish, now, output, wake
from tests.support import graphs

Raises = Callable[..., None]


@pytest.fixture
def raises() -> Raises:
    """Have a place raise so many times, then go on."""

    def raises(place: str, exc: BaseException, times: int = 10**6) -> None:
        left = [times]

        def hook() -> None:
            left[0] -= 1
            if left[0] >= 0:
                raise exc

        graphs.HOOKS[place] = hook

    return raises


def later(run: Run) -> bool:
    """Whether the run waits for a retry that is not due yet."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT due_at > clock_timestamp() FROM runs_run WHERE id = %s", [run.pk])
        return bool(cursor.fetchone()[0])


def come(run: Run) -> None:
    """Let the time of the retry have come."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runs_run SET due_at = clock_timestamp() WHERE id = %s", [run.pk])


RAISED = ("raised", "ConnectionError")


# --- tried again ----------------------------------------------------------------------------------


def test_an_error_that_may_pass_is_tried_again_at_the_same_step(start, drive, raises) -> None:
    raises("second", ConnectionError("away"), times=2)
    run = finish(start("line"), drive)
    assert run.status == status.Status.SUCCEEDED
    assert graphs.visits(run.pk) == ["first", "second", "second", "second", "third"]
    assert attempts(run) == [RAISED, RAISED, ("finished", "")]


def test_tries_are_counted_and_then_the_run_fails(start, drive, raises) -> None:
    raises("second", ConnectionError("away"))
    run = finish(start("line", tries=3), drive)
    assert (run.status, run.error_class, run.error) == ("failed", "ConnectionError", "away")
    assert attempts(run) == [RAISED] * 3
    assert Entry.objects.get(run_id=run.pk, verb="run.failed").reason == "ConnectionError: away"


def test_each_step_has_tries_of_its_own(start, drive, raises) -> None:
    for place in ("first", "second", "third"):
        raises(place, ConnectionError("away"), times=2)
    assert finish(start("line", tries=3), drive).status == status.Status.SUCCEEDED


def test_a_retry_waits_until_it_is_due(start, drive, raises, settings) -> None:
    settings.RUNS_BACKOFF = timedelta(minutes=1)
    raises("first", ConnectionError("away"), times=1)
    run = start("line")
    assert drive(run) is status.Outcome.RAISED
    assert (now(run).status, later(run)) == (status.Status.QUEUED, True)
    assert drive(run) is None
    come(run)
    assert drive(run) is status.Outcome.FINISHED


def test_what_wakes_a_run_before_its_retry_costs_no_try_and_moves_no_date(
    start, drive, raises, settings
) -> None:
    settings.RUNS_BACKOFF = timedelta(minutes=1)
    raises("first", ConnectionError("away"), times=1)
    run = start("line", tries=2)
    drive(run)
    due = now(run).due_at
    for _ in range(3):
        wake(run)
        assert drive(run) is status.Outcome.RELEASED
        assert now(run).due_at == due
    come(run)
    assert drive(run) is status.Outcome.FINISHED
    assert graphs.visits(run.pk).count("first") == 2


def test_a_worker_lost_before_the_retry_is_due_costs_no_try(start, drive, raises, settings) -> None:
    settings.RUNS_BACKOFF = timedelta(minutes=1)
    raises("first", ConnectionError("away"), times=1)
    run = start("line", tries=2)
    drive(run)
    wake(run)
    leases.take(run.pk, holder="lost", cause="test")
    expire(run)
    assert drive(run) is status.Outcome.RELEASED
    assert later(run)
    come(run)
    assert drive(run) is status.Outcome.FINISHED


def test_the_wait_doubles_up_to_the_cap_and_is_spread(settings) -> None:
    settings.RUNS_BACKOFF, settings.RUNS_BACKOFF_CAP = timedelta(seconds=2), timedelta(minutes=5)
    for before, longest in ((0, 2), (1, 4), (2, 8), (20, 300), (10**6, 300)):
        waits = {resting.backoff(before) for _ in range(20)}
        assert longest / 2 <= min(waits) <= max(waits) <= longest
        assert len(waits) > 1


def test_who_raises_may_say_when_to_come_again(start, drive, raises) -> None:
    slow = ConnectionError("busy")
    slow.retry_after = 3600  # type: ignore[attr-defined]
    raises("first", slow)
    run = start("line")
    drive(run)
    assert later(run)


def test_after_an_error_answers_are_handed_over_one_by_one(start, drive, raises) -> None:
    raises("left.after", ConnectionError("away"), times=1)
    run = start("parallel")
    drive(run)
    answer(run, "left", "L")
    answer(run, "right", "R")
    run = finish(run, drive)
    assert run.status == status.Status.SUCCEEDED
    assert ["left", "L"] in output(run)["log"]
    assert ["right", "R"] in output(run)["log"]


# --- not tried again ------------------------------------------------------------------------------


def test_an_error_that_will_not_pass_fails_the_run(start, drive, raises) -> None:
    raises("second", ValueError("wrong"))
    run = finish(start("line"), drive)
    assert (run.status, run.error_class, run.error) == ("failed", "ValueError", "wrong")
    assert graphs.visits(run.pk) == ["first", "second"]


def test_a_graph_without_end_fails_at_its_limit(start, drive) -> None:
    run = finish(start("loop", recursion_limit=5), drive)
    assert (run.status, run.error_class) == ("failed", "GraphRecursionError")
    assert graphs.visits(run.pk).count("again") <= 6


def test_an_input_that_the_graph_cannot_use_fails_the_run(start, drive) -> None:
    run = finish(start("line", 5), drive)
    assert (run.status, run.error_class) == ("failed", "InvalidUpdateError")
    assert graphs.visits(run.pk) == []


def test_a_graph_that_returns_without_doing_anything_fails(start, drive, monkeypatch) -> None:
    run = start("ask")
    graphs.HOOKS["gate.before"] = lambda: monkeypatch.setattr(
        driver._Drive, "_invoke", lambda *_: None
    )
    monkeypatch.setattr(moves, "Wait", moves.Continue)
    assert drive(run) is status.Outcome.RAISED
    assert now(run).error_class == "NoProgress"


def test_questions_from_threads_of_one_node_are_never_answered_with_each_others_answer(
    start, drive
) -> None:
    """LangGraph hands out answers in the order of the calls. Whoever asks by `ask` notices."""
    turn = [0, 1]

    def both(_: Any) -> dict[str, Any]:
        def asking(number: int) -> Any:
            time.sleep(0.05 * turn[number])
            return [number, graphs.person(number)]

        with ThreadPoolExecutor() as pool:
            asked = [pool.submit(copy_context().run, asking, number) for number in range(2)]
            wait(asked)
        turn.reverse()
        return {"log": [each.result() for each in asked]}

    run = start("threads", graph=graphs.chain(both=both))
    run = finish(run, drive, **{"0": 0, "1": 1})
    assert run.status in (status.Status.FAILED, status.Status.PARKED)
    assert "AnswerForOtherPayload" in str(attempts(run))


# --- what the ledger raises -----------------------------------------------------------------------

STOPS = {
    "read-only": (refusals.ReadOnly(), status.Park.READ_ONLY),
    "stopped": (refusals.EmergencyStopped(), status.Park.EMERGENCY_STOP),
    "no permit": (refusals.PermitMissing(), status.Park.PERMIT_MISSING),
}


@pytest.mark.parametrize("name", STOPS)
def test_a_run_that_the_ledger_stops_is_parked_until_an_operator_sends_it_on(
    start, drive, raises, name
) -> None:
    exc, park = STOPS[name]
    raises("second", exc, times=1)
    run = start("line")
    assert drive(run) is status.Outcome.PARKED
    assert (now(run).park_reason, now(run).park_detail) == (park, str(exc))
    wake(run)
    assert drive(run) is status.Outcome.PARKED
    assert graphs.visits(run.pk) == ["first", "second"]


@pytest.mark.parametrize(
    "exc", [refusals.LeaseGone(), refusals.LookAgainLater(retry_after=0.0), StopRun()]
)
def test_a_wait_is_no_error_and_costs_no_try(start, drive, raises, exc) -> None:
    exc.retry_after = 0.0
    raises("second", exc, times=6)
    run = finish(start("line", tries=2), drive)
    assert run.status == status.Status.SUCCEEDED


def test_doubt_parks_the_run_and_settling_it_sends_it_on(start, drive) -> None:
    run = start("line")
    effects = []

    def in_doubt() -> None:
        effects.append(doubt(run))
        graphs.HOOKS.clear()
        raise refusals.EffectInDoubt

    graphs.HOOKS["second"] = in_doubt
    assert drive(run) is status.Outcome.PARKED
    assert now(run).park_reason == status.Park.EFFECT_IN_DOUBT
    wake(run)
    assert drive(run) is status.Outcome.PARKED
    assert graphs.visits(run.pk) == ["first", "second"]
    type(effects[0]).objects.update(status="confirmed")
    wake(run)
    assert drive(run) is status.Outcome.FINISHED


def test_doubt_that_the_ledger_does_not_know_of_does_not_spin(start, drive, raises) -> None:
    raises("second", refusals.EffectInDoubt())
    run = start("line")
    assert drive(run) is status.Outcome.PARKED
    assert now(run).park_reason == status.Park.EFFECT_IN_DOUBT
    assert graphs.visits(run.pk).count("second") < 10


def test_a_doubtful_effect_stops_even_a_run_that_has_finished(start, drive) -> None:
    run = start("line")
    graphs.HOOKS["third"] = lambda: doubt(run)
    assert drive(run) is status.Outcome.PARKED


def test_a_stop_passes_through_a_retry_policy_and_leaves_no_error(start, drive) -> None:
    calls = []

    def node(_: Any) -> dict[str, Any]:
        calls.append(1)
        raise refusals.ReadOnly

    builder: Any = StateGraph(graphs.State)
    policy = RetryPolicy(retry_on=Exception, initial_interval=0.01)
    builder.add_node("node", node, retry_policy=policy)
    builder.add_edge(START, "node")
    run = start("policed", graph=builder.compile())
    assert drive(run) is status.Outcome.PARKED
    assert len(calls) == 1


# --- what cannot be stored ------------------------------------------------------------------------


class Text(TypedDict, total=False):
    text: Any
    log: Annotated[list[Any], add]


def returning(value: Any, key: str = "text") -> Any:
    def node(_: Text) -> dict[str, Any]:
        return {key: value}

    builder: Any = StateGraph(Text)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    return builder.compile()


@pytest.mark.parametrize("text", ["a\x00b", "\ud800", float("nan"), float("inf")])
def test_a_value_that_the_database_refuses_fails_the_run_and_says_what_to_do(
    start, drive, text
) -> None:
    run = finish(start("texts", graph=returning(text)), drive)
    assert run.status == status.Status.FAILED
    assert run.error_class == "StateNotStorable"
    assert "inside a list or an object" in run.error


class Model(BaseModel):
    number: int


STORED = {
    "NUL in a list": (["a\x00b"], ["a\\u{0}b"]),
    "NaN in a list": ([float("nan")], ["NaN"]),
    "bytes": ([b"\x00\x01"], ["0x0001"]),
    "model": ([Model(number=1)], [{"number": 1}]),
    "large integer": ([2**60], [str(2**60)]),
}


@pytest.mark.filterwarnings("ignore:Deserializing unregistered type")
@pytest.mark.parametrize("name", STORED)
def test_the_output_is_kept_in_a_form_that_people_can_read(start, drive, name) -> None:
    value, expected = STORED[name]
    run = finish(start("texts", graph=returning(value, "log")), drive)
    assert run.status == status.Status.SUCCEEDED
    assert output(run)["log"] == expected


# --- which errors may pass ------------------------------------------------------------------------

PLAIN = Declaration(name="a", graph="g", version="1")
SAYS = Declaration(name="a", graph="g", version="1", transient="tests.runs.test_failures.says")


def says(exc: BaseException) -> bool | None:
    return {"pass": True, "stay": False}.get(str(exc))


def answered(code: int) -> httpx.HTTPStatusError:
    request = httpx.Request("GET", "http://x")
    return httpx.HTTPStatusError("m", request=request, response=httpx.Response(code))


class Says(Exception):
    transient = True


MAY_PASS = {
    "connection": (ConnectionResetError("x"), True),
    "timeout": (TimeoutError("x"), True),
    "django's database is away": (OperationalError("x"), True),
    "the saver's database is away": (psycopg.OperationalError("x"), True),
    "http connection": (httpx.ConnectError("x"), True),
    "server error": (answered(503), True),
    "too many requests": (answered(429), True),
    "refused": (answered(422), False),
    "bad data": (DataError("x"), False),
    "bug": (KeyError("x"), False),
    "it says so": (Says(), True),
    "no end": (GraphRecursionError("x"), False),
}


@pytest.mark.parametrize("name", MAY_PASS)
def test_which_errors_may_pass(name) -> None:
    exc, expected = MAY_PASS[name]
    assert failures.classify(exc, PLAIN).transient is expected


def test_the_agents_declaration_goes_before_the_rules_but_not_before_the_limit() -> None:
    assert failures.classify(KeyError(), SAYS).transient is False
    assert failures.classify(ValueError("pass"), SAYS).transient is True
    assert failures.classify(ConnectionError("stay"), SAYS).transient is False
    assert failures.classify(ConnectionError("other"), SAYS).transient is True
    assert failures.classify(GraphRecursionError("pass"), SAYS).transient is False


class Unreadable(Exception):
    """One that raises whatever it is asked."""

    def __str__(self) -> str:
        raise RuntimeError

    @property
    def transient(self) -> bool:
        raise RuntimeError

    free = retry_after = transient


def test_an_exception_that_raises_when_it_is_asked_fails_the_run(start, drive, raises) -> None:
    run = start("line")
    raises("first", Unreadable())
    assert drive(run) is status.Outcome.RAISED
    assert (now(run).status, now(run).error_class) == ("failed", "Unreadable")
    assert now(run).error == "its message cannot be read: RuntimeError"


def test_an_agents_own_rule_that_raises_leaves_it_to_ours() -> None:
    broken = replace(SAYS, transient="tests.runs.test_failures.cannot_say")
    assert failures.classify(ConnectionError(), broken).transient
    assert not failures.classify(KeyError(), broken).transient


def cannot_say(exc: BaseException) -> bool:
    raise RuntimeError(exc)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (30, 30.0),
        (1.9e12, failures.LONGEST),
        (math.inf, failures.LONGEST),
        (math.nan, None),
        (-1, None),
        (True, None),
        ("30", None),
    ],
)
def test_a_wait_that_cannot_be_meant_is_cut_or_ignored(said, kept) -> None:
    exc = ConnectionError()
    exc.retry_after = said  # type: ignore[attr-defined]
    assert failures.classify(exc, SAYS).retry_after == kept


def test_an_agent_that_exits_ends_its_run_and_not_the_worker(start, drive, raises) -> None:
    run = start("line")
    raises("first", SystemExit(3))
    assert drive(run) is status.Outcome.RAISED
    assert now(run).error_class == "SystemExit"


def test_a_message_is_kept_as_it_can_be_stored() -> None:
    failure = failures.classify(ValueError("a\x00b\ud800" + "c" * 5000), PLAIN)
    assert failure.error.startswith("a\\u{0}b\\u{D800}ccc")
    assert len(failure.error) == 2000
    assert failures.classify(errors.BadInput(), PLAIN).error == str(errors.BadInput())
    assert failures.classify(ValueError(), PLAIN).error == "ValueError"
