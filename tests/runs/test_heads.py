"""The head tells what LangGraph would do next, and what `get_state` alone does not tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.errors import GraphInterrupt
from langgraph.types import Command, Interrupt

from approvals.status import Verdict
from runs import checkpoints, heads
from runs.askers import Asker
from runs.heads import Head
from tests.support import answers, graphs

pytestmark = pytest.mark.usefixtures("database")


class Stop(Exception):
    """The process has died here."""


class Dying(PostgresSaver):
    """A saver whose process dies at its n-th checkpoint."""

    left = 10**6

    def put(self, *args: Any, **kwargs: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            raise Stop
        return super().put(*args, **kwargs)


class Thread:
    """One thread of a graph, driven by hand, and its head."""

    def __init__(self, graph: Any) -> None:
        self.saver = Dying(checkpoints.pool())
        self.config: Any = {
            "configurable": {"thread_id": str(uuid4()), "__pregel_strict_resume": True}
        }
        self.become(graph)

    def become(self, graph: Any) -> None:
        """Another version of the graph is deployed."""
        self.graph = graph.copy(update={"checkpointer": self.saver})

    def invoke(self, given: Any = None) -> Head:
        self.graph.invoke(given, self.config, durability="sync")
        return self.head()

    def dies(self, after: int, given: Any = None) -> Head:
        """Invoke, and die instead of saving the next checkpoint but `after`."""
        self.saver.left = after
        with pytest.raises(Stop):
            self.graph.invoke(given, self.config, durability="sync")
        self.saver.left = 10**6
        return self.head()

    def answer(self, head: Head, *values: Any) -> Any:
        answers = zip(head.pending.values(), values, strict=True)
        return Command(resume={each.interrupt_id: said(each.value, v) for each, v in answers})

    def head(self) -> Head:
        return heads.read(self.graph, self.config)


def said(question: Any, value: Any) -> Any:
    """The answer as approvals would give it."""
    return answers.answer(answers.asked(question), Verdict.APPROVED, value=value)


def raising(exc: Exception) -> Callable[[], None]:
    def hook() -> None:
        raise exc

    return hook


# --- finished or not ------------------------------------------------------------------------------


def test_a_thread_that_was_never_saved_has_no_head() -> None:
    head = Thread(graphs.line).head()
    assert head is heads.ABSENT
    assert (head.exists, head.finished, head.mark) == (False, False, "start")


def test_a_thread_at_its_end_is_finished() -> None:
    head = Thread(graphs.line).invoke({})
    assert head.finished
    assert head.values == {"log": ["first", "second", "third"]}
    assert (head.pending, head.idle, head.lost, head.open_step) == ({}, (), (), False)


def test_between_the_last_writes_and_the_checkpoint_a_thread_is_not_finished() -> None:
    """`next == ()` there as well: whoever believes it skips the nodes that were to follow."""
    thread = Thread(graphs.line)
    head = thread.dies(2, {})
    assert thread.graph.get_state(thread.config).next == ()
    assert (head.finished, head.open_step, head.idle, head.pending) == (False, True, (), {})
    assert thread.invoke().values == {"log": ["first", "second", "third"]}


def test_a_task_that_is_to_run_and_asks_nothing_is_idle() -> None:
    thread = Thread(graphs.line)
    graphs.HOOKS["second"] = raising(ValueError("x"))
    with pytest.raises(ValueError, match="x"):
        thread.invoke({})
    assert thread.head().idle == ("second",)
    assert not thread.head().finished


# --- who asked ------------------------------------------------------------------------------------


def test_a_pending_interrupt_is_known_with_who_asked() -> None:
    head = Thread(graphs.ask).invoke({})
    (asked,) = head.pending.values()
    assert "gate" in str(asked.value)
    assert asked.node == "gate"
    assert asked.askers == (Asker("", head.checkpoint_id, asked.task_id, 0),)
    assert not head.consumed(asked.askers)
    assert head.idle == ()


def test_the_second_question_of_a_node_has_an_asker_that_holds_one_answer() -> None:
    thread = Thread(graphs.twice)
    first = thread.invoke({})
    second = thread.invoke(thread.answer(first, "a"))
    (q1,), (q2,) = first.pending.values(), second.pending.values()
    assert q1.interrupt_id != q2.interrupt_id
    assert (q1.task_id, first.checkpoint_id) == (q2.task_id, second.checkpoint_id)
    assert [asker.held for asker in q2.askers] == [1]
    assert second.consumed(q1.askers)
    assert not second.consumed(q2.askers)


def test_a_question_of_a_subgraph_has_an_asker_at_every_level() -> None:
    head = Thread(graphs.nested).invoke({})
    (asked,) = head.pending.values()
    assert asked.node == "child"
    outer, inner = sorted(asked.askers, key=lambda asker: len(asker.ns))
    assert (outer.ns, outer.checkpoint_id, outer.task_id) == ("", head.checkpoint_id, asked.task_id)
    assert inner.ns == f"child:{asked.task_id}"


def test_of_parallel_questions_each_has_its_own_asker() -> None:
    head = Thread(graphs.parallel).invoke({})
    assert {each.node for each in head.pending.values()} == {"left", "right"}
    assert len({each.askers for each in head.pending.values()}) == 2
    assert head.crowded == ()


def test_several_questions_of_one_task_are_crowded() -> None:
    def both(_: Any) -> Any:
        raise GraphInterrupt([Interrupt(value=n, id=f"{n}" * 32) for n in (1, 2)])

    assert Thread(graphs.chain(both=both)).invoke({}).crowded == ("both",)


# --- consumed -------------------------------------------------------------------------------------


def test_an_answer_that_its_node_took_before_it_raised_is_consumed_though_still_listed() -> None:
    thread = Thread(graphs.picky)
    before = thread.invoke({})
    with pytest.raises(ValueError, match="not a number"):
        thread.invoke(thread.answer(before, "many"))
    head = thread.head()
    assert head.pending.keys() == before.pending.keys()
    (asked,) = before.pending.values()
    assert head.consumed(asked.askers)
    assert head.mark != before.mark


def test_forgetting_cuts_the_answer_back_and_changes_nothing_else() -> None:
    thread = Thread(graphs.picky)
    before = thread.invoke({})
    (asked,) = before.pending.values()
    with pytest.raises(ValueError, match="not a number"):
        thread.invoke(thread.answer(before, "many"))
    heads.forget(thread.saver, thread.config["configurable"]["thread_id"], asked.askers)
    head = thread.head()
    assert not head.consumed(asked.askers)
    assert head.checkpoint_id == before.checkpoint_id
    (again,) = head.pending.values()
    assert (again.interrupt_id, again.task_id) == (asked.interrupt_id, asked.task_id)
    ended = thread.invoke(thread.answer(head, 7))
    assert ended.values == {"log": ["before", ["picky", 7], "after"]}


def test_forgetting_what_is_not_held_or_not_there_does_nothing() -> None:
    thread = Thread(graphs.ask)
    head = thread.invoke({})
    (asked,) = head.pending.values()
    thread_id = thread.config["configurable"]["thread_id"]
    gone = asked.askers[0]._replace(checkpoint_id="1ef00000-0000-6000-8000-000000000000")
    heads.forget(thread.saver, thread_id, [*asked.askers, gone])
    assert thread.head() == head


# --- lost -----------------------------------------------------------------------------------------


def test_a_node_that_the_graph_no_longer_has_is_lost_not_finished() -> None:
    thread = Thread(graphs.ask)
    thread.invoke({})
    thread.become(graphs.chain(before=graphs.plain("before"), renamed=graphs.asking("gate")))
    assert thread.graph.get_state(thread.config).next == ()
    assert thread.head().lost == ("gate",)
    assert not thread.head().finished


def test_the_node_of_a_send_that_the_graph_no_longer_has_is_lost() -> None:
    thread = Thread(graphs.fan)
    thread.invoke({"items": ["a", "b"]})
    thread.become(graphs.chain(spread=graphs.plain("spread"), join=graphs.plain("join")))
    assert set(thread.head().lost) == {"worker"}


# --- the mark -------------------------------------------------------------------------------------


def test_the_mark_changes_whenever_something_is_saved() -> None:
    thread = Thread(graphs.twice)
    marks = [thread.head().mark, thread.invoke({}).mark]
    head = thread.head()
    marks.append(thread.invoke(thread.answer(head, 1)).mark)
    head = thread.head()
    marks.append(thread.invoke(thread.answer(head, 2)).mark)
    assert len(set(marks)) == len(marks)
    assert thread.head().mark == marks[-1]


def test_asking_again_for_the_same_thing_leaves_the_mark() -> None:
    thread = Thread(graphs.ask)
    mark = thread.invoke({}).mark
    assert thread.invoke().mark == mark
