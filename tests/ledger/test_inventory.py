"""The inventory: what is known of every tool, and tools that declare nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from ledger import errors
from ledger.inventory import boxes, findings, listing
from ledger.inventory.known import Kind, Known
from ledger.models import Effect, Stop, Toolbox
from ledger.status import Status
from runs.models import Run, Worker
from runs.status import Status as RunStatus
from signalbox import celery, doctor
from tests.support import caches
from tests.support import standing as make
from tests.support.people import person
from tests.support.web import text_of

WEEK = timedelta(days=7)


@pytest.fixture
def registered(settings) -> Iterator[Any]:
    def registered(*names: str) -> None:
        settings.RUNS_AGENTS = [
            {"name": name, "graph": f"tests.ledger.bound.{name}", "version": "1"} for name in names
        ]
        caches.forget()

    yield registered
    caches.forget()


def by_name(found: tuple[Known, ...]) -> dict[str, Known]:
    return {each.name.strip(): each for each in found}


def worker(name: str, *tools: Known) -> None:
    Worker.objects.create(name=name, hostname="here", pid=1, agents={"well": "1"})
    boxes.announce(name, tools)


def effect(tool: str, status: str = Status.SENT, run: Run | None = None, **fields: Any) -> Effect:
    key = uuid4().hex
    run = run or make.run(status=RunStatus.SUCCEEDED)
    usual: dict[str, Any] = {"idempotency": "provider", "args": {}, "args_hash": key, "fence": 1}
    usual |= {"idempotency_key": key, "provider_key": key, "step": f"node@{key}"}
    return Effect.objects.create(run=run, tool=tool, status=status, **usual | fields)


# --- what is found in real graphs -----------------------------------------------------------------


def test_declared_tools_are_told_with_what_they_declare(registered) -> None:
    registered("well")
    found = by_name(findings.survey())
    pay = found["bound.pay"]
    assert (pay.kind, pay.idempotency, pay.window) == (Kind.EFFECT, "provider", 86400.0)
    assert (pay.does, pay.permit, pay.agents) == ("Pay for an order.", "always", ("well",))
    assert (found["bound.tell"].kind, found["bound.tell"].agents) == (Kind.EFFECT, ("well",))
    assert (found["bound.look"].kind, found["bound.look"].agents) == (Kind.READS, ("well",))
    assert findings.undeclared(findings.survey()) == []


def test_a_tool_that_calls_a_declared_one_says_through_which(registered) -> None:
    registered("well")
    thin = by_name(findings.survey())["thin"]
    assert (thin.kind, thin.through) == (Kind.THROUGH, ("bound.pay",))


def test_a_tool_made_of_an_effect_is_that_effect(registered) -> None:
    registered("well")
    assert "tell" not in by_name(findings.survey())


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("wipe", "tests.ledger.bound.wipe"),
        ("search_web", "tests.ledger.bound.afar"),
        ("hand", "tests.ledger.bound.Hand._run"),
    ],
)
def test_a_tool_that_declares_nothing_is_a_finding(registered, name, place) -> None:
    registered("careless", "well")
    silent = by_name(tuple(findings.undeclared(findings.survey())))
    assert sorted(silent) == ["hand", "search_web", "wipe"]
    assert (silent[name].agents, silent[name].place) == (("careless",), place)


def test_it_is_found_inside_graphs_and_inside_the_code_of_nodes(registered) -> None:
    registered("nested")
    found = by_name(findings.survey())
    assert (found["wipe"].kind, found["wipe"].agents) == (Kind.UNDECLARED, ("nested",))
    assert found["bound.pay"].agents == ("nested",)


def test_tools_of_others_that_only_read_can_be_named(registered, settings) -> None:
    registered("careless")
    settings.LEDGER_READS = frozenset({"search_web"})
    found = by_name(findings.survey())
    assert found["search_web"].kind == Kind.READS
    assert found["wipe"].kind == Kind.UNDECLARED


def test_the_agents_that_come_with_signalbox_declare_everything(settings) -> None:
    caches.forget()
    found = findings.survey()
    assert findings.undeclared(found) == []
    refund = by_name(found)["payments.refund"]
    assert {"refund_desk", "refund_workflow"} <= set(refund.agents)
    assert refund.permit == "sometimes"


# --- telling of it --------------------------------------------------------------------------------


def test_a_worker_logs_each_finding_when_it_starts(registered, caplog) -> None:
    registered("careless")
    with caplog.at_level(logging.WARNING):
        findings.require(findings.survey())
    for name in ("wipe", "search_web", "hand"):
        assert f"The tool {name} of careless declares neither @effect nor @reads" in caplog.text


def test_by_policy_a_finding_keeps_a_worker_from_starting(registered, settings) -> None:
    settings.LEDGER_UNDECLARED = "refuse"
    registered("careless")
    with pytest.raises(errors.UndeclaredTools, match=r"wipe \(tests.ledger.bound.wipe\)"):
        findings.require(findings.survey())
    registered("well")
    findings.require(findings.survey())


def test_the_doctor_tells_of_it(registered) -> None:
    registered("careless")
    told = doctor._tools()
    assert not told.ok
    assert "wipe (tests.ledger.bound.wipe)" in told.says
    registered("well")
    assert doctor._tools().ok


@pytest.mark.parametrize(("queue", "told"), [("runs", True), ("sweep", False)])
def test_a_worker_that_drives_tells_of_its_tools_when_it_is_ready(
    monkeypatch, settings, queue, told
) -> None:
    over = threading.Event()
    over.set()  # it need not say again that it lives
    monkeypatch.setattr(celery, "_stopping", over)
    queues = SimpleNamespace(consume_from={queue: None})
    app = SimpleNamespace(amqp=SimpleNamespace(queues=queues))
    worker = SimpleNamespace(concurrency=2)
    celery.announce(SimpleNamespace(hostname="w@here", app=app, controller=worker))
    assert Toolbox.objects.filter(worker="w@here").exists() == told
    assert boxes.offered().knows("payments.refund") == told


# --- what workers say -----------------------------------------------------------------------------


PAY = Known(name="pay", kind=Kind.EFFECT, idempotency="provider", window=60.0, timeout=20)


def test_only_live_workers_count_and_those_that_went_are_forgotten() -> None:
    worker("old@here", PAY, Known(name="gone", kind=Kind.EFFECT, idempotency="ledger"))
    worker("new@here", PAY)
    Worker.objects.filter(name="old@here").update(seen_at=make.ago(hours=1))
    offered = boxes.offered()
    assert (list(offered.by_name), offered.live) == (["pay"], True)
    Worker.objects.filter(name="old@here").delete()
    boxes.announce("new@here", (PAY,))
    assert [box.worker for box in Toolbox.objects.all()] == ["new@here"]


def test_without_a_live_worker_what_was_said_last_is_kept() -> None:
    worker("old@here", PAY)
    Worker.objects.all().delete()
    offered = boxes.offered()
    assert (list(offered.by_name), offered.live) == (["pay"], False)


def problems() -> list[str]:
    return [problem.text for problem in listing.inventory(WEEK).problems]


def test_effects_of_a_tool_that_nobody_knows_are_a_finding() -> None:
    worker("w@here", PAY)
    effect("pay")
    assert problems() == []
    effect("old.tool", created_at=make.ago(days=90))
    assert problems() == []  # nothing wants it
    effect("old.tool", Status.PENDING, make.parked("crash_loop"), created_at=make.ago(days=90))
    assert problems() == ["The ledger has effects of old.tool, and no live worker knows it."]


def test_workers_that_do_not_agree_are_a_finding() -> None:
    worker("a@here", PAY)
    worker("b@here", Known(name="pay", kind=Kind.EFFECT, idempotency="ledger"))
    assert problems() == ["Live workers declare pay in different ways."]


def test_the_same_tool_of_two_workers_is_one_line() -> None:
    worker("a@here", PAY)
    worker("b@here", PAY)
    assert [line.name for line in listing.inventory(WEEK).lines] == ["pay"]


def test_counts_are_over_the_time_asked_for() -> None:
    worker("w@here", PAY)
    for status in (Status.SENT, Status.CONFIRMED, Status.SENT, Status.FAILED, Status.IN_DOUBT):
        effect("pay", status)
    effect("pay", Status.FAILED, created_at=make.ago(days=3))
    (line,) = listing.inventory(timedelta(days=1)).lines
    used = line.usage
    assert (used.done, used.failed, used.in_doubt, used.failure) == (3, 1, 1, 25.0)
    assert line.agents == ("refund_desk",)
    (line,) = listing.inventory(WEEK).lines
    assert line.usage.failed == 2


def test_the_number_of_queries_does_not_depend_on_how_many_tools_there_are() -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            listing.inventory(WEEK)
        return len(queries)

    worker("w@here", PAY)
    effect("pay")
    few = asked()
    more = [Known(name=f"t{n}", kind=Kind.EFFECT, idempotency="ledger") for n in range(20)]
    worker("v@here", *more)
    for each in more:
        effect(each.name)
    assert asked() == few


# --- the page -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "groups", "status"),
    [
        ("Ada", ("operator",), 200),
        ("Cy", ("auditor",), 200),
        ("Vi", ("admin",), 200),
        ("Ben", ("approver",), 403),
        ("Dee", (), 403),
    ],
)
def test_who_may_see_the_tools(client, name, groups, status) -> None:
    client.force_login(person(name, *groups))
    assert client.get(reverse("ledger:tools")).status_code == status


def test_the_page_tells_what_is_known(client, registered) -> None:
    registered("careless", "well")
    worker("w@here", *findings.survey())
    effect("bound.pay")
    effect("bound.pay", Status.IN_DOUBT)
    Stop.objects.create(scope="tool", name="bound.pay", reason="x", set_by="Ada")
    client.force_login(person("Ada", "operator"))
    text = text_of(client.get(reverse("ledger:tools") + "?days=30"))
    for said in (
        "Pay for an order.",
        "Provider knows the key",
        "key good for 1d",
        "always needs an approval",
        "Stopped",
        "1 in doubt",
        "Only reads",
        "Undeclared",
        "The tool wipe of careless declares neither @effect nor @reads",
        "Calls declared tools",
    ):
        assert said in text, said


def test_the_page_without_any_worker_says_so(client) -> None:
    client.force_login(person("Ada", "operator"))
    for days in ("", "?days=30", "?days=x", "?days=99999999999", "?days=-1"):
        response = client.get(reverse("ledger:tools") + days)
        assert response.status_code == 200
        assert "No live worker has told of its tools" in text_of(response)
