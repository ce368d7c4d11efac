"""Hands of the runs tests: agents, people, workers, a doorbell that writes down who rang."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import TransactionTestCase

from accounts.actors import Actor
from accounts.models import User
from audit.models import Entry
from ledger.models import Effect
from runs import admission, checkpoints, dispatch, driver, killpoints, registry, status
from runs import graphs as loaded
from runs.models import Attempt, Lease, Run
from tests.support import approver, caches, flush, graphs
from tests.support.people import person

SHELL = Actor.command("test")


@pytest.fixture(autouse=True)
def clean(settings, monkeypatch, tmp_path: Path) -> Iterator[None]:
    """No sweep rules of others, retries at once, and every cache as at the start."""
    settings.RUNS_SWEEP_RULES = []
    settings.RUNS_BACKOFF = timedelta(0)
    monkeypatch.setattr(graphs, "RECORD", tmp_path / "visits")
    caches.forget()
    yield
    graphs.HOOKS.clear()
    killpoints.install(None)
    caches.forget()


@pytest.fixture(scope="session", autouse=True)
def connections_end(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    """End what heartbeat threads and pools hold, or the test database could not be dropped."""
    yield
    checkpoints.close()
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def no_flush(monkeypatch) -> None:
    monkeypatch.setattr(TransactionTestCase, "_fixture_teardown", lambda self: None)


@pytest.fixture
def database(no_flush: None, transactional_db: None) -> Iterator[None]:
    """Real transactions, and afterwards only what was made is taken away."""
    yield
    flush.empty()


@pytest.fixture
def rung(monkeypatch) -> list[tuple[UUID, str, str]]:
    """Who was rung for (run, cause, to) instead of the broker being asked."""
    heard: list[tuple[UUID, str, str]] = []

    def ring_now(run_id: UUID, *, cause: str, to: str = "") -> bool:
        heard.append((run_id, cause, to))
        return True

    monkeypatch.setattr(dispatch, "ring_now", ring_now)
    return heard


@pytest.fixture
def declare(settings, monkeypatch) -> Callable[..., None]:
    """Register graphs under names, with any key of a declaration."""
    settings.RUNS_AGENTS = []

    def declare(name: str, graph: object = None, **more: Any) -> None:
        if graph is not None:
            monkeypatch.setattr(graphs, name, graph, raising=False)
        entry = {"name": name, "graph": f"tests.support.graphs.{name}", "version": "1"} | more
        others = [known for known in settings.RUNS_AGENTS if known["name"] != name]
        settings.RUNS_AGENTS = [*others, entry]
        registry.declarations.cache_clear()
        loaded.load.cache_clear()

    return declare


@pytest.fixture
def start(database: None, rung: list[Any], declare) -> Callable[..., Run]:
    """Admit a run of a graph in tests.support.graphs (or the one given), registered on the way."""

    def start(name: str, given: object = None, *, graph: object = None, **more: Any) -> Run:
        declare(name, graph, **more)
        return admission.start(name, {} if given is None else given, actor=SHELL)

    return start


@pytest.fixture
def drive() -> Callable[..., status.Outcome | None]:
    """Drive a run once, as worker `w1` unless another holder is named."""

    def drive(run: Run, holder: str = "w1", cause: str = "test") -> status.Outcome | None:
        return driver.drive(run.pk, holder=holder, cause=cause)

    return drive


def now(run: Run) -> Run:
    """The run as the database has it now."""
    return Run.objects.get(pk=run.pk)


def expire(run: Run) -> None:
    """Let the run's lease have run out a moment ago."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_lease SET expires_at = clock_timestamp() - interval '1 millisecond'"
            " WHERE run_id = %s",
            [run.pk],
        )
        assert cursor.rowcount == 1


def output(run: Run) -> Any:
    return now(run).output


def lease_of(run: Run) -> Lease:
    return Lease.objects.get(pk=run.pk)


def answer(run: Run, asked: object, value: object = None) -> None:
    """Have Ben decide a question of the run."""
    approver.answer(run.pk, str(asked), value)


def finish(run: Run, drive: Callable[..., object], **answers: object) -> Run:
    """Drive until the run rests, answering by name what is asked."""
    while (drive(run) or now(run).status == status.Status.QUEUED) and not now(run).ended:
        for question in approver.open_questions(run.pk):
            if question in answers:
                answer(run, question, answers[question])
    return now(run)


def doubt(run: Run) -> Effect:
    """An effect of the run of which nobody knows whether it happened."""
    return Effect.objects.create(
        idempotency_key=f"{run.pk}:doubt",
        run=run,
        step="node@task",
        tool="bank.pay",
        idempotency="ledger",
        args={},
        args_hash="",
        status="in_doubt",
        provider_key="k",
        fence=1,
    )


def entries(run: Run) -> list[str]:
    """What the audit log tells of the run, in order."""
    found = Entry.objects.filter(run_id=run.pk).order_by("pk")
    return [entry.verb for entry in found]


def attempts(run: Run) -> list[tuple[str, str]]:
    """How the attempts of the run ended, in order: outcome and class of the error."""
    found = Attempt.objects.filter(run=run).order_by("fence")
    return list(found.values_list("outcome", "error_class"))


def wake(run: Run) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runs_run SET wakes = wakes + 1 WHERE id = %s", [run.pk])


def checkpoints_of(run: Run) -> list[str]:
    """The ids of the run's saved checkpoints, in order."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT checkpoint_id FROM checkpoints WHERE thread_id = %s ORDER BY 1", [str(run.pk)]
        )
        return [row[0] for row in cursor.fetchall()]


@pytest.fixture
def ada(database: None) -> User:
    return person("Ada")


@pytest.fixture
def ben(database: None) -> User:
    return approver.ben()
