"""Six shapes of graphs that ask people, and what each of their runs has to go through.

    sequential   prepare → gate → close                   gate asks two questions
    parallel     (left | right | quiet) → join            left and right ask
    subgraph     before → child[inner → first → second] → after      first asks two, second one
    router       gate → pay or skip → close               gate asks, a conditional edge decides
    functional   @entrypoint: prepare, gate, body, settle           gate, a @task, and the body ask
    fan          spread → 3 workers (Send) → join        each worker asks

Each has an effect or two. Input: `number`, and `style`: `ask` asks by `approvals.ask`,
which notices that an answer belongs to another question; `bare` by LangGraph's `interrupt`, which
does not.

Some runs are driven with `invoke`, some with `ainvoke`, as the declarations in the settings say.

Outside a driven run (`live` is off) the same code notes nothing, pays nobody and never fails: that
is the straight run with which outputs are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise, zip_longest
from operator import add
from typing import Annotated, Any, TypedDict

from langgraph.config import get_config
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt

import approvals
from approvals.errors import AnswerForOtherPayload
from ledger.outcomes import Outcome
from ledger.tools import Idempotency, effect
from tests.chaos import faults, record

live = False
"""Whether this process drives."""

Given = Any  # a state, or the input of the functional graph


class State(TypedDict, total=False):
    number: int
    style: str
    item: int
    log: Annotated[list[Any], add]


# --- the effect ----------------------------------------------------------------------------------


def receipt(bill: str) -> dict[str, str]:
    return {"paid": bill}


@effect("chaos.pay", idempotency=Idempotency.PROVIDER, window=timedelta(hours=1))
def pay(run: str, bill: str, *, idempotency_key: str) -> Outcome:
    """A provider that deduplicates by key; its books are a table."""
    faults.reach("provider.before", run, (*faults.ANYWHERE, faults.Kind.LAPSE))
    record.connect().execute(
        "INSERT INTO chaos_provider (key, run, bill) VALUES (%s, %s, %s)"
        " ON CONFLICT (key) DO UPDATE SET calls = chaos_provider.calls + 1",
        (idempotency_key, run, bill),
    )
    faults.reach("provider.after", run, (*faults.ANYWHERE, faults.Kind.LAPSE))
    return Outcome.success(bill, receipt(bill))


# --- one step ------------------------------------------------------------------------------------


def step(given: Given, name: str, *questions: int, pays: bool = False) -> list[Any]:
    """Everything that a step does; returns its line of the log: what it was answered, receipt."""
    done: list[Any] = [name]
    visit = record.Visit.here(name) if live else None
    _reach(visit, "enter")
    for question, later in zip_longest(questions, questions[1:]):
        done.append(_ask(given, visit, name, question, later))
    if pays:
        bill = f"{given['number']}:{name}"
        done.append(pay(run=visit.run, bill=bill) if visit else receipt(bill))
    _reach(visit, "end")
    if visit:
        visit.note("leave")
    return done


def _ask(
    given: Given, visit: record.Visit | None, name: str, question: int, later: int | None
) -> Any:
    words = spelled(given["number"], name, question)
    if visit:
        visit.note("asked", words)
    if given["style"] == "bare":
        got = interrupt({"question": words})
    else:
        try:
            answer = approvals.ask(words)
        except AnswerForOtherPayload:
            if visit:
                visit.note("mixed up", words)
            raise
        got = [answer.decision, answer.value, answer.comment]
    if visit:
        visit.note("answer", [words, got])
        fresh = later is None or not _was_asked(visit, spelled(given["number"], name, later))
        # An answer that the next question has been built on cannot be refused any more.
        kinds = faults.AFTER_AN_ANSWER if fresh else faults.IN_A_NODE
        faults.reach(f"{name}.answered", visit.run, kinds)
    return got


def spelled(number: int, name: str, question: int) -> str:
    """The words of a question; no two questions of the harness have the same."""
    return f"{number}:{name}:{question}"


def _reach(visit: record.Visit | None, event: str) -> None:
    if visit:
        if event == "enter":
            visit.note("enter")
        faults.reach(f"{visit.step}.{event}", visit.run, faults.IN_A_NODE)


def _was_asked(visit: record.Visit, words: str) -> bool:
    found = record.connect().execute(
        "SELECT EXISTS (SELECT FROM chaos_seen WHERE run = %s AND event = 'asked'"
        " AND value = to_jsonb(%s::text)) AS found",
        (visit.run, words),
    )
    row = found.fetchone()
    return bool(row and row["found"])


def approved(got: Any) -> bool:
    return got is True or (isinstance(got, list) and got[0] == "approved")


def _node(name: str, *questions: int, pays: bool = False) -> Any:
    def node(state: State) -> State:
        return {"log": [step(state, name, *questions, pays=pays)]}

    return node


# --- the shapes ----------------------------------------------------------------------------------


def _chain(**nodes: Any) -> Any:
    builder = StateGraph(State)
    for name, node in nodes.items():
        builder.add_node(name, node)
    names = [START, *nodes, END]
    for before, after in pairwise(names):
        builder.add_edge(before, after)
    return builder.compile()


sequential = _chain(
    prepare=_node("prepare"),
    gate=_node("gate", 0, 1, pays=True),
    close=_node("close", pays=True),
)


def _parallel() -> Any:
    builder = StateGraph(State)
    for name, questions in {"left": (0,), "right": (1,), "quiet": ()}.items():
        builder.add_node(name, _node(name, *questions))
        builder.add_edge(START, name)
    builder.add_node("join", _node("join", pays=True))
    builder.add_edge(["left", "right", "quiet"], "join")
    return builder.compile()


parallel = _parallel()

_child = _chain(
    inner=_node("inner"), first=_node("first", 0, 1), second=_node("second", 2, pays=True)
)


class Outer(TypedDict, total=False):
    """The log is no sum here: the child hands back the whole of it."""

    number: int
    style: str
    log: list[Any]


def _subgraph() -> Any:
    def outer(name: str) -> Any:
        def node(state: Outer) -> Outer:
            return {"log": [*state.get("log", []), step(state, name, pays=True)]}

        return node

    builder = StateGraph(Outer)
    builder.add_sequence(
        [("before", outer("before")), ("child", _child), ("after", outer("after"))]
    )
    builder.add_edge(START, "before")
    builder.add_edge("after", END)
    return builder.compile()


subgraph = _subgraph()


def _router() -> Any:
    def route(state: State) -> str:
        if live:
            run = str(get_config()["configurable"]["thread_id"])
            faults.reach("route", run, faults.IN_A_NODE)
        return "pay" if approved(state["log"][-1][1]) else "skip"

    builder = StateGraph(State)
    builder.add_node("gate", _node("gate", 0))
    builder.add_node("pay", _node("pay", 1, pays=True))
    builder.add_node("skip", _node("skip"))
    builder.add_node("close", _node("close"))
    builder.add_edge(START, "gate")
    builder.add_conditional_edges("gate", route, ["pay", "skip"])
    builder.add_edge("pay", "close")
    builder.add_edge("skip", "close")
    return builder.compile()


router = _router()


def _task(name: str, *questions: int, pays: bool = False) -> Any:
    named: Any = task(name=name)
    return named(lambda given: step(given, name, *questions, pays=pays))


_prepare = _task("prepare", pays=True)
"""Pays in the very first step, which LangGraph begins before the first checkpoint is saved."""
_gate, _settle = _task("gate", 0), _task("settle", pays=True)


@entrypoint()
def functional(given: Given) -> Any:
    log = [_prepare(given).result(), _gate(given).result()]
    log.append(step(given, "body", 1))
    return {"log": [*log, _settle(given).result()]}


ITEMS = 3


def _fan() -> Any:
    def spread(state: State) -> list[Send]:
        if live:
            run = str(get_config()["configurable"]["thread_id"])
            faults.reach("spread.edge", run, faults.IN_A_NODE)
        given = {"number": state["number"], "style": state["style"]}
        return [Send("worker", {**given, "item": item}) for item in range(ITEMS)]

    def worker(state: State) -> State:
        return {"log": [step(state, f"worker{state['item']}", state["item"])]}

    builder = StateGraph(State)
    builder.add_node("spread", _node("spread"))
    builder.add_node("worker", worker)
    builder.add_node("join", _node("join", pays=True))
    builder.add_edge(START, "spread")
    builder.add_conditional_edges("spread", spread, ["worker"])
    builder.add_edge("worker", "join")
    return builder.compile()


fan = _fan()


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """What no run of a shape may leave out, whatever it is answered."""

    steps: Sequence[str]
    questions: Sequence[str]


REQUIRED = {
    "sequential": Required(steps=("prepare", "gate", "close"), questions=("gate:0", "gate:1")),
    "parallel": Required(steps=("left", "right", "quiet", "join"), questions=("left:0", "right:1")),
    "subgraph": Required(
        steps=("before", "inner", "first", "second", "after"),
        questions=("first:0", "first:1", "second:2"),
    ),
    "router": Required(steps=("gate", "close"), questions=("gate:0",)),
    "functional": Required(
        steps=("prepare", "gate", "body", "settle"), questions=("gate:0", "body:1")
    ),
    "fan": Required(
        steps=("spread", "worker0", "worker1", "worker2", "join"),
        questions=("worker0:0", "worker1:1", "worker2:2"),
    ),
}
