"""What a run does next is a table: one test per row, and properties that hold for every input."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs import moves, status
from runs.askers import Asker, Pending
from runs.heads import ABSENT, Head
from runs.moves import Facts, Failure, Fit, next_move
from runs.ports import Answer, Answers

PARKS = st.sampled_from(status.Park)
ASKED = Pending(
    interrupt_id="i1", value="q", node="gate", task_id="t1", askers=(Asker("", "c1", "t1", 0),)
)
READY = Answer(decision_id=UUID(int=1), interrupt_id="i1", task_id="t1", value="yes")
OTHER = Answer(decision_id=UUID(int=2), interrupt_id="i2", task_id="t2", value="no")

FINISHED = Head(exists=True, checkpoint_id="c9")
IDLE = Head(exists=True, checkpoint_id="c1", open_step=True, idle=("node",))
WAITING = Head(exists=True, checkpoint_id="c1", open_step=True, pending={"i1": ASKED})
BETWEEN = Head(exists=True, checkpoint_id="c1", open_step=True)
LOST = replace(BETWEEN, open_step=False, lost=("renamed",))
CROWDED = replace(WAITING, crowded=("gate",))

ERROR = Failure(error_class="ValueError", error="bad", transient=False, tries_left=True)
PASSING = replace(ERROR, transient=True)
EXHAUSTED = replace(PASSING, tries_left=False)
WAIT = replace(ERROR, free=True, tries_left=False)
STOPPED = replace(ERROR, park=status.Park.READ_ONLY)


def facts(head: Head | None, answers: Answers | None = None, **more) -> Facts:
    return Facts(head=head, answers=answers or Answers(), **more)


def park(reason: str, detail: str = "") -> moves.Park:
    return moves.Park(status.Park(reason), detail)


CONSUMED = Answers(consumed=True)
TWO = Answers(ready=(READY, OTHER))
NOT_OFFERED = "no live worker offers the version of this run"

ROWS = {
    "1 cancel asked": (facts(WAITING, TWO, cancel_asked=True), moves.Cancel()),
    "1 cancel goes before doubt": (facts(IDLE, cancel_asked=True, in_doubt=True), moves.Cancel()),
    "1 cancel needs no graph": (facts(None, cancel_asked=True), moves.Cancel()),
    "2 nothing saved": (facts(ABSENT), moves.Start()),
    "2 what was saved is gone": (facts(ABSENT, saved_before=True), park("state_lost")),
    "2 the start failed before": (facts(ABSENT, failure=PASSING), moves.RetryLater(PASSING)),
    "2 the start failed for good": (facts(ABSENT, failure=ERROR), moves.Fail(ERROR)),
    "2 the start kills workers": (facts(ABSENT, crash_loop=True), park("crash_loop")),
    "2 stopped before the start": (facts(ABSENT, stopped=True), park("emergency_stop")),
    "3 in doubt": (facts(IDLE, in_doubt=True), park("effect_in_doubt")),
    "3 drift": (facts(IDLE, drifted=True), park("drift")),
    "3 drift goes before the end": (facts(FINISHED, drifted=True), park("drift")),
    "3 doubt goes before drift": (
        facts(IDLE, in_doubt=True, drifted=True),
        park("effect_in_doubt"),
    ),
    "3 doubt goes before the end": (facts(FINISHED, in_doubt=True), park("effect_in_doubt")),
    "4 finished": (facts(FINISHED), moves.Finish()),
    "4 finished in spite of a stop": (facts(FINISHED, stopped=True), moves.Finish()),
    "5 another worker fits": (
        facts(None, fit=Fit.OTHER, right_worker="w2"),
        moves.Release("w2"),
    ),
    "5 unknown here, known there": (
        facts(None, fit=Fit.UNKNOWN, right_worker="w2"),
        moves.Release("w2"),
    ),
    "6 no worker fits": (facts(None, fit=Fit.OTHER), park("graph_changed", NOT_OFFERED)),
    "6 unknown everywhere": (
        facts(None, fit=Fit.UNKNOWN, why_unfit="no such agent"),
        park("graph_changed", "no such agent"),
    ),
    "6 a node is gone": (facts(LOST), park("graph_changed", "missing: renamed")),
    "- ask again": (facts(WAITING, ask_again=True, failure=ERROR), moves.AskAgain()),
    "- the node refused its answer": (
        facts(WAITING, CONSUMED, failure=replace(WAIT, ask_anew=True)),
        moves.AskAnew(),
    ),
    "- a refused answer is cut first": (
        facts(WAITING, replace(TWO, consumed=True, outdated=True)),
        moves.AskAnew(),
    ),
    "7 the ledger stopped it": (facts(IDLE, failure=STOPPED), park("read_only", "bad")),
    "7 may pass": (facts(IDLE, failure=PASSING), moves.RetryLater(PASSING)),
    "7 a wait costs no try": (facts(IDLE, failure=WAIT), moves.RetryLater(WAIT)),
    "7 no tries left": (facts(IDLE, failure=EXHAUSTED), moves.Fail(EXHAUSTED)),
    "7 will not pass": (facts(IDLE, failure=ERROR), moves.Fail(ERROR)),
    "7 bad answer": (facts(WAITING, CONSUMED, failure=ERROR), park("bad_answer", "bad")),
    "7 bad answer may pass": (
        facts(WAITING, CONSUMED, failure=PASSING),
        moves.RetryLater(PASSING),
    ),
    "8 crash loop": (facts(IDLE, crash_loop=True), park("crash_loop")),
    "8 crash loop at an answer": (facts(WAITING, TWO, crash_loop=True), park("crash_loop")),
    "- emergency stop": (facts(WAITING, TWO, stopped=True), park("emergency_stop")),
    "9 consumed": (facts(WAITING, CONSUMED), moves.Continue()),
    "9 consumed goes before ready": (
        facts(WAITING, replace(TWO, consumed=True)),
        moves.Continue(),
    ),
    "10 all answers at once": (facts(WAITING, TWO), moves.Resume((READY, OTHER))),
    "10 after an error one per call": (
        facts(WAITING, TWO, retrying=True),
        moves.Resume((READY,)),
    ),
    "11 idle": (facts(replace(WAITING, idle=("quiet",))), moves.Continue()),
    "12 waiting": (facts(WAITING), moves.Wait()),
    "12 nobody decided in time": (facts(WAITING, Answers(lapsed=True)), park("deadline")),
    "12 the question keeps changing": (
        facts(WAITING, Answers(unstable=True)),
        park("payload_unstable"),
    ),
    "13 between two checkpoints": (facts(BETWEEN), moves.Continue()),
}


@pytest.mark.parametrize("row", ROWS)
def test_row(row: str) -> None:
    given_facts, expected = ROWS[row]
    assert next_move(given_facts) == expected


def test_several_interrupts_of_one_task_fail_the_run_and_say_why() -> None:
    move = next_move(facts(CROWDED))
    assert isinstance(move, moves.Fail)
    assert move.failure.error_class == "SeveralInterrupts"
    assert "gate" in move.failure.error


# --- properties -----------------------------------------------------------------------------------

HEADS = st.one_of(
    st.none(),
    st.just(ABSENT),
    st.builds(
        Head,
        exists=st.just(True),
        checkpoint_id=st.just("c1"),
        pending=st.sampled_from([{}, {"i1": ASKED}]),
        idle=st.sampled_from([(), ("node",)]),
        open_step=st.booleans(),
        lost=st.sampled_from([(), ("renamed",)]),
        crowded=st.sampled_from([(), ("gate",)]),
    ),
)
ANSWERS = st.builds(
    Answers,
    ready=st.sampled_from([(), (READY,), (READY, OTHER)]),
    consumed=st.booleans(),
    unstable=st.booleans(),
    lapsed=st.booleans(),
    outdated=st.booleans(),
)
FAILURES = st.builds(
    Failure,
    error_class=st.just("E"),
    error=st.just("e"),
    transient=st.booleans(),
    tries_left=st.booleans(),
    park=st.none() | PARKS,
    free=st.booleans(),
    ask_anew=st.booleans(),
)
FACTS = st.builds(
    Facts,
    head=HEADS,
    answers=ANSWERS,
    fit=st.sampled_from(Fit),
    right_worker=st.sampled_from(["", "w2"]),
    failure=st.none() | FAILURES,
    **dict.fromkeys(
        (
            "cancel_asked",
            "ask_again",
            "saved_before",
            "in_doubt",
            "stopped",
            "drifted",
            "retrying",
            "crash_loop",
        ),
        st.booleans(),
    ),
)


@given(FACTS)
def test_every_state_has_exactly_one_move(known: Facts) -> None:
    move = next_move(known)
    assert isinstance(move, moves.Move)
    assert move == next_move(known)


@given(FACTS)
def test_the_graph_is_called_only_when_nothing_speaks_against_it(known: Facts) -> None:
    move = next_move(known)
    if not isinstance(move, moves.Start | moves.Continue | moves.Resume):
        return
    head = known.head
    assert head is not None
    assert known.fit is Fit.FITS
    against = (known.cancel_asked, known.stopped, known.crash_loop, known.failure, head.lost)
    assert not any((*against, head.finished))
    assert isinstance(move, moves.Start) == (not head.exists)
    if isinstance(move, moves.Start):
        assert not known.saved_before
    else:
        assert not any((known.in_doubt, known.drifted, known.ask_again, head.crowded))


@given(FACTS)
def test_an_answer_is_sent_only_while_langgraph_holds_none(known: Facts) -> None:
    move = next_move(known)
    if isinstance(move, moves.Resume):
        assert not known.answers.consumed
        assert move.answers
        assert set(move.answers) <= set(known.answers.ready)
        assert len({answer.task_id for answer in move.answers}) == len(move.answers)


@given(FACTS)
def test_a_run_waits_only_for_a_person_and_only_when_there_is_nothing_else_to_do(
    known: Facts,
) -> None:
    move = next_move(known)
    if isinstance(move, moves.Wait):
        assert known.head is not None
        assert known.head.pending
        to_do = (known.head.idle, known.answers.ready, known.answers.consumed)
        assert not any((*to_do, known.failure, known.in_doubt, known.drifted))


@given(FACTS)
def test_a_run_ends_only_for_a_reason(known: Facts) -> None:
    move = next_move(known)
    if isinstance(move, moves.Finish):
        assert known.head is not None
        assert known.head.finished
        assert not known.in_doubt
        assert not known.drifted
    if isinstance(move, moves.Cancel) or known.cancel_asked:
        assert move == moves.Cancel()
        assert known.cancel_asked
    if isinstance(move, moves.Fail):
        failure = known.failure
        crowded = known.head is not None and known.head.crowded
        assert crowded or failure
        if not crowded and failure:
            again = failure.free or (failure.transient and failure.tries_left)
            assert not any((again, known.answers.consumed))
