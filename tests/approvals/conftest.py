"""Hands of the approvals tests: people of finance, runs that wait, verdicts, and races."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection, connections, transaction
from django.test import Client

from accounts import clock
from accounts.actors import Actor
from accounts.models import User
from approvals import decisions, opening
from approvals.decisions import Outcome
from approvals.models import Request
from audit import canonical
from audit.models import Entry
from ledger.models import Effect
from runs import authority, dispatch, killpoints, status
from runs.askers import Asker, Pending
from runs.heads import Head
from runs.models import Lease, Run
from tests.support.people import person

REFUND = {"order": 7, "cents": 12_000}


@pytest.fixture(autouse=True)
def policies(settings) -> None:
    """Finance decides about refunds, somebody else than the requester, within an hour."""
    settings.APPROVALS_POLICIES = []
    settings.APPROVALS_DEFAULT = {
        "name": "default",
        "group": "finance",
        "deadline": timedelta(hours=1),
    }


@pytest.fixture
def rule(settings) -> Callable[..., None]:
    """Change the policy in force."""

    def rule(**changes: object) -> None:
        settings.APPROVALS_DEFAULT = settings.APPROVALS_DEFAULT | changes

    return rule


@pytest.fixture(autouse=True)
def bells(monkeypatch) -> list[tuple[UUID, str]]:
    """Who was rung for, instead of the broker being asked."""
    heard: list[tuple[UUID, str]] = []

    def ring_now(run_id: UUID, *, cause: str, to: str = "") -> bool:
        heard.append((run_id, cause))
        return True

    monkeypatch.setattr(dispatch, "ring_now", ring_now)
    monkeypatch.setattr(dispatch, "call_now", lambda task: True)
    return heard


@pytest.fixture(autouse=True)
def no_hook_is_left() -> Iterator[None]:
    yield
    killpoints.install(None)


@pytest.fixture
def ada(db: None) -> User:
    """Operates; started the runs of these tests, and is of finance as well."""
    return person("Ada", "finance", "approver")


@pytest.fixture
def ben(db: None) -> User:
    return person("Ben", "finance")


@pytest.fixture
def as_ben(client: Client, ben: User) -> Client:
    """A browser in which Ben is signed in."""
    client.force_login(ben)
    return client


@pytest.fixture
def eve(db: None) -> User:
    return person("Eve", "finance", "approver")


# --- runs that wait -------------------------------------------------------------------------------


def ours(question: str = "Refund order 7?", **parts: object) -> dict[str, object]:
    """What `approvals.ask` raises."""
    body = {
        "signalbox": 1,
        "question": question,
        "tool": "payments.refund",
        "args": REFUND,
        "facts": {},
        "why": "",
    } | parts
    return {**body, "digest": canonical.fingerprint(body)}


def pending(
    value: object,
    name: str = "q",
    *,
    task: str = "t",
    held: int = 0,
    at: str = "c1",
    node: str = "gate",
) -> Pending:
    return Pending(
        interrupt_id=name,
        value=value,
        node=node,
        task_id=task,
        askers=(Asker("", at, task, held),),
    )


def head(*asked: Pending, at: str = "c1", held: int | None = None) -> Head:
    """A head on which these interrupts are pending; LangGraph holds `held` answers for each."""
    return Head(
        exists=True,
        checkpoint_id=at,
        pending={each.interrupt_id: each for each in asked},
        held={
            (asker.ns, asker.checkpoint_id, asker.task_id): asker.held if held is None else held
            for each in asked
            for asker in each.askers
        },
        open_step=bool(asked),
    )


@pytest.fixture
def waiting_run(ada: User) -> Callable[..., Run]:
    """A run of Ada's that waits, with a free lease that has been taken once."""

    def waiting_run(**fields: object) -> Run:
        given = {"agent": "refund_desk", "agent_version": "1", "title": "Refund", "input": {}}
        run = Run.objects.create(
            **given
            | {"status": status.Status.WAITING, "started_by": ada, "starter": ada.label}
            | fields
        )
        Lease.objects.create(run=run, fence=1)
        return run

    return waiting_run


@pytest.fixture
def asked(waiting_run) -> Callable[..., Any]:
    """An open request of a run that waits, opened as the driver opens it."""

    def asked(value: object = None, *, run: Run | None = None, **fields: object) -> Any:
        return ask(run or waiting_run(**fields), pending(ours() if value is None else value))

    return asked


