"""Hands of the ledger tests: a provider, drivers made by hand, and a clock that can be moved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import TransactionTestCase
from langgraph.runtime import RunControl

from accounts import clock
from accounts.actors import Actor
from audit.models import ClockTimestamp
from ledger import keys, registry
from ledger.models import Effect, EffectAttempt
from runs import authority, dispatch, killpoints
from runs.authority import Authority
from runs.models import Lease, Run
from tests.ledger.provider import Provider, Tools, tools
from tests.support import flush
from tests.support.people import person

STEP: ContextVar[str] = ContextVar("step", default="node@task")


class NoPermits:
    """Nobody has approved anything."""

    def find(self, run_id: UUID, tool: str, args_hash: str) -> UUID | None:
        return None


class SomePermits:
    """What was approved, as (tool, hash of the arguments) -> decisions."""

    approved: dict[tuple[str, str], list[UUID]] = {}  # noqa: RUF012 (cleared by the fixture)
    reuses = False

    def find(self, run_id: UUID, tool: str, args_hash: str) -> UUID | None:
        for decision in self.approved.get((tool, args_hash), []):
            if self.reuses or not Effect.objects.filter(permit=decision).exists():
                return decision
        return None


@pytest.fixture
def no_flush(monkeypatch) -> None:
    monkeypatch.setattr(TransactionTestCase, "_fixture_teardown", lambda self: None)


@pytest.fixture(autouse=True)
def database(no_flush: None, transactional_db: None) -> Iterator[None]:
    """Real transactions, and afterwards only what was made is taken away."""
    yield
    flush.empty()


@pytest.fixture(autouse=True)
def quick(settings, database: None, monkeypatch) -> Iterator[None]:
    settings.LEDGER_BACKOFF = timedelta(milliseconds=10)
    settings.RUNS_BACKOFF_CAP = timedelta(seconds=300)
    settings.LEDGER_PERMITS = "tests.ledger.conftest.SomePermits"
    settings.LEDGER_TRIES = 3
    settings.LEDGER_REFUSALS = 3
    SomePermits.approved = {}
    SomePermits.reuses = False
    monkeypatch.setattr(registry, "_tools", dict(registry._tools))
    real = keys._step

    def step(tool_call_id: str | None) -> str | None:
        if STEP.get() == "real":
            return real(tool_call_id)
        call = "" if tool_call_id is None else keys._short(tool_call_id, keys.LONGEST_PART)
        return f"{STEP.get()}/{call}".rstrip("/")

    monkeypatch.setattr(keys, "_step", step)
    yield
    killpoints.install(None)


@pytest.fixture
def real_steps() -> Iterator[None]:
    """Keys are taken from the graph that runs, not from `Driver.__call__`."""
    token = STEP.set("real")
    yield
    STEP.reset(token)


@pytest.fixture(autouse=True)
def rung(monkeypatch) -> list[UUID]:
    """The runs for which somebody was rung."""
    heard: list[UUID] = []

    def ring_now(run_id: UUID, *, cause: str, to: str = "") -> bool:
        heard.append(run_id)
        return True

    monkeypatch.setattr(dispatch, "ring_now", ring_now)
    monkeypatch.setattr(dispatch, "call_now", lambda task: True)
    return heard


@pytest.fixture
def world() -> Provider:
    return Provider()


@pytest.fixture
def t(world: Provider) -> Tools:
    return tools(world)


@dataclass(slots=True)
class Driver:
    """Somebody who drives a run: a lease, and what nodes see of it."""

    run: Run
    authority: Authority
    steps: int = field(default=0)

    def __call__(self, call: Callable[[], Any], step: str = "node@task") -> Any:
        """Run code as a node of this driver does."""
        token = STEP.set(step)
        try:
            with authority.using(self.authority):
                return call()
        finally:
            STEP.reset(token)

    @property
    def fence(self) -> int:
        return self.authority.lease.fence


def take_over(run: Run, holder: str = "") -> Driver:
    """A new driver, whatever the former one does."""
    lease = Lease.objects.get(pk=run.pk)
    fence = lease.fence + 1
    Lease.objects.filter(pk=run.pk).update(
        fence=fence,
        holder=holder or f"w{fence}",
        expires_at=clock.now() + timedelta(seconds=30),
        renewed_at=ClockTimestamp(),
    )
    mine = authority.Lease(run_id=run.pk, fence=fence, holder=holder or f"w{fence}")
    return Driver(
        run=run,
        authority=Authority(
            lease=mine,
            agent=run.agent,
            deadline=time.monotonic() + 27,
            control=RunControl(),
        ),
    )


@pytest.fixture
def run() -> Run:
    return make_run()


def make_run(agent: str = "desk") -> Run:
    run = Run.objects.create(
        agent=agent, agent_version="1", title="A run", input={}, status="running", starter="test"
    )
    Lease.objects.create(run=run)
    return run


@pytest.fixture
def driver(run: Run) -> Driver:
    return take_over(run)


def pass_time(run: Run, by: timedelta) -> None:
    """Let so much time have passed for the run's effects and their calls (not for its lease)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE effects SET first_started_at = first_started_at - %(by)s,"
            " retry_at = retry_at - %(by)s, created_at = created_at - %(by)s"
            " WHERE run_id = %(run)s",
            {"by": by, "run": run.pk},
        )
        cursor.execute(
            "UPDATE ledger_effectattempt SET started_at = started_at - %(by)s,"
            " timeout_at = timeout_at - %(by)s, ended_at = ended_at - %(by)s"
            " WHERE idempotency_key IN"
            " (SELECT idempotency_key FROM effects WHERE run_id = %(run)s)",
            {"by": by, "run": run.pk},
        )


class Died(BaseException):
    """The process died here."""


@contextmanager
def dying_at(place: str) -> Iterator[None]:
    """Let the thread that reaches this place die, as if its process was killed."""

    def hook(name: str, run_id: str) -> None:
        if name == place:
            raise Died

    killpoints.install(hook)
    try:
        with pytest.raises(Died):
            yield
    finally:
        killpoints.install(None)


def effect_of(run: Run, tool: str = "") -> Effect:
    found = Effect.objects.filter(run=run)
    return found.get(tool=tool) if tool else found.get()


def calls_of(effect: Effect) -> list[EffectAttempt]:
    return list(effect.calls.order_by("number"))


def outcomes_of(effect: Effect) -> list[str]:
    return [call.outcome for call in calls_of(effect)]


def fresh_actor(name: str) -> Actor:
    """A person who has just signed in."""
    return Actor.person(person(name), entry="page", authenticated_at=clock.now(), method="password")


def wakes_of(run: Run) -> int:
    return Run.objects.values_list("wakes", flat=True).get(pk=run.pk)


def a_decision() -> UUID:
    return uuid4()


@pytest.fixture
def as_ada(client):
    client.force_login(person("Ada"))
    return client
