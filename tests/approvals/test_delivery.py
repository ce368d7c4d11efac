"""The whole way with the real driver: asked, decided, delivered, and never to another question."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from django.db import connections, transaction
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from accounts import clock
from accounts.actors import Actor
from approvals import ask, deadlines
from approvals.models import Decision, Request
from approvals.permits import Permits
from audit.models import Entry
from runs import admission, checkpoints, controls, driver, status
from runs.heartbeat import Heart
from runs.models import Lease, Run
from tests.approvals.conftest import approve, due_in, now, reject
from tests.support import caches
from tests.support import graphs as support
from tests.support.people import person

pytestmark = pytest.mark.django_db(transaction=True)
SHELL = Actor.command("test")


class State(TypedDict, total=False):
    log: Annotated[list[Any], add]


@pytest.fixture(autouse=True)
def clean(monkeypatch, transactional_db) -> Iterator[None]:
    # These drives are shorter than a lease; a heart would keep its connection for ever.
    monkeypatch.setattr(Heart, "_ensure_thread", lambda _: None)
    caches.forget()
    yield
    support.HOOKS.clear()
    caches.forget()


@pytest.fixture(scope="module", autouse=True)
def connections_end(django_db_setup: None) -> Iterator[None]:
    yield
    checkpoints.close()


@pytest.fixture
def start(settings, monkeypatch):
    """Start a run of a graph in which these nodes stand in parallel, and drive it."""

    def start(**nodes: Any) -> Run:
        builder = StateGraph(State)
        for name, node in nodes.items():
            builder.add_node(name, node)
            builder.add_edge(START, name)
        monkeypatch.setattr(support, "desk", builder.compile(), raising=False)
        settings.RUNS_AGENTS = [
            {"name": "desk", "graph": "tests.support.graphs.desk", "version": "1"}
        ]
        caches.forget()
        run = admission.start("desk", {}, actor=SHELL)
        drive(run)
        return run

    return start


def drive(run: Run) -> status.Outcome | None:
    return driver.drive(run.pk, holder="w1", cause="test")


def open_of(run: Run, **fields: Any) -> Request:
    return Request.objects.get(run=run, status="pending", **fields)


def gate(name: str, **parts: Any):
    """A node that asks and writes down what it heard."""

    def node(_: State) -> State:
        answer = ask(f"{name}?", **parts)
        return {"log": [[name, answer.decision, bool(answer)]]}

    return node


def log_of(run: Run) -> list[Any]:
    return sorted((now(run).output or {}).get("log", []))


@pytest.mark.parametrize(
    ("act", "heard"), [(approve, ["a", "approved", True]), (reject, ["a", "rejected", False])]
)
def test_a_verdict_reaches_the_node_and_took_effect(start, ben, act, heard):
    run = start(a=gate("a"))
    assert now(run).status == "waiting"
    act(open_of(run), ben)
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [heard]
    decision = Decision.objects.get()
    assert (decision.delivery, decision.deliveries) == ("took_effect", 1)
    assert Entry.objects.filter(run_id=run.pk, verb="decision.delivered").count() == 1


def test_an_expiry_reaches_the_node_as_what_it_is(start):
    run = start(a=gate("a"))
    request = open_of(run)
    due_in(request, timedelta(0))
    with transaction.atomic():
        deadlines.expire(run, request)
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [["a", "expired", False]]


def test_each_of_two_parallel_questions_gets_its_own_answer(start, ben):
    run = start(a=gate("a"), b=gate("b"))
    approve(open_of(run, title="a?"), ben)
    assert drive(run) is status.Outcome.WAITED
    still_open = open_of(run)
    assert (still_open.title, still_open.round) == ("b?", 1)  # not asked anew
    assert Decision.objects.get().delivery == "took_effect"
    reject(still_open, ben)
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [["a", "approved", True], ["b", "rejected", False]]


def test_two_questions_of_one_node_are_two_requests(start, ben):
    def twice(_: State) -> State:
        return {"log": [[ask("first?").decision, ask("second?").decision]]}

    run = start(a=twice)
    approve(open_of(run, title="first?"), ben)
    assert drive(run) is status.Outcome.WAITED
    assert Decision.objects.get().delivery == "took_effect"
    reject(open_of(run, title="second?"), ben)
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [["approved", "rejected"]]
    assert set(Decision.objects.values_list("delivery", "deliveries")) == {("took_effect", 1)}


def test_questions_in_a_subgraph_are_answered_one_after_the_other(start, ben):
    inner = StateGraph(State)
    inner.add_node("a", gate("a"))
    inner.add_node("b", gate("b"))
    inner.add_edge(START, "a")
    inner.add_edge("a", "b")
    run = start(child=inner.compile())
    approve(open_of(run, title="a?"), ben)
    assert drive(run) is status.Outcome.WAITED
    # The child has gone on to its second question: the first answer has arrived.
    assert Decision.objects.get().delivery == "took_effect"
    reject(open_of(run, title="b?"), ben)
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [["a", "approved", True], ["b", "rejected", False]]
    assert set(Decision.objects.values_list("delivery", flat=True)) == {"took_effect"}


def test_a_question_that_changes_with_its_sibling_is_asked_anew_and_the_old_verdict_is_void(
    start, ben, eve
):
    amount = {"cents": 100}

    def unstable(_: State) -> State:
        answer = ask("pay?", tool="pay", args=dict(amount))
        return {"log": [["pay", answer.decision, bool(answer)]]}

    run = start(a=gate("a"), pay=unstable)
    old = open_of(run, title="pay?")
    amount["cents"] = 999_999
    approve(open_of(run, title="a?"), ben)
    drive(run)  # the sibling's code runs again up to its question
    assert now(old).status == "superseded"
    new = open_of(run)
    assert (new.round, new.payload["args"]) == (2, {"cents": 999_999})
    assert new.deadline == old.deadline
    assert Permits().find(run.pk, "pay", old.args_hash) is None
    reject(new, eve)
    assert drive(run) is status.Outcome.FINISHED
    assert ["pay", "rejected", False] in log_of(run)


def test_a_verdict_given_while_the_question_changes_is_not_delivered(start, ben, eve):
    amount = {"cents": 100}

    def unstable(_: State) -> State:
        return {"log": [["pay", ask("pay?", tool="pay", args=dict(amount)).decision]]}

    def slow(_: State) -> State:
        answer = ask("a?")
        support.reach("between")
        return {"log": [["a", answer.decision]]}

    run = start(a=slow, pay=unstable)
    old = open_of(run, title="pay?")

    def decide_meanwhile() -> None:
        approve(old, eve)
        connections.close_all()  # of the graph's own thread

    support.HOOKS["between"] = decide_meanwhile
    amount["cents"] = 999_999
    approve(open_of(run, title="a?"), ben)
    drive(run)
    decision = Decision.objects.get(request=old)
    assert (decision.verdict, decision.delivery) == ("approved", "not_delivered")
    assert open_of(run).payload["args"] == {"cents": 999_999}
    assert Permits().find(run.pk, "pay", old.args_hash) is None


def test_an_answer_that_the_node_cannot_use_parks_the_run_and_can_be_asked_again(start, ben, eve):
    good = {"now": False}

    def picky(_: State) -> State:
        answer = ask("a?")
        if not good["now"]:
            raise ValueError("cannot use this")
        return {"log": [[answer.by, answer.decision]]}

    run = start(a=picky, b=gate("b"))
    for request in Request.objects.filter(run=run):
        approve(request, ben)
    assert drive(run) is status.Outcome.PARKED
    assert now(run).park_reason == "bad_answer"
    assert Decision.objects.get(request__title="b?").delivery == "took_effect"
    bad = Decision.objects.get(request__title="a?")
    assert bad.delivery == "delivering"

    good["now"] = True
    controls.ask_again(run.pk, actor=Actor.person(person("Ada"), entry="page"), reason="typo")
    assert drive(run) is status.Outcome.WAITED
    bad.refresh_from_db()
    assert (bad.delivery, bad.delivery_detail) == ("not_delivered", "asked again")
    again = open_of(run)
    assert (again.title, again.round) == ("a?", 2)
    approve(again, eve)
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [["Eve", "approved"], ["b", "approved", True]]
    assert bad.request.interrupt_id == again.interrupt_id


def test_an_answer_is_handed_over_again_after_a_crash_in_the_node(start, ben):
    class Killed(BaseException):
        pass

    def die() -> None:
        raise Killed

    def node(_: State) -> State:
        answer = ask("a?")
        support.reach("after")
        return {"log": [[answer.decision]]}

    run = start(a=node)
    approve(open_of(run), ben)
    support.HOOKS["after"] = die
    with pytest.raises(Killed):
        drive(run)
    assert Decision.objects.get().delivery == "delivering"
    support.HOOKS.clear()
    Lease.objects.filter(pk=run.pk).update(expires_at=clock.now())
    assert drive(run) is status.Outcome.FINISHED
    decision = Decision.objects.get()
    assert (decision.delivery, decision.deliveries) == ("took_effect", 2)
    assert log_of(run) == [["approved"]]
    assert Request.objects.count() == 1


def test_a_bare_interrupt_gets_the_mapped_answer(start, ben, rule):
    rule(answers={"approve": {"go": 1}})

    def bare(_: State) -> State:
        return {"log": [interrupt("go?")]}

    run = start(a=bare)
    approve(open_of(run), ben)
    assert drive(run) is status.Outcome.FINISHED
    assert now(run).output == {"log": [{"go": 1}]}


def test_a_run_that_is_cancelled_while_it_waits_leaves_nothing_open(start, ben):
    run = start(a=gate("a"), b=gate("b"))
    approve(open_of(run, title="a?"), ben)
    ada = person("Ada")
    controls.cancel(run.pk, actor=Actor.person(ada, entry="page"), reason="wrong customer")
    assert drive(run) is status.Outcome.CANCELLED
    assert set(Request.objects.values_list("title", "status")) == {
        ("a?", "approved"),
        ("b?", "withdrawn"),
    }
    assert Decision.objects.get().delivery == "not_delivered"


def test_a_deadline_that_parks_is_asked_again_with_a_new_deadline(start, ben, rule):
    rule(on_deadline="park")
    run = start(a=gate("a"))
    request = open_of(run)
    due_in(request, timedelta(0))
    with transaction.atomic():
        deadlines.expire(run, request)
    assert drive(run) is status.Outcome.PARKED
    assert now(run).park_reason == "deadline"
    controls.ask_again(run.pk, actor=Actor.person(person("Ada"), entry="page"), reason="holiday")
    assert drive(run) is status.Outcome.WAITED
    again = open_of(run)
    assert again.deadline > clock.now()
    approve(again, ben)
    assert drive(run) is status.Outcome.FINISHED


def test_a_deadline_that_makes_the_run_read_only_tells_the_agent_that_it_expired(start, rule):
    rule(on_deadline="read_only")
    run = start(a=gate("a"))
    request = open_of(run)
    due_in(request, timedelta(0))
    with transaction.atomic():
        deadlines.expire(run, request)
    assert drive(run) is status.Outcome.FINISHED
    assert now(run).read_only
    assert log_of(run) == [["a", "expired", False]]


def test_a_question_that_keeps_changing_parks_the_run_until_an_operator_sends_it_on(
    start, ben, settings
):
    settings.APPROVALS_ROUNDS = 1
    amount = {"cents": 100}

    def unstable(_: State) -> State:
        return {"log": [["pay", ask("pay?", tool="pay", args=dict(amount)).decision]]}

    run = start(a=gate("a"), pay=unstable)
    amount["cents"] = 200
    approve(open_of(run, title="a?"), ben)
    assert drive(run) is status.Outcome.PARKED
    assert now(run).park_reason == "payload_unstable"
    assert not Request.objects.filter(run=run, round=2).exists()

    controls.retry(run.pk, actor=Actor.person(person("Ada"), entry="page"), reason="made stable")
    assert drive(run) is status.Outcome.WAITED
    request = open_of(run)
    assert (request.round, request.payload["args"]) == (2, {"cents": 200})
    approve(request, ben)
    assert drive(run) is status.Outcome.FINISHED
    assert ["pay", "approved"] in log_of(run)
