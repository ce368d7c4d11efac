"""Targets: an approval counts only while what it is about is as it was shown."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph
from langgraph.runtime import RunControl

from accounts import clock
from accounts.actors import Actor
from approvals import ask, details, targets
from approvals.errors import PayloadNotPlain
from approvals.models import Decision, Request
from approvals.permits import Permits
from audit import canonical
from audit.models import Entry
from ledger import registry
from ledger.tools import Idempotency, effect
from runs import admission, authority, checkpoints, driver, heads, status
from runs.heartbeat import Heart
from runs.models import Lease, Run
from tests.approvals.conftest import approve, due_in, lease_on, now, reject
from tests.support import caches
from tests.support import graphs as support

pytestmark = pytest.mark.django_db(transaction=True)
SHELL = Actor.command("test")
ORDER = {"order": 7}


class State(TypedDict, total=False):
    log: Annotated[list[Any], add]


class Shop:
    """An order whose version a node reads, and what the nodes heard."""

    def __init__(self) -> None:
        self.version = 1
        self.crash = False
        self.reads = 0

    def state(self) -> dict[str, object]:
        self.reads += 1
        return {"version": self.version}

    def gate(self, _: State) -> State:
        return self.act(ask("Refund?", **self.parts))

    async def agate(self, _: State) -> State:
        return self.act(ask("Refund?", **self.parts))

    @property
    def parts(self) -> dict[str, Any]:
        return {
            "tool": "shop.refund",
            "args": ORDER,
            "target": "Order 7",
            "fingerprint": self.state,
        }

    def act(self, answer: Any) -> State:
        self.version += 10  # what the node does changes the order itself
        if self.crash:
            self.crash = False
            raise ConnectionError("lost")
        return {"log": [[answer.decision, bool(answer)]]}


@pytest.fixture(autouse=True)
def clean(monkeypatch, transactional_db) -> Iterator[None]:
    monkeypatch.setattr(Heart, "_ensure_thread", lambda _: None)
    caches.forget()
    yield
    caches.forget()


@pytest.fixture(scope="module", autouse=True)
def connections_end(django_db_setup: None) -> Iterator[None]:
    yield
    checkpoints.close()


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def start(settings, monkeypatch):
    def start(*nodes: Any, inside: bool = False, **options: Any) -> Run:
        graph = _graph(*nodes)
        if inside:
            graph = _graph(graph)
        monkeypatch.setattr(support, "desk", graph, raising=False)
        declared = {"name": "desk", "graph": "tests.support.graphs.desk", "version": "1"}
        settings.RUNS_AGENTS = [declared | options]
        caches.forget()
        run = admission.start("desk", {}, actor=SHELL)
        drive(run)
        return run

    return start


def _graph(*nodes: Any) -> Any:
    builder = StateGraph(State)
    for number, node in enumerate(nodes):
        builder.add_node(f"n{number}", node)
        builder.add_edge(START, f"n{number}")
    return builder.compile()


def drive(run: Run) -> status.Outcome | None:
    return driver.drive(run.pk, holder="w1", cause="test")


def open_of(run: Run) -> Request:
    return Request.objects.get(run=run, status="pending")


def log_of(run: Run) -> list[Any]:
    return list((now(run).output or {}).get("log", []))


def permitted(run: Run) -> bool:
    return Permits().find(run.pk, "shop.refund", canonical.digest(ORDER)) is not None


def mine(run: Run) -> authority.Authority:
    """What a driver of this run holds."""
    return authority.Authority(
        lease=lease_on(run), agent="desk", deadline=0.0, control=RunControl()
    )


def test_an_approval_counts_while_its_target_is_as_it_was_shown(start, shop, ben):
    run = start(shop.gate)
    assert open_of(run).payload["target"] == {"name": "Order 7", "facts": {"version": 1}}
    approve(open_of(run), ben)
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [["approved", True]]


@pytest.mark.parametrize("inside", [False, True])
def test_an_approval_of_something_that_has_changed_is_asked_for_once_more(start, shop, ben, inside):
    run = start(shop.gate, inside=inside)
    first = open_of(run)
    approve(first, ben)
    shop.version = 2
    assert drive(run) is status.Outcome.WAITED
    assert log_of(run) == []
    assert not permitted(run)
    second = open_of(run)
    assert (second.round, second.changes, second.replaces) == (2, 1, first)
    assert second.payload["target"]["facts"] == {"version": 2}
    decision = Decision.objects.get()
    assert decision.delivery == "not_delivered"
    assert "changed" in decision.delivery_detail
    told = Entry.objects.get(run_id=run.pk, verb="request.target_changed")
    assert (told.data["before"]["facts"], told.data["now"]["facts"]) == (
        {"version": 1},
        {"version": 2},
    )
    approve(second, ben)
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [["approved", True]]


def test_the_page_shows_what_changed_about_the_target(start, shop, ben):
    run = start(shop.gate)
    approve(open_of(run), ben)
    shop.version = 2
    drive(run)
    detail = details.of(open_of(run).pk, ben)
    assert detail.previous is not None
    assert detail.previous.payload["target"]["facts"] == {"version": 1}
    assert detail.question.state == {"version": 2}


def test_an_answer_to_what_was_is_not_used_when_it_is_so_again(start, shop, ben):
    run = start(shop.gate)
    approve(open_of(run), ben)
    shop.version = 2
    drive(run)
    reject(open_of(run), ben)
    shop.version = 1  # as the approval saw it; the newer word is the one that counts
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [["rejected", False]]


def test_a_rejection_stands_whatever_the_target_is_like(start, shop, ben):
    run = start(shop.gate)
    reject(open_of(run), ben)
    shop.version = 2
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [["rejected", False]]


def test_what_the_run_itself_changes_asks_nobody_again(start, shop, ben, settings):
    settings.RUNS_BACKOFF = timedelta(0)
    run = start(shop.gate)
    approve(open_of(run), ben)
    shop.crash = True
    drive(run)  # acts, and fails before the step is saved
    drive(run)
    assert log_of(run) == [["approved", True]]
    assert Request.objects.count() == 1
    assert shop.version == 21


def test_a_target_that_never_stays_the_same_parks_the_run(start, shop, ben, settings):
    settings.APPROVALS_ROUNDS = 3
    run = start(shop.gate)
    for _ in range(3):
        assert now(run).status == "waiting"
        approve(open_of(run), ben)
        shop.version += 1
        drive(run)
    assert (now(run).status, now(run).park_reason) == ("parked", "payload_unstable")
    assert not Request.objects.filter(run=run, status="pending").exists()


def test_a_parallel_question_keeps_its_answer(start, shop, ben):
    other = Shop()
    run = start(shop.gate, lambda _: other.act(ask("Other?", fingerprint=other.state)))
    for request in Request.objects.filter(run=run):
        approve(request, ben)
    shop.version = 2
    drive(run)
    assert open_of(run).title == "Refund?"
    assert Decision.objects.get(request__title="Other?").delivery == "took_effect"
    approve(open_of(run), ben)
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [["approved", True]] * 2


def test_a_driver_that_dies_before_it_cuts_the_answer_loses_nothing(start, shop, ben, monkeypatch):
    class Death(BaseException):
        pass

    def die(*_: object, **__: object) -> None:
        raise Death

    run = start(shop.gate)
    first = open_of(run)
    approve(first, ben)
    shop.version = 2
    with monkeypatch.context() as dying:
        dying.setattr(heads, "forget", die)
        with pytest.raises(Death):
            drive(run)
    assert not permitted(run)
    assert not Request.objects.filter(run=run, status="pending").exists()
    shop.version = 3
    Lease.objects.filter(pk=run.pk).update(expires_at=clock.now() - timedelta(seconds=1))
    drive(run)
    assert open_of(run).payload["target"]["facts"] == {"version": 3}
    with authority.using(mine(run)):  # what was given up is not taken up again
        assert not targets.still_good(first.digest, before={}, now={})


def test_an_async_node_asks_again_as_well(start, shop, ben):
    run = start(shop.agate)
    approve(open_of(run), ben)
    shop.version = 2
    drive(run)
    approve(open_of(run), ben)
    assert drive(run) is status.Outcome.FINISHED
    assert log_of(run) == [["approved", True]]


def test_the_tool_says_itself_how_its_target_is_told(start, shop, ben, monkeypatch):
    monkeypatch.setattr(registry, "_tools", dict(registry._tools))
    read: list[object] = []

    def state(order: int) -> dict[str, object]:
        read.append(order)
        return {"version": shop.version}

    @effect("shop.refund", idempotency=Idempotency.LEDGER, fingerprint=state)
    def refund(order: int) -> object:
        raise AssertionError("not called")

    run = start(lambda _: shop.act(ask("Refund?", tool="shop.refund", args=ORDER)))
    assert open_of(run).payload["target"] == {"name": "", "facts": {"version": 1}}
    approve(open_of(run), ben)
    shop.version = 2
    assert drive(run) is status.Outcome.WAITED
    assert set(read) == {7}


@pytest.mark.parametrize(
    "parts",
    [
        {"fingerprint": {"at": object()}},
        {"fingerprint": {"word": "a\x00b"}},
        {"fingerprint": [1]},
        {"fingerprint": lambda: 3},
        {"target": 7},
        {"target": "x" * 301},
    ],
)
def test_a_fingerprint_that_cannot_be_compared_is_refused(parts):
    with pytest.raises(PayloadNotPlain):
        ask("Refund?", **parts)


def test_an_approval_in_time_that_was_not_used_leaves_time_for_the_next(start, shop, ben):
    run = start(shop.gate)
    first = open_of(run)
    approve(first, ben)
    due_in(first, timedelta(seconds=-1))
    shop.version = 2
    drive(run)
    assert open_of(run).deadline - first.deadline > timedelta(minutes=30)
