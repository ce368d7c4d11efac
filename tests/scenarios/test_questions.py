"""Answers that go astray elsewhere: sent twice, to the next question, when nobody asks any more."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Send, interrupt

from accounts.actors import Actor
from approvals import ask, decisions
from approvals.models import Decision, Request
from ledger.models import Effect
from runs import checkpoints, controls, driver, killpoints, savers, status, sweeper
from runs.models import Run
from tests.approvals.conftest import together
from tests.runs.conftest import checkpoints_of, expire, now
from tests.scenarios.conftest import (
    decide,
    form,
    guarded,
    open_of,
    page_of,
    pay,
    signed_in,
    titles,
)
from tests.support import graphs


class State(TypedDict, total=False):
    n: int
    log: Annotated[list[Any], add]


class Died(BaseException):
    """The process ended here."""


def chain(**nodes: Any) -> Any:
    builder = StateGraph(State).add_sequence(list(nodes.items()))
    return builder.add_edge(START, next(iter(nodes))).compile()


def gate(*questions: str) -> Any:
    """A node that asks one after the other by a bare interrupt, which believes whatever it gets."""

    def node(_: State) -> State:
        return {"log": [[question, interrupt(question)] for question in questions]}

    return node


def pays(order: str) -> Any:
    def node(_: State) -> State:
        pay(order=order, cents=100)
        return {"log": [order]}

    return node


def log_of(run: Run) -> list[Any]:
    output = now(run).output
    assert output is not None
    log: list[Any] = output["log"]
    return log


# --- one answer, one question ---------------------------------------------------------------------


def test_a_worker_killed_after_the_second_question_was_saved_does_not_answer_it(
    start, drive, ben, books, rung, settings
):
    settings.RUNS_SWEEP_RULES = ["ledger.sweep.sweep", "approvals.sweep.sweep"]
    run = start("asks", graph=chain(gate=gate("q1", "q2"), paid=pays("7")))
    drive(run)
    decide(ben, open_of(run, "q1"))

    def dies_once_the_question_is_saved(name: str, _: str) -> None:
        if name == "saver.wrote":
            raise Died

    killpoints.install(dies_once_the_question_is_saved)
    with pytest.raises(Died):
        drive(run)
    killpoints.install(None)
    expire(run)
    for _ in range(3):
        rung.clear()
        sweeper.sweep()
        for run_id, *_ in rung:
            driver.drive(run_id, holder="w2", cause="sweep")
    assert titles(run) == ["q2"]
    assert now(run).status == "waiting"
    assert books.calls == []
    assert Decision.objects.get().delivery == "took_effect"


@pytest.mark.parametrize(
    "graph",
    [
        pytest.param(lambda: chain(one=gate("q1"), two=gate("q2"), paid=pays("7")), id="two nodes"),
        pytest.param(lambda: chain(gate=gate("q1", "q2"), paid=pays("7")), id="one node"),
    ],
)
def test_a_form_sent_again_after_the_run_went_on_leaves_the_next_question_alone(
    start, drive, ben, books, graph
):
    run = start("asks", graph=graph())
    drive(run)
    client = signed_in(ben)
    first = open_of(run, "q1")
    sent = form(client, first, "approved")
    client.post(page_of(first), sent)
    drive(run)
    assert titles(run) == ["q2"]
    client.post(page_of(first), sent)
    assert drive(run) in (None, status.Outcome.WAITED)
    assert titles(run) == ["q2"]
    decision = Decision.objects.get()
    assert (decision.request, decision.deliveries) == (first, 1)
    assert books.calls == []


@pytest.mark.race
@pytest.mark.parametrize("trial", range(5))
def test_of_two_verdicts_and_two_workers_at_once_one_counts_and_pays_at_most_once(
    start, drive, ben, eve, books, trial
):
    def node(_: State) -> State:
        answer = ask("pay?", tool="scenario.guarded", args={"order": "7", "cents": 100})
        if answer:
            guarded(order="7", cents=100)
        return {"log": [answer.decision]}

    run = start("asks", graph=chain(gate=node))
    drive(run)
    request = open_of(run)
    people = [(signed_in(ben), "approved"), (signed_in(eve), "rejected")]
    forms = [(client, form(client, request, verdict)) for client, verdict in people]
    together(*[lambda c=client, f=sent: c.post(page_of(request), f) for client, sent in forms])
    together(*[lambda w=w: driver.drive(run.pk, holder=w, cause="test") for w in ("w1", "w2")])
    while not now(run).ended:
        drive(run)
    decision = Decision.objects.get()
    assert now(run).output == {"log": [decision.verdict]}
    assert len(books.calls) == (decision.verdict == "approved")
    assert decision.deliveries == 1


def test_of_three_questions_at_once_one_is_answered_and_the_others_stay_listed_once(
    start, drive, ben, books
):
    run = start("fan", {"items": ["a", "b", "c"]})
    drive(run)
    before = {request.title: request.pk for request in Request.objects.filter(run=run)}
    assert sorted(before) == ["a", "b", "c"]
    decide(ben, open_of(run, "b"))
    drive(run)
    after = {request.title: request.pk for request in Request.objects.filter(status="pending")}
    assert after == {title: pk for title, pk in before.items() if title != "b"}
    assert Request.objects.filter(run=run).count() == 3
    lines = signed_in(ben).get("/approvals/").context["lines"]
    assert sorted(line.row.request.title for line in lines) == ["a", "c"]


def test_what_branches_did_before_they_asked_is_done_once_however_often_others_are_answered(
    start, drive, ben, books
):
    def spread(_: State) -> list[Send]:
        return [Send("branch", {"n": n}) for n in range(3)]

    def branch(state: State) -> State:
        pay(order=f"before {state['n']}", cents=1)
        return {"log": [[state["n"], interrupt(f"q{state['n']}")]]}

    builder = StateGraph(State)
    builder.add_node("branch", branch)
    builder.add_conditional_edges(START, spread, ["branch"])
    run = start("asks", graph=builder.compile())
    drive(run)
    for title in ("q2", "q0", "q1"):
        decide(ben, open_of(run, title))
        drive(run)
    assert now(run).status == "succeeded"
    assert sorted(each["order"] for each in books.paid) == ["before 0", "before 1", "before 2"]
    assert len(books.calls) == 3
    assert Effect.objects.filter(run=run).count() == 3


def test_a_worker_that_is_told_twice_to_deliver_delivers_once(start, drive, ben, books):
    run = start("asks", graph=chain(one=gate("q1"), paid=pays("7"), two=gate("q2")))
    drive(run)
    decide(ben, open_of(run))
    for _ in range(3):
        drive(run)
    assert len(books.calls) == 1
    assert Decision.objects.get().deliveries == 1
    assert titles(run) == ["q2"]


def test_no_resume_names_a_checkpoint(start, drive, ben, monkeypatch):
    """So none can be addressed to one that is not the head any more."""
    run = start("asks", graph=chain(gate=gate("q1", "q2")))
    drive(run)
    seen: list[set[str]] = []
    config = driver._Drive._config

    def watched(self: Any) -> Any:
        made = config(self)
        seen.append(set(made["configurable"]))
        return made

    monkeypatch.setattr(driver._Drive, "_config", watched)
    decide(ben, open_of(run))
    drive(run)
    assert seen
    assert set.union(*seen) == {"thread_id", driver.STRICT}


# --- nobody asks any more -------------------------------------------------------------------------


def test_a_verdict_on_a_thread_that_somebody_moved_on_reaches_nobody(start, drive, ben, books):
    """The checkpoint on which it was asked is not the head any more, and nothing forks."""
    asked = chain(one=gate("q1"), two=gate("q2"), paid=pays("7"))
    run = start("asks", graph=asked)
    drive(run)
    decide(ben, open_of(run, "q1"))
    saver = savers.FencedSaver.__mro__[1](checkpoints.pool())
    moved = asked.copy(update={"checkpointer": saver})
    moved.update_state(
        {"configurable": {"thread_id": str(run.pk)}}, {"log": ["moved"]}, as_node="one"
    )
    drive(run)
    decision = Decision.objects.get()
    assert (decision.delivery, decision.deliveries) == ("not_delivered", 0)
    assert titles(run) == ["q2"]
    assert books.calls == []


def test_a_verdict_on_a_run_that_has_ended_calls_nothing(start, drive, ben):
    run = start("asks", graph=chain(gate=gate("q1")))
    drive(run)
    client = signed_in(ben)
    request = open_of(run)
    sent = form(client, request, "approved")
    controls.cancel(run.pk, actor=Actor.command("test"), reason="wrong order")
    drive(run)
    saved = checkpoints_of(run)
    response = client.post(page_of(request), sent)
    assert response.status_code == 409
    assert drive(run) is None
    assert checkpoints_of(run) == saved
    assert not Decision.objects.exists()


# --- answers that are easily lost or misread ------------------------------------------------------


@pytest.mark.parametrize("answer", [False, 0, "", [], "null", {"a": None}])
def test_an_answer_that_is_easily_lost_arrives_in_the_node_as_it_was_meant(
    start, drive, ben, rule, answer
):
    rule(answers={"approve": answer})
    run = start("asks", graph=chain(gate=gate("q1"), after=gate("q2")))
    drive(run)
    decide(ben, open_of(run))
    drive(run)
    assert titles(run) == ["q2"]  # the answer was one, and only for the first question
    decide(ben, open_of(run), "rejected")
    drive(run)
    (question, got), _ = log_of(run)
    assert (question, got) == ("q1", answer)
    assert type(got) is type(answer)


@pytest.mark.parametrize("value", [None, {}, {"a" * 32: True}, {"a" * 32: {"b" * 32: None}}])
def test_a_value_that_langgraph_could_take_for_a_map_of_answers_arrives_as_a_value(
    start, drive, ben, value
):
    def node(_: State) -> State:
        return {"log": [[ask("q1").value]]}

    run = start("asks", graph=chain(gate=node, after=gate("q2")))
    drive(run)
    request = open_of(run)
    decisions.decide(
        request.pk,
        actor=Actor.person(ben, entry="page"),
        verdict="approved",
        value=value,
        seen_digest=request.digest,
        token="t",
    )
    drive(run)
    assert titles(run) == ["q2"]
    decide(ben, open_of(run))
    drive(run)
    assert log_of(run)[0] == [value]


class Passes:
    """In which order threads ask, in one pass of their step."""

    def begin(self, *order: str) -> None:
        self.kept: list[str] = []
        self.asked = {name: threading.Event() for name in order}
        self.here = threading.Barrier(len(order))
        self.before = dict(zip(order[1:], order, strict=False))

    @contextmanager
    def turn(self, name: str) -> Iterator[None]:
        """Wait until whoever comes before has asked. Who waits in vain is not in `kept`."""
        self.here.wait(10)  # nobody's thread is called off before it has begun
        before = self.before.get(name)
        if before is None or self.asked[before].wait(10):
            self.kept.append(name)
        try:
            yield
        finally:
            self.asked[name].set()


# --- several questions of one step ----------------------------------------------------------------


@pytest.mark.parametrize("slower", ["a", "b"])
def test_tools_that_ask_in_threads_of_one_step_get_no_other_tools_answer(
    start, drive, ben, books, slower
):
    """LangGraph hands the answers of a task out in the order in which its threads ask."""
    faster = "b" if slower == "a" else "a"
    passes = Passes()

    def asking(name: str) -> Any:
        def ask_and_pay() -> str:
            """Ask, then pay."""
            with passes.turn(name):
                answer = ask(name)
            if answer:
                pay(order=name, cents=1)
            return f"{name}: {answer.decision}"

        return tool(name)(ask_and_pay)

    calls: list[Any] = [
        {"name": name, "args": {}, "id": name, "type": "tool_call"} for name in ("a", "b")
    ]
    tools = ToolNode([asking("a"), asking("b")], messages_key="log")

    def model(_: State) -> Any:
        return {"log": [AIMessage(content="", tool_calls=calls)]}

    run = start("asks", graph=chain(model=model, tools=tools))
    passes.begin(faster, slower)
    drive(run)
    (asked,) = titles(run)
    decide(ben, open_of(run))
    assert passes.kept == [faster, slower]
    passes.begin(slower, faster)
    drive(run)
    assert passes.kept == [slower, faster]
    assert {each["order"] for each in books.paid} <= {asked}
    assert now(run).status in ("waiting", "parked")


# --- workflows ------------------------------------------------------------------------------------


def test_a_task_of_a_nested_workflow_charges_once_whatever_is_asked_after_it(
    start, drive, ben, books
):
    @task
    def charge(order: str) -> str:
        pay(order=order, cents=100)
        return order

    @entrypoint()
    def child(order: str) -> Any:
        return [charge(order).result(), interrupt("q1"), interrupt("q2")]

    @entrypoint()
    def workflow(given: dict[str, str]) -> Any:
        return {"log": child.invoke(given["order"])}

    run = start("asks", {"order": "7"}, graph=workflow)
    drive(run)
    for title in ("q1", "q2"):
        decide(ben, open_of(run, title))
        drive(run)
    assert now(run).output == {"log": ["7", True, True]}
    assert len(books.calls) == 1


# --- a question that the code swallows ------------------------------------------------------------


def test_code_that_swallows_its_question_pays_nothing(start, drive, books):
    def node(_: State) -> State:
        args = {"order": "7", "cents": 100}
        try:
            ask("pay?", tool="scenario.guarded", args=args)
        except Exception:
            graphs.reach("swallowed")
        try:
            guarded(**args)
        except Exception:
            graphs.reach("swallowed the refusal")
        return {"log": ["went on"]}

    run = start("asks", graph=chain(gate=node))
    drive(run)
    assert "swallowed" in graphs.visits(run.pk)
    assert books.calls == []
    assert not Effect.objects.filter(run=run, status__in=("sent", "confirmed")).exists()
