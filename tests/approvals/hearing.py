"""Graphs whose nodes write down which question they asked and which answer they got.

    twice        gate asks q1 and q2
    line         one asks q1, then two asks q2
    parallel     left asks q1, right q2
    nested       child[first asks q1 and q2, second asks q3]
    functional   @entrypoint: a @task asks q1, the body q2
    fan          a Send for each of q1, q2, q3

Input: `style`. `ask` asks by `approvals.ask`, which refuses an answer to another question; `raised`
raises the same payload by LangGraph's own `interrupt` and believes whatever comes back; `bare` asks
by a plain payload, whose answer is true or false.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import add
from typing import Annotated, Any, TypedDict
from uuid import UUID

from langgraph.config import get_config
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt

from approvals import ask
from tests.approvals.conftest import ours

STYLES = ("ask", "raised", "bare")


@dataclass(slots=True)
class Ears:
    """What the nodes of this process heard, and what goes wrong with them."""

    heard: list[tuple[UUID, str, Any]] = field(default_factory=list)
    """Run, question, answer: [verdict, value], or true or false. In order."""
    trips: dict[str, Exception] = field(default_factory=dict)
    """Raised once, by the node that has just taken the answer to this question."""
    tripped: list[tuple[UUID, str]] = field(default_factory=list)
    """Run and question, each time that happened. In order."""

    def of(self, run_id: UUID) -> dict[str, list[Any]]:
        """By question: the answers that its node got, each visit's."""
        found: dict[str, list[Any]] = {}
        for run, question, got in self.heard:
            if run == run_id:
                found.setdefault(question, []).append(got)
        return found


EARS = Ears()


def put(style: str, question: str) -> list[Any]:
    """Ask; returns the question and what was answered."""
    got = _answer(style, question)
    run_id = UUID(get_config()["configurable"]["thread_id"])
    EARS.heard.append((run_id, question, got))
    if error := EARS.trips.pop(question, None):
        EARS.tripped.append((run_id, question))
        raise error
    return [question, got]


def _answer(style: str, question: str) -> Any:
    if style == "bare":
        return interrupt({"question": question})
    if style == "ask":
        answer = ask(question)
        assert bool(answer) == (answer.decision == "approved")
        return [answer.decision, answer.value]
    given = interrupt(ours(question, tool="", args={}))
    return [given["decision"], given["value"]]


class State(TypedDict, total=False):
    style: str
    question: str
    log: Annotated[list[Any], add]


def _node(*questions: str) -> Any:
    def node(state: State) -> State:
        return {"log": [put(state["style"], question) for question in questions]}

    return node


def _row(**nodes: Any) -> Any:
    return StateGraph(State).add_sequence(list(nodes.items())).add_edge(START, next(iter(nodes)))


def _close(_: State) -> State:
    return {"log": []}


twice = _row(gate=_node("q1", "q2"), close=_close).compile()
line = _row(one=_node("q1"), two=_node("q2"), close=_close).compile()


class Outer(TypedDict, total=False):
    """The log is no sum here: the child hands back the whole of it."""

    style: str
    log: list[Any]


def _nested() -> Any:
    child = _row(first=_node("q1", "q2"), second=_node("q3")).compile()
    return StateGraph(Outer).add_node("child", child).add_edge(START, "child").compile()


nested = _nested()


def _parallel() -> Any:
    builder = StateGraph(State)
    for name, question in {"left": "q1", "right": "q2"}.items():
        builder.add_node(name, _node(question))
        builder.add_edge(START, name)
    builder.add_node("join", _node())
    builder.add_edge(["left", "right"], "join")
    return builder.compile()


parallel = _parallel()


def _fan() -> Any:
    def spread(state: State) -> list[Send]:
        style = state["style"]
        return [Send("worker", {"style": style, "question": f"q{n}"}) for n in (1, 2, 3)]

    def worker(state: State) -> State:
        return {"log": [put(state["style"], state["question"])]}

    builder = StateGraph(State)
    named: Any = worker
    builder.add_node("worker", named)
    builder.add_conditional_edges(START, spread, ["worker"])
    builder.add_edge("worker", END)
    return builder.compile()


fan = _fan()


@task
def _gate(style: str) -> Any:
    return put(style, "q1")


@entrypoint()
def functional(given: State) -> State:
    first = _gate(given["style"]).result()
    return {"log": [first, put(given["style"], "q2")]}


SHAPES = {
    "twice": ("q1", "q2"),
    "line": ("q1", "q2"),
    "parallel": ("q1", "q2"),
    "nested": ("q1", "q2", "q3"),
    "functional": ("q1", "q2"),
    "fan": ("q1", "q2", "q3"),
}
"""The questions that a run of each shape asks, whatever it is answered."""
