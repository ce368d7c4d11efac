"""The chain of checkpoints: what lists say of it, and one state as data."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.func import entrypoint, task
from langgraph.graph import START, StateGraph
from langgraph.types import Send, interrupt

from runs import chain, checkpoints
from runs.models import Run
from runs.trace import states
from tests.support import standing as make

TIMES = chain.TIMES


class State(TypedDict, total=False):
    log: Annotated[list[object], operator.add]


@dataclass
class Draft:
    cents: int


def step(*written: object):
    def node(_: State) -> State:
        return {"log": [*written] or ["done"]}

    return node


def line(*names: str, **nodes):
    """A graph of these nodes, one after the other."""
    builder = StateGraph(State)
    for name in names:
        builder.add_node(name, nodes.get(name, step()))
    for before, after in zip((START, *names), names, strict=False):
        builder.add_edge(before, after)
    return builder.compile()


def asks(_: State) -> State:
    return {"log": [interrupt({"amount": 5})]}


@pytest.fixture
def saved(transactional_db):
    """A run of the graph, as far as it goes."""

    def saved(graph, given=None):
        run = make.run()
        bound = graph.copy(update={"checkpointer": PostgresSaver(checkpoints.pool())})
        config = {
            "configurable": {"thread_id": str(run.pk)},
            "metadata": {"run_id": str(run.pk), "fence": 7},
        }
        bound.invoke(given or {"log": []}, config, durability="sync")
        return run

    return saved


def read(run: Run, checkpoint_id: str) -> Any:
    state = states.load(run.pk, checkpoint_id)
    assert state is not None
    return state


def nodes(run: Run) -> list[str]:
    return [row.nodes for row in chain.page(run.pk).rows]


def test_rows_say_what_ran_from_each_checkpoint(saved) -> None:
    assert nodes(saved(line("load", "assess"))) == ["input", "load", "assess", ""]


def test_the_newest_row_says_what_is_to_run(saved) -> None:
    run = saved(line("load", "gate", gate=asks))
    assert nodes(run) == ["input", "load", "gate"]
    assert [row.asked for row in chain.page(run.pk).rows] == [False, False, True]
    assert chain.tips([run.pk])[run.pk].nodes == "gate"


def test_nodes_that_ran_at_once_stand_together(saved) -> None:
    builder = StateGraph(State)
    for name in "abcd":
        builder.add_node(name, step())
    builder.add_edge(START, "a")
    builder.add_edge("a", "b")
    builder.add_edge("a", "c")
    builder.add_edge(["b", "c"], "d")
    assert nodes(saved(builder.compile())) == ["input", "a", "b, c", "d", ""]


def test_nodes_that_were_sent_to_are_counted(saved) -> None:
    builder = StateGraph(State)
    builder.add_node("plan", step())
    builder.add_node("work", step())
    builder.add_edge(START, "plan")
    builder.add_conditional_edges("plan", lambda _: [Send("work", {})] * 3, ["work"])
    assert nodes(saved(builder.compile())) == ["input", "plan", f"work {TIMES}3", ""]


def test_a_workflow_is_one_step_of_its_own_name(saved) -> None:
    @task
    def double(number: int) -> int:
        return number * 2

    @entrypoint()
    def workflow(given: dict[str, int]) -> int:
        return double(given["n"]).result()

    assert nodes(saved(workflow, {"n": 2})) == ["workflow", ""]


def test_a_subgraph_has_a_chain_of_its_own_under_its_name(saved) -> None:
    run = saved(line("load", "child", child=line("x", "gate", gate=asks)))
    below = [row for row in chain.page(run.pk).rows if row.ns]
    assert {row.subgraph for row in below} == {"child"}
    assert [row.nodes for row in below] == ["input", "x", "gate"]


def test_rows_know_the_attempt_that_saved_them(saved) -> None:
    assert {row.fence for row in chain.page(saved(line("a")).pk).rows} == {7}


@pytest.mark.parametrize(
    ("updated", "paths", "done", "said"),
    [
        (["branch:to:a"], [], False, "a"),
        (["branch:to:b", "branch:to:a"], ["~__pregel_pull, b"], False, "a, b"),
        (["join:a+b:c"], [], False, "c"),
        (["branch:to:x", "join:a+b:c"], [], False, "x"),
        (["branch:to:x"], ["~__pregel_pull, y"], True, "y"),
        (["__pregel_tasks"], [], False, "parallel tasks"),
        (["__start__"], [], False, "input"),
        (["log"], [], True, ""),
        ([], ["~__pregel_push, ~__pregel_pull, flow, 0000000000, 0000000001"], True, ""),
    ],
)
def test_names_are_told_from_channels_and_paths(updated, paths, done, said) -> None:
    found = chain.names(updated=updated, paths=paths, pushed=[], done=done)
    assert chain.line(found) == said


# --- pages ----------------------------------------------------------------------------------------


@pytest.fixture
def seven(db) -> Run:
    run = make.run()
    for number in range(7):
        make.checkpoint(
            run, number, at=make.ago(minutes=10 - number), updated=[f"branch:to:n{number}"]
        )
    return run


@pytest.mark.django_db
def test_a_page_has_the_newest_and_says_what_came_before(seven) -> None:
    page = chain.page(seven.pk, limit=3)
    assert [row.step for row in page.rows] == [3, 4, 5]
    assert page.before is not None
    assert page.before.step == 2
    assert page.newest


@pytest.mark.django_db
def test_older_pages_go_on_where_the_newer_began(seven) -> None:
    newest = chain.page(seven.pk, limit=3)
    older = chain.page(seven.pk, before=newest.rows[0].id, limit=3)
    assert [row.step for row in older.rows] == [0, 1, 2]
    assert older.until == newest.rows[0].at
    last = chain.page(seven.pk, before=older.rows[0].id, limit=3)
    assert ([row.step for row in last.rows], last.before) == ([-1], None)


@pytest.mark.django_db
def test_an_unknown_checkpoint_pages_from_the_newest(seven) -> None:
    page = chain.page(seven.pk, before="gone", limit=3)
    assert (len(page.rows), page.newest) == (3, True)


@pytest.mark.django_db
def test_a_run_without_checkpoints_has_an_empty_page() -> None:
    assert chain.page(make.run().pk).rows == ()
    assert chain.tips([]) == {}


# --- one state ------------------------------------------------------------------------------------


def test_a_state_is_plain_data_with_its_neighbours(saved) -> None:
    run = saved(line("draft", "send", draft=step(Draft(cents=5), b"\x01")))
    first, second, third, last = chain.page(run.pk).rows
    state = read(run, third.id)
    assert state.values == {"log": [{"(type)": f"{__name__}.Draft", "cents": 5}, "0x01"]}
    assert (state.parent_id, state.child_id) == (second.id, last.id)
    assert (state.ran, state.due) == ("draft", "send")
    assert (state.step, state.fence) == (1, 7)
    assert read(run, first.id).parent_id == ""


def test_a_state_holds_the_question_that_was_asked_on_it(saved) -> None:
    run = saved(line("gate", gate=asks))
    state = read(run, chain.tips([run.pk])[run.pk].id)
    assert [(each.node, each.channel, each.value[0]["value"]) for each in state.pending] == [
        ("gate", "__interrupt__", {"amount": 5})
    ]


def test_a_state_of_a_subgraph_is_found_by_its_id(saved) -> None:
    run = saved(line("child", child=line("x", "gate", gate=asks)))
    below = [row for row in chain.page(run.pk).rows if row.ns]
    assert read(run, below[-1].id).ns == below[-1].ns


def test_a_checkpoint_of_another_run_is_not_there(saved) -> None:
    one, other = saved(line("a")), saved(line("a"))
    assert states.load(one.pk, chain.tips([other.pk])[other.pk].id) is None