def ask(run: Run, *questions: Pending, at: str = "c1") -> Any:
    """Open what the head asks, as the driver does, and return the last open request."""
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        opening.open(locked, head(*questions, at=at))
    return Request.objects.filter(run=run, status="pending").order_by("round", "pk").last()


def lease_on(run: Run) -> authority.Lease:
    """A live lease on the run, as a driver holds it."""
    Lease.objects.filter(pk=run.pk).update(expires_at=clock.now() + timedelta(minutes=1))
    return authority.Lease(run_id=run.pk, fence=Lease.objects.get(pk=run.pk).fence, holder="w")


# --- verdicts -------------------------------------------------------------------------------------


def of(user: User, **more: Any) -> Actor:
    """`user`, signed in on a page a moment ago."""
    return Actor.person(user, entry="page", **more)


def give(verdict: str, request: Request, by: User | Actor, **more: Any) -> Outcome:
    """A verdict on the request as it is shown, from a form of its own."""
    sent = {"seen_digest": request.digest, "token": uuid4().hex, "comment": "because"} | more
    actor = by if isinstance(by, Actor) else of(by)
    return decisions.decide(request.pk, actor=actor, verdict=verdict, **sent)


def approve(request: Request, by: User | Actor, **more: Any) -> Outcome:
    return give("approved", request, by, **more)


def reject(request: Request, by: User | Actor, **more: Any) -> Outcome:
    return give("rejected", request, by, **more)


def due_in(request: Request, delay: timedelta) -> datetime:
    """Move the deadline to this long from now, by the database's clock."""
    request.deadline = clock.now() + delay
    Request.objects.filter(pk=request.pk).update(deadline=request.deadline)
    return request.deadline


def effect(run: Run, *, args_hash: str, **fields: Any) -> Effect:
    """An effect of the tool that `ours` names."""
    key = uuid4().hex
    given: dict[str, Any] = {"step": "s", "tool": "payments.refund", "args": REFUND}
    given |= {"idempotency_key": key, "provider_key": key, "idempotency": "provider", "fence": 1}
    return Effect.objects.create(run=run, args_hash=args_hash, **given | fields)


def now(row: Any) -> Any:
    """The same row as the database has it now."""
    return type(row).objects.get(pk=row.pk)


def entries(request: Request, verb: str) -> list[Entry]:
    return list(Entry.objects.filter(target_id=str(request.pk), verb=verb).order_by("pk"))


# --- races ----------------------------------------------------------------------------------------


def together(*acts: Callable[[], object]) -> list[Any]:
    """Let each act start at the same moment, on a connection of its own.

    Returns what they returned or raised, in the given order.
    """
    with racing(len(acts)) as go:
        return go(*acts)


@contextmanager
def racing(count: int) -> Iterator[Callable[..., list[Any]]]:
    """Like `together`, for many races in a row: `count` threads that keep their connections."""
    barrier = threading.Barrier(count, timeout=30)

    def run(act: Callable[[], object]) -> object:
        connection.ensure_connection()
        barrier.wait()
        try:
            return act()
        except Exception as exc:
            return exc

    def go(*acts: Callable[[], object]) -> list[Any]:
        assert len(acts) == count
        return list(pool.map(run, acts, timeout=60))

    with ThreadPoolExecutor(count, thread_name_prefix="racer") as pool:
        try:
            yield go
        finally:
            go(*[connections.close_all] * count)


class Handicap:
    """Has each racer win some of many races, on any machine: who has won starts later."""

    STEP = 0.002
    """Seconds by which the one who won starts later the next time."""

    def __init__(self, count: int = 2) -> None:
        self.late = [0.0] * count

    def __call__(self, *acts: Callable[[], object]) -> list[Callable[[], object]]:
        return [partial(self._after, late, act) for late, act in zip(self.late, acts, strict=True)]

    def won(self, winner: int) -> None:
        """Of two."""
        self.lost(1 - winner)

    def lost(self, loser: int) -> None:
        back = min(self.STEP, self.late[loser])
        self.late[loser] -= back
        for each in range(len(self.late)):
            if each != loser:
                self.late[each] += self.STEP - back

    @staticmethod
    def _after(late: float, act: Callable[[], object]) -> object:
        time.sleep(late)
        return act()
