"""Attempts of one step that ask for another effect than before: noticed, shown, stopped."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from django.db import connections
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import Send

from accounts import errors as people
from accounts.actors import Actor
from audit.models import Entry
from ledger import errors, refusals
from ledger.drift import deciding, explaining
from ledger.models import Drift, Effect, Idempotency
from ledger.tools import Effectful, effect
from runs.status import Park
from tests.ledger.conftest import Driver, dying_at, fresh_actor, take_over
from tests.ledger.provider import Provider, http
from tests.ledger.test_graphs import Once, State, until_done

SHELL = Actor.command("test")


def declared(world: Provider, name: str, **options: Any) -> Effectful:
    def pay(order: object, ref: object = "", *, idempotency_key: str) -> object:
        return world.call(idempotency_key, str(order), ref=ref)

    pay.__qualname__ = f"declared.{name}"
    return effect(name, idempotency=Idempotency.LEDGER, **options)(pay)


@pytest.fixture
def pay(world: Provider) -> Effectful:
    return declared(world, "t.pay")


@pytest.fixture
def strict(world: Provider) -> Effectful:
    return declared(world, "t.strict", drift="stop")


def standing() -> list[tuple[object, object]]:
    """(before, after) of what was noticed and not withdrawn, by the argument `order`."""
    found = Drift.objects.filter(withdrawn_at=None).order_by("at").select_related("before")
    return [(drift.before.args["order"], drift.args["order"]) for drift in found]


def attempt(run: Any, *calls: Any) -> Driver:
    """One attempt of the step, which makes these calls and is lost then."""
    driver = take_over(run)
    for call in calls:
        driver(call)
    return driver


# --- what is noticed ------------------------------------------------------------------------------


def test_another_argument_in_a_later_attempt_is_noticed_with_both_sides(pay, run, world):
    attempt(run, lambda: pay("7", ref="a"))
    attempt(run, lambda: pay("7", ref="b"))
    drift = Drift.objects.get()
    assert (drift.before.args["ref"], drift.args["ref"]) == ("a", "b")
    assert (drift.fence_before, drift.fence, drift.stopped) == (1, 2, False)
    assert drift.key in Effect.objects.values_list("pk", flat=True)
    assert len(world.calls) == 2
    entry = Entry.objects.get(verb="effect.drifted")
    assert entry.data["now"] == drift.key


def test_another_key_with_the_same_arguments_is_noticed(pay, run):
    for _ in range(2):
        attempt(run, lambda: pay("7", occurrence=str(uuid4())))
    drift = Drift.objects.get()
    assert drift.args == drift.before.args
    assert drift.key != drift.before_id
    assert "same, but the key" in explaining.sentence(drift)


def test_each_further_attempt_is_compared_with_the_one_before(pay, run):
    orders = iter("abc")
    for _ in range(3):
        attempt(run, lambda: pay(next(orders)))
    assert standing() == [("a", "b"), ("b", "c")]


def test_of_several_effects_those_that_are_missed_are_noticed(pay, run):
    attempt(run, *[lambda o=o: pay(o) for o in ("a", "b", "c")])
    attempt(run, *[lambda o=o: pay(o) for o in ("a", "B", "C")])
    assert standing() == [("b", "B"), ("c", "C")]


# --- what is not ----------------------------------------------------------------------------------


def test_a_loop_that_comes_further_than_before_does_not_drift(pay, run):
    for last in range(1, 5):
        attempt(run, *[lambda n=n: pay(n) for n in range(last)])
    assert not Drift.objects.exists()


def test_two_effects_of_one_tool_in_one_attempt_do_not_drift(pay, run):
    attempt(run, lambda: pay("a"), lambda: pay("b"), lambda: pay("a", occurrence=2))
    assert not Drift.objects.exists()


def test_other_steps_tools_tool_calls_and_runs_do_not_drift(pay, strict, run):
    attempt(run, lambda: pay("a"))
    driver = take_over(run)
    driver(lambda: pay("b"), step="node@other")
    driver(lambda: pay("b", tool_call_id="c1"))
    driver(lambda: strict("b"))
    assert not Drift.objects.exists()


def test_a_call_that_was_never_started_is_no_earlier_effect(pay, run, world):
    """Refused before it was made: nothing that could be done twice."""
    type(run).objects.filter(pk=run.pk).update(read_only=True)
    with pytest.raises(refusals.ReadOnly):
        attempt(run, lambda: pay("a"))
    type(run).objects.filter(pk=run.pk).update(read_only=False)
    attempt(run, lambda: pay("b"))
    assert not Drift.objects.exists()


def test_threads_of_one_node_that_come_in_another_order_leave_nothing(pay, run):
    attempt(run, lambda: pay("b"))
    driver = take_over(run)
    order = threading.Semaphore(0)

    def branch(name: str, *, waits: bool) -> None:
        try:
            if waits:
                assert order.acquire(timeout=20)
            driver(lambda: pay(name))
            order.release()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as both:
        for done in [both.submit(branch, "b", waits=True), both.submit(branch, "a", waits=False)]:
            done.result(30)
    assert Drift.objects.get().withdrawn_at is not None
    assert standing() == []


@pytest.mark.usefixtures("real_steps")
@pytest.mark.parametrize("kind", ["loop", "send", "parallel", "tasks"])
def test_graphs_that_crash_and_go_on_do_not_drift(strict, run, world, kind):
    crash = Once()

    def leaf(state: State) -> State:
        for n in range(2):
            strict(f"{state.get('n')}-{n}")
            crash(f"{state.get('n')}-{n}")
        return {} if kind == "parallel" else {"n": state["n"] + 1}

    until_done(graph_of(kind, leaf), run, {"n": 0} if kind != "tasks" else "go")
    assert len(world.calls) == len(crash.reached)
    assert not Drift.objects.exists()


def graph_of(kind: str, leaf: Any) -> Any:
    if kind == "tasks":
        one = task(lambda n: leaf({"n": n}), name="one")

        @entrypoint(checkpointer=InMemorySaver())
        def workflow(_: str) -> list[Any]:
            return [each.result() for each in [one(n) for n in range(3)]]

        return workflow
    builder = StateGraph(State)
    if kind == "parallel":
        for name in ("left", "right"):
            builder.add_node(name, lambda _, name=name: leaf({"n": name}))  # type: ignore[misc]
            builder.add_edge(START, name)
        return builder.compile(checkpointer=InMemorySaver())
    builder.add_node("leaf", lambda state: leaf(state) if kind == "loop" else leaf(state) and {})
    if kind == "send":
        sends = [Send("leaf", {"n": n}) for n in range(3)]
        builder.add_conditional_edges(START, lambda _: sends, ["leaf"])
    else:
        builder.add_edge(START, "leaf")
        builder.add_conditional_edges("leaf", lambda s: "leaf" if s["n"] < 3 else "__end__")
    return builder.compile(checkpointer=InMemorySaver())


@pytest.mark.usefixtures("real_steps")
@pytest.mark.parametrize("makes", [lambda: str(uuid4()), lambda: datetime.now(UTC).isoformat()])
def test_a_node_whose_arguments_come_from_chance_or_the_clock_pays_twice_unless_it_is_stopped(
    strict, run, world, makes
):
    crash = Once(most=1)

    def node(state: State) -> State:
        strict("7", ref=makes())
        crash("after")
        return {}

    builder = StateGraph(State)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    with pytest.raises(refusals.Drifted):
        until_done(builder.compile(checkpointer=InMemorySaver()), run, {"n": 0})
    assert len(world.calls) == 1
    assert "is made anew each time" in explaining.sentence(Drift.objects.get())


# --- stopping and accepting -----------------------------------------------------------------------


def stopped(strict: Effectful, run: Any) -> Drift:
    attempt(run, lambda: strict("a"))
    with pytest.raises(refusals.Drifted) as stop:
        attempt(run, lambda: strict("b"))
    assert stop.value.park == Park.DRIFT
    return Drift.objects.get()


def test_by_policy_nothing_is_sent_and_nothing_after_it_either(strict, pay, run, world):
    drift = stopped(strict, run)
    assert drift.undecided
    assert len(world.calls) == 1
    driver = take_over(run)
    for call in (lambda: strict("a"), lambda: pay("x"), lambda: strict("b")):
        with pytest.raises(refusals.Drifted):  # user code may have swallowed the first
            driver(call)
    assert len(world.calls) == Effect.objects.count() == 1


def test_the_policy_can_be_that_of_all_tools(settings, pay, run, world):
    settings.LEDGER_DRIFT = "stop"
    stopped(pay, run)
    settings.LEDGER_DRIFT = "flag"
    Drift.objects.update(accepted_at="2026-01-01T00:00:00Z")
    attempt(run, lambda: pay("c"))


def test_what_was_refused_for_certain_is_no_reason_to_stop(strict, run, world):
    world.says = [http(402)]
    with pytest.raises(errors.EffectFailed):
        attempt(run, lambda: strict("a"))
    attempt(run, lambda: strict("b"))
    assert standing() == [("a", "b")]
    assert [order for _, order in world.happened] == ["b"]


def test_an_unheard_call_is_a_reason_and_comes_first(strict, run, world):
    with dying_at("effect.called"):
        attempt(run, lambda: strict("a"))
    with pytest.raises(refusals.EffectInDoubt):
        attempt(run, lambda: strict("b"))
    assert len(world.calls) == 1


def test_whoever_accepts_lets_the_run_do_the_other_one_even_if_it_is_another_again(
    strict, run, world, rung
):
    drift = stopped(strict, run)
    accepted = deciding.accept(drift.uid, actor=SHELL, reason="The first was cancelled.")
    assert (accepted.undecided, accepted.accepted_by) == (False, SHELL.label)
    assert run.pk in rung
    driver = attempt(run, lambda: strict("b2"))
    driver(lambda: strict("b3"))
    assert [order for _, order in world.happened] == ["a", "b2", "b3"]
    with pytest.raises(refusals.Drifted):  # and is guarded again
        attempt(run, lambda: strict("c"))


def test_accepting_needs_a_reason_a_permission_and_something_to_accept(strict, run):
    drift = stopped(strict, run)
    operator, nobody = fresh_actor("Ada"), fresh_actor("Dee")
    refused: list[tuple[Any, Actor, str, type[Exception]]] = [
        (drift.uid, nobody, "x", people.NotPermitted),
        (drift.uid, operator, "  ", errors.ReasonMissing),
        (uuid4(), operator, "x", errors.NoSuchDrift),
    ]
    for uid, actor, reason, why in refused:
        with pytest.raises(why):
            deciding.accept(uid, actor=actor, reason=reason)
    deciding.accept(drift.uid, actor=operator, reason="Seen.")
    with pytest.raises(errors.NothingToAccept):
        deciding.accept(drift.uid, actor=operator, reason="Again.")
    verbs = Entry.objects.filter(verb__startswith="effect.drift_").values_list("verb", flat=True)
    assert sorted(verbs) == ["effect.drift_accepted"] + ["effect.drift_refused"] * 4


def test_a_bad_policy_is_refused_at_the_declaration(world):
    with pytest.raises(errors.NotAnEffect, match="drift="):
        declared(world, "t.bad_drift", drift="ignore")


# --- words ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        (
            "de289c66-089c-4fe2-999a-5f98f6334994",
            "d0f11ddf-11c0-4c38-b8e6-c4e2664029bd",
            "looks random",
        ),
        ("438f7b4cb35d4e509db443d70bcaad02", "805c0a418f6342aaa902ba003b0b0e20", "looks random"),
        ("0123456789abcdef" * 2, "fedcba9876543210" * 2, "looks random"),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:05:00Z", "looks like the time of the call"),
        (1767225600, 1767225900.5, "looks like the time of the call"),
        (1767225600000, 1767225900000, "looks like the time of the call"),
        ("7", "8", ""),
        (True, False, ""),
        (10, 11, ""),
    ],
)
def test_what_is_not_deterministic_is_recognised(before, after, why):
    (found,) = explaining.differences({"a": [{"b": before}], "c": 1}, {"a": [{"b": after}], "c": 1})
    assert (found.path, found.why) == ("a[0].b", why)


def test_what_is_only_on_one_side_differs_too():
    found = explaining.differences({"a": 1, "b": {}, "n": None}, {"a": 1, "c": [], "n": 0})
    assert [each.path for each in found] == ["b", "c", "n"]
