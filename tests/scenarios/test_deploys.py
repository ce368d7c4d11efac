"""What a deploy changes between a question and its answer, and what saved state may contain."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from django.conf import settings
from langgraph._internal import _serde
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde import _msgpack
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, StateGraph
from langgraph.types import interrupt

from approvals import ask
from approvals.models import Decision, Request
from signalbox.demo import session
from tests.runs.conftest import now
from tests.scenarios.conftest import decide, guarded, open_of, titles


@dataclass
class Order:
    number: int
    cents: int


class State(TypedDict, total=False):
    order: Order
    log: Annotated[list[Any], add]


def load(_: State) -> Any:
    return {"order": Order(7, 100)}


def gate(state: State) -> Any:
    answer = interrupt(f"Refund {state['order'].cents}?")
    return {"log": [[state["order"].number, answer]]}


def built() -> Any:
    nodes: list[Any] = [("load", load), ("gate", gate)]
    return StateGraph(State).add_sequence(nodes).add_edge(START, "load").compile()


@pytest.fixture
def strict(monkeypatch) -> None:
    """As in a process that was started with LANGGRAPH_STRICT_MSGPACK."""
    monkeypatch.setattr(_msgpack, "STRICT_MSGPACK_ENABLED", True)
    monkeypatch.setattr(_serde, "STRICT_MSGPACK_ENABLED", True)
    monkeypatch.setattr(BaseCheckpointSaver, "serde", JsonPlusSerializer())


def test_an_object_of_the_state_comes_back_as_itself_where_checkpoints_are_read_strictly(
    strict, start, drive, ben
):
    run = start("asks", graph=built())
    drive(run)
    decide(ben, open_of(run, "Refund 100?"))
    drive(run)
    assert now(run).status == "succeeded", now(run).error
    assert (now(run).output or {})["log"] == [[7, True]]


@pytest.mark.parametrize("start", ["import django; django.setup()", "import signalbox.celery"])
@pytest.mark.parametrize("said", [None, "false"])
def test_every_process_reads_checkpoints_strictly_unless_it_is_told_otherwise(start, said):
    """LangGraph looks at the variable when it is imported; settings must come before that."""
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "signalbox.settings"}
    env.pop("LANGGRAPH_STRICT_MSGPACK", None)
    asked = (
        "from langgraph.checkpoint.serde import _msgpack; print(_msgpack.STRICT_MSGPACK_ENABLED)"
    )
    done = subprocess.run(  # noqa: S603 (our own code)
        [sys.executable, "-c", f"{start}; {asked}"],
        env=env if said is None else env | {"LANGGRAPH_STRICT_MSGPACK": said},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(said is None)


def test_the_demo_leaves_that_to_nobody_else(tmp_path):
    given = session._environment(tmp_path, web=8000, provider=8940)
    assert given["LANGGRAPH_STRICT_MSGPACK"] == "true"


# --- new code while a question waits --------------------------------------------------------------


def refund(cents: int, *, before: str = "") -> Any:
    """The same agent, as each deploy has it."""

    def node(_: State) -> Any:
        if before:
            ask(before)
        args = {"order": "7", "cents": cents}
        answer = ask("Refund?", tool="scenario.guarded", args=args)
        if answer:
            guarded(order="7", cents=cents)
        return {"log": [answer.decision]}

    nodes: list[Any] = [("gate", node)]
    return StateGraph(State).add_sequence(nodes).add_edge(START, "gate").compile()


def test_an_amount_that_a_deploy_changes_is_asked_anew_before_anything_is_paid(
    start, drive, declare, ben, eve, books
):
    run = start("asks", graph=refund(1_000))
    drive(run)
    decide(ben, open_of(run))
    declare("asks", refund(1_000_000))
    drive(run)
    assert books.calls == []
    assert Decision.objects.get().delivery != "took_effect" or titles(run)
    assert now(run).status in ("waiting", "parked")
    if now(run).status == "waiting":
        assert open_of(run).payload["args"]["cents"] == 1_000_000


def test_a_question_that_a_deploy_puts_before_another_does_not_get_its_answer(
    start, drive, declare, ben, books
):
    run = start("asks", graph=refund(1_000))
    drive(run)
    decide(ben, open_of(run))
    declare("asks", refund(1_000, before="Is the customer known?"))
    drive(run)
    assert books.calls == []
    asked = set(Request.objects.filter(run=run).values_list("title", "status"))
    assert ("Is the customer known?", "approved") not in asked
    assert now(run).status in ("waiting", "parked")
