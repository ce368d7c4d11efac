"""Graphs of every shape that a driver meets, and a record of which of their code ran.

Every node calls `reach("place")`: it writes one line to the file RECORD, which survives a kill, and
then does whatever a test has put into HOOKS for that place (raise, sleep, die).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from operator import add
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypedDict

from langgraph.config import get_config
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt

import approvals

RECORD: Path | None = None
"""Where visits are written; None: nowhere."""
HOOKS: dict[str, Callable[[], object]] = {}
"""What happens at a place, besides that the visit is written down."""


def reach(place: str) -> None:
    """Note that this code runs now, for the run that it runs for."""
    if RECORD is not None:
        line = f"{get_config()['configurable']['thread_id']} {place}\n"
        file = os.open(RECORD, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, line.encode())
        finally:
            os.close(file)
    if hook := HOOKS.get(place):
        hook()


def visits(run_id: object) -> list[str]:
    """The places that code of this run has reached, in order."""
    if RECORD is None or not RECORD.exists():
        return []
    lines = [line.split(" ", 1) for line in RECORD.read_text().splitlines()]
    return [place for run, place in lines if run == str(run_id)]


def person(question: object) -> Any:
    """Ask a person and return what they entered; None if they refused."""
    answer = approvals.ask(str(question))
    return answer.value if answer else None


class State(TypedDict, total=False):
    log: Annotated[list[Any], add]
    items: list[Any]
    item: Any
    count: int


Node: TypeAlias = Any  # LangGraph's many forms of a node are no help here


def plain(name: str) -> Node:
    """A node that notes that it ran, and says so in the state."""

    def node(_: State) -> State:
        reach(name)
        return {"log": [name]}

    return node


def asking(name: str, *questions: str) -> Node:
    """A node that asks one question after the other and puts the answers into the state."""

    def node(_: State) -> State:
        answers = []
        for question in questions or (name,):
            reach(f"{name}.before")
            answers.append(person(question))
            reach(f"{name}.after")
        return {"log": [[name, *answers]]}

    return node


def chain(**nodes: Any) -> Any:
    """A compiled graph of these nodes, one after the other."""
    builder = StateGraph(State)
    before = START
    for name, node in nodes.items():
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    builder.add_edge(before, END)
    return builder.compile()


line = chain(first=plain("first"), second=plain("second"), third=plain("third"))
ask = chain(before=plain("before"), gate=asking("gate"), after=plain("after"))
twice = chain(gate=asking("gate", "q1", "q2"), after=plain("after"))
gates = chain(one=asking("one"), two=asking("two"), after=plain("after"))


def _parallel() -> Any:
    builder = StateGraph(State)
    for name in ("left", "right"):
        builder.add_node(name, asking(name))
        builder.add_edge(START, name)
    builder.add_node("quiet", plain("quiet"))
    builder.add_edge(START, "quiet")
    builder.add_node("join", plain("join"))
    builder.add_edge(["left", "right", "quiet"], "join")
    return builder.compile()


parallel = _parallel()
child = chain(inner=plain("inner"), gate=asking("gate", "q1", "q2"))
nested = chain(before=plain("before"), child=child, after=plain("after"))


def _hidden() -> Any:
    """A node builds a graph and calls it, so that LangGraph does not know of it.

    The graph asks twice by a bare `interrupt()`, which does not notice the answer to the other one.
    """

    def gate(_: State) -> State:
        return {"log": [[interrupt(question) for question in ("q1", "q2")]]}

    def node(_: State) -> State:
        called: State = chain(gate=gate).invoke({})
        return called

    return chain(node=node, after=plain("after"))


hidden = _hidden()


def _router() -> Any:
    def route(state: State) -> str:
        reach("route")
        return "pay" if state["log"][-1] == ["gate", "yes"] else "skip"

    builder = StateGraph(State)
    builder.add_node("gate", asking("gate"))
    builder.add_node("pay", plain("pay"))
    builder.add_node("skip", plain("skip"))
    builder.add_edge(START, "gate")
    builder.add_conditional_edges("gate", route, ["pay", "skip"])
    return builder.compile()


router = _router()


def _fan() -> Any:
    def spread(state: State) -> list[Send]:
        return [Send("worker", {"item": item}) for item in state["items"]]

    def worker(state: State) -> State:
        reach(f"worker.{state['item']}.before")
        answer = person(state["item"])
        reach(f"worker.{state['item']}.after")
        return {"log": [[state["item"], answer]]}

    builder = StateGraph(State)
    builder.add_node("spread", plain("spread"))
    builder.add_node("worker", worker)
    builder.add_node("join", plain("join"))
    builder.add_edge(START, "spread")
    builder.add_conditional_edges("spread", spread, ["worker"])
    builder.add_edge("worker", "join")
    return builder.compile()


fan = _fan()


@task
def double(number: int) -> int:
    reach(f"double.{number}")
    return number * 2


@task
def gate(number: int) -> Any:
    reach("gate.before")
    answer = person(number)
    reach("gate.after")
    return answer


@entrypoint()
def functional(given: dict[str, Any]) -> dict[str, Any]:
    doubled = double(given["number"]).result()
    first = gate(doubled).result()
    second = person("again")
    reach("end")
    return {"doubled": doubled, "answers": [first, second]}


def _async_line() -> Any:
    async def first(_: State) -> State:
        reach("first")
        return {"log": ["first"]}

    async def gate(_: State) -> State:
        reach("gate.before")
        answer = person("gate")
        reach("gate.after")
        return {"log": [["gate", answer]]}

    return chain(first=first, gate=gate, last=plain("last"))


async_line = _async_line()


def _picky() -> Any:
    def picky(_: State) -> State:
        reach("picky.before")
        answer = person("a number")
        reach("picky.after")
        if not isinstance(answer, int):
            raise ValueError(f"{answer!r} is not a number")
        return {"log": [["picky", answer]]}

    return chain(before=plain("before"), picky=picky, after=plain("after"))


picky = _picky()


def _loop() -> Any:
    builder = StateGraph(State)
    builder.add_node("again", plain("again"))
    builder.add_edge(START, "again")
    builder.add_conditional_edges("again", lambda _: "again", ["again", END])
    return builder.compile()


loop = _loop()
