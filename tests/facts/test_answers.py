"""Which question gets which answer: F2, F3, F7, F8, F9, F30."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from langgraph.errors import UnknownInterruptError, is_invalid_resume
from langgraph.graph import START, StateGraph
from langgraph.pregel import Pregel
from langgraph.types import Command, interrupt
from pydantic import BaseModel, ValidationError

from approvals.models import Request
from runs import checkpoints, controls, fitness, killpoints
from runs.driver import STRICT
from runs.models import Run
from runs.status import Outcome, Park
from tests.facts import alone, deaths
from tests.facts.conftest import dies
from tests.runs.conftest import SHELL, answer, checkpoints_of, expire, finish, now, output, wake
from tests.runs.test_leases import in_threads
from tests.support import approver, graphs

YES, NO = "approved", "rejected"


def verdict(run: Run, question: str, word: str) -> None:
    """Decide a bare question, which takes no value: the node gets true or false."""
    approver.answer(run.pk, question, verdict=word)


def questions(run: Run) -> list[str]:
    return sorted(approver.open_questions(run.pk))


# --- F2 -------------------------------------------------------------------------------------------


def test_f2_an_answer_under_the_old_id_answers_the_next_question(thread) -> None:
    it = thread(graphs.twice)
    it.call({})
    first = it.asked()["q1"]
    it.resume({first: "one"})
    assert it.asked().keys() == {"q2"}
    assert it.asked()["q2"] != first
    it.resume({first: "again"})
    assert it.log() == [["gate", "one", "again"], "after"]


def test_f2_our_driver_sends_no_answer_again_while_the_next_question_waits(
    bare, start, drive
) -> None:
    run = start("twice")
    drive(run)
    verdict(run, "q1", YES)
    handed_over: list[str] = []

    def vanish_before_noting_it(place: str, _: str) -> None:
        handed_over.append(place)
        if place == "driver.before_read" and "driver.handed_over" in handed_over:
            raise KeyboardInterrupt

    killpoints.install(vanish_before_noting_it)
    with pytest.raises(KeyboardInterrupt):
        drive(run)
    killpoints.install(None)
    assert run.requests.get().decision.delivery == "delivering"
    expire(run)

    assert drive(run) is Outcome.WAITED
    assert questions(run) == ["q2"]
    verdict(run, "q2", NO)
    assert finish(run, drive).output == {"log": [["gate", True, False], "after"]}
    assert [each.decision.deliveries for each in run.requests.order_by("pk")] == [1, 1]


# --- F3 -------------------------------------------------------------------------------------------


def test_f3_a_private_switch_refuses_answers_that_nobody_waits_for(thread) -> None:
    it = thread(graphs.twice)
    it.call({})
    first = it.asked()["q1"]
    it.resume({first: "one"}, **{STRICT: True})
    before = it.saver.get_tuple({"configurable": {"thread_id": it.id}})
    for answers, reason in (({first: "again"}, "not_pending"), ({}, "empty_map")):
        with pytest.raises(UnknownInterruptError) as refused:
            it.resume(answers, **{STRICT: True})
        assert refused.value.reason == reason
    assert it.saver.get_tuple({"configurable": {"thread_id": it.id}}) == before
    assert it.asked().keys() == {"q2"}


def test_f3_our_driver_is_refused_when_the_question_has_gone_in_the_last_moment(
    bare, start, drive
) -> None:
    """Whoever answers past the driver: q2 does not get the answer that was given to q1."""
    run = start("twice")
    drive(run)
    verdict(run, "q1", YES)
    past_us = alone.Thread(
        graph=graphs.twice, saver=alone.Saver(checkpoints.pool()), id=str(run.pk)
    )

    def meddle(place: str, _: str) -> None:
        if place == "driver.handed_over":
            killpoints.install(None)
            past_us.resume({past_us.asked()["q1"]: "meddled"})

    killpoints.install(meddle)
    assert drive(run) is Outcome.WAITED
    assert questions(run) == ["q2"]
    verdict(run, "q2", NO)
    assert finish(run, drive).output == {"log": [["gate", "meddled", False], "after"]}


def test_f3_our_worker_does_not_start_where_the_switch_does_nothing(
    transactional_db, no_flush, monkeypatch
) -> None:
    fitness.require()
    monkeypatch.setattr(fitness, "STRICT", "renamed by a later version")
    with pytest.raises(ImproperlyConfigured, match="ignores strict resume"):
        fitness.require()


# --- F7 -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keyed", [False, True])
def test_f7_a_keyed_answer_is_lost_with_its_process_and_a_bare_one_is_not(thread, keyed) -> None:
    it = thread(graphs.ask)
    it.call({})
    asked = it.asked()
    given = {asked["gate"]: "yes"} if keyed else "yes"
    when = deaths.after_the_answer if keyed else deaths.after_the_answer_was_saved
    dies(deaths.invoke, "ask", it.id, Command(resume=given), when)
    assert it.asked() == asked
    it.call(None)
    assert it.asked() == (asked if keyed else {})
    assert it.log() == (["before"] if keyed else ["before", ["gate", "yes"], "after"])


def test_f7_our_driver_hands_over_an_answer_again_that_was_lost_with_its_process(
    start, drive
) -> None:
    run = start("ask")
    drive(run)
    answer(run, "gate", "yes")
    dies(deaths.drive, run.pk, deaths.after_the_answer)
    expire(run)
    assert drive(run) is Outcome.FINISHED
    assert output(run) == {"log": ["before", ["gate", "yes"], "after"]}
    decision = run.requests.get().decision
    assert (decision.delivery, decision.deliveries) == ("took_effect", 2)


# --- F8 -------------------------------------------------------------------------------------------


def test_f8_a_bare_answer_is_fed_to_the_next_question(thread) -> None:
    it = thread(graphs.twice)
    it.call({})
    it.resume("one")
    assert it.asked().keys() == {"q2"}
    it.call(None)
    assert it.log() == [["gate", "one", "one"], "after"]


def test_f8_our_driver_never_sends_bare_answers(bare, start, drive, monkeypatch) -> None:
    given: list[Any] = []
    invoke = Pregel.invoke

    def listen(self: Any, what: Any, config: Any, **more: Any) -> Any:
        assert config["configurable"][STRICT] is True
        given.append(what)
        return invoke(self, what, config, **more)

    monkeypatch.setattr(Pregel, "invoke", listen)
    run = start("twice")
    drive(run)
    verdict(run, "q1", YES)
    drive(run)
    wake(run)
    assert drive(run) is Outcome.WAITED
    assert (given[0], len(given)) == ({}, 2), "a wake alone calls nothing while q2 waits"
    verdict(run, "q2", NO)
    assert finish(run, drive).output == {"log": [["gate", True, False], "after"]}
    sent = [each.resume for each in given[1:]]
    assert [[*map(len, each), *each.values()] for each in sent] == [[32, True], [32, False]]


# --- F9 -------------------------------------------------------------------------------------------


def test_f9_an_answer_that_made_its_node_raise_is_stuck(thread) -> None:
    it = thread(graphs.picky)
    it.call({})
    for given in ({it.asked()["a number"]: "many"}, {it.asked()["a number"]: 7}, 7):
        with pytest.raises(ValueError, match="'many' is not a number"):
            it.resume(given)


class Number(BaseModel):
    number: int


def test_f9_an_answer_that_does_not_fit_the_questions_schema_is_not_kept(thread) -> None:
    def node(_: graphs.State) -> graphs.State:
        answer = interrupt({"question": "a number"}, response_schema=Number)
        assert isinstance(answer, Number)
        return {"log": [answer.number]}

    it = thread(graphs.chain(gate=node))
    it.call({})
    asked = it.asked()
    with pytest.raises(ValidationError) as refused:
        it.resume({asked["a number"]: {"number": "many"}})
    assert is_invalid_resume(refused.value)
    assert it.asked() == asked
    it.resume({asked["a number"]: {"number": 7}})
    assert it.log() == [7]


def test_f9_our_driver_asks_again_and_the_good_answer_arrives(start, drive) -> None:
    run = start("picky")
    drive(run)
    answer(run, "a number", "many")
    assert drive(run) is Outcome.PARKED
    assert now(run).park_reason == Park.BAD_ANSWER
    saved = checkpoints_of(run)
    controls.ask_again(run.pk, actor=SHELL, reason="a typing error")
    assert drive(run) is Outcome.WAITED
    answer(run, "a number", 7)
    assert finish(run, drive).output == {"log": ["before", ["picky", 7], "after"]}
    assert checkpoints_of(run)[: len(saved)] == saved
    assert len({each.interrupt_id for each in run.requests.all()}) == 1


# --- F30 ------------------------------------------------------------------------------------------


def changing() -> Any:
    """Two branches that ask; the right one asks something else each time its code runs."""
    asked = iter(range(1, 100))

    def right(_: graphs.State) -> graphs.State:
        return {"log": [["right", graphs.person(f"right {next(asked)}")]]}

    builder: Any = StateGraph(graphs.State)
    builder.add_node("left", graphs.asking("left"))
    builder.add_node("right", right)
    builder.add_edge(START, "left")
    builder.add_edge(START, "right")
    return builder.compile()


def test_f30_answering_one_of_two_changes_the_other_question_under_the_same_id(thread) -> None:
    it = thread(changing())
    it.call({})
    asked, at = it.asked(), it.state().config
    it.resume({asked["left"]: "L"})
    assert it.asked() == {"right 2": asked["right 1"]}
    assert it.state().config == at


def test_f30_our_driver_does_not_deliver_what_was_decided_about_the_other_wording(
    bare, start, drive
) -> None:
    run = start("changing", graph=changing())
    drive(run)
    verdict(run, "left", YES)

    def approve_what_is_on_the_screen() -> None:
        graphs.HOOKS.clear()
        in_threads(1, lambda _: verdict(run, "right 1", YES))

    graphs.HOOKS["left.after"] = approve_what_is_on_the_screen
    assert drive(run) is Outcome.WAITED
    assert questions(run) == ["right 2"]
    old = Request.objects.get(run=run, payload={"question": "right 1"})
    assert old.decision.delivery == "not_delivered"
    assert old.replaced_by == approver.open_questions(run.pk)["right 2"]
    verdict(run, "right 2", NO)
    assert finish(run, drive).output == {"log": [["left", True], ["right", False]]}
