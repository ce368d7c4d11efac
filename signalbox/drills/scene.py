"""The scene of all drills: services, tables, people, provider, workers; started once, thrown away.

Workers are Celery's own, in processes of their own, with real beat. What a drill kills are the
children of their pools, and Celery replaces them.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
from django.conf import settings
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connections

from accounts import groups
from accounts.models import User
from signalbox.demo import ports
from signalbox.demo.supervisor import Child, Supervisor
from signalbox.drills import arming
from signalbox.drills.apps import TABLES_THERE
from signalbox.drills.books import Books
from signalbox.drills.watch import Watch
from signalbox.embedded import places

CHILDREN = 8
"""Of each worker's pool."""
READY_SECONDS = 120.0
FIRST_PORT = 20_000
PROVIDER, WORK = range(2)
"""Stages: workers need the provider."""
DRIVING = (
    "SELECT count(*) FROM runs_worker"
    " WHERE agents ? 'drill_line' AND seen_at > clock_timestamp() - interval '5 seconds'"
)

Say = Callable[[str], None]


class SceneError(Exception):
    """The drill cannot be played here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What plays need to know of it."""

    folder: Path
    """Of the armed points."""
    database: str
    books: Books
    watch: Watch
    ben: User
    bea: User
    ada: User


@contextmanager
def set_up(state: Path, logs: Path, *, workers: int, say: Say) -> Iterator[Scene]:
    """Have everything running on the services of `state`; stop it at the end.

    Processes write to `logs`. Raises SceneError if something does not start.
    """
    folder, storage = state / "drill", state / "fakepay.sqlite3"
    arming.prepare(folder)
    database = places.database_url(state).replace("postgres://", "postgresql://", 1)
    port = ports.free(FIRST_PORT + os.getpid() % FIRST_PORT)
    supervisor = Supervisor(
        children=_children(state, storage, port, workers),
        environment=_environment(state, folder, port),
        folder=settings.BASE_DIR,
        logs=logs,
        say=lambda _: None,
    )
    watch = Watch(database)
    try:
        say("Starting the provider and the workers, preparing the tables and the people")
        supervisor.start()
        call_command("migrate", verbosity=0, interactive=False)
        ben, bea = (_person(name, groups.APPROVER) for name in ("Ben", "Bea"))
        ada = _person("Ada", groups.OPERATOR)
        connections.close_all()
        (folder / TABLES_THERE).touch()
        _wait_for_provider(port, supervisor)
        _wait_for_workers(database, workers, supervisor)
        watch.start()
        with _kept_alive(supervisor):
            yield Scene(
                folder=folder,
                database=database,
                books=Books(path=storage),
                watch=watch,
                ben=ben,
                bea=bea,
                ada=ada,
            )
    finally:
        say("Stopping")
        watch.stop()
        supervisor.stop(hurry=threading.Event())


@contextmanager
def _kept_alive(supervisor: Supervisor) -> Iterator[None]:
    """Start again what dies as a whole."""
    stop = threading.Event()
    keeper = threading.Thread(
        target=supervisor.watch, args=(stop,), kwargs={"each": lambda: None}, daemon=True
    )
    keeper.start()
    try:
        yield
    finally:
        stop.set()
        keeper.join()


def _person(name: str, group: str) -> User:
    user = User.objects.create_user(f"{name.lower()}@drill.example", first_name=name)
    user.groups.add(Group.objects.get(name=group))
    return user


def _children(state: Path, storage: Path, port: int, workers: int) -> list[Child]:
    provider = (
        "-m", "agents.fakepay", "--host", ports.HOST, "--port", str(port), "--storage", str(storage)
    )  # fmt: skip
    worker = ("-m", "celery", "-A", "signalbox", "worker", "--loglevel", "INFO")
    quiet = ("--without-mingle", "--without-gossip", "--without-heartbeat")
    sweeper = (
        "-Q", "sweep", "-n", "sweeper@%h", "-c", "1", "-B", "-s", str(state / "beat-schedule")
    )  # fmt: skip
    lines = {"fakepay": (PROVIDER, provider), "sweeper": (WORK, (*worker, *quiet, *sweeper))}
    for number in range(1, workers + 1):
        own = ("-Q", "runs", "-n", f"worker-{number}@%h", "-c", str(CHILDREN))
        lines[f"worker-{number}"] = (WORK, (*worker, *quiet, *own))
    return [
        Child(name=name, command=(sys.executable, *line), stage=stage, grace=5.0)
        for name, (stage, line) in lines.items()
    ]


def _environment(state: Path, folder: Path, port: int) -> Mapping[str, str]:
    return (
        dict(os.environ)
        | places.environment(state)
        | {
            "DJANGO_SETTINGS_MODULE": "signalbox.drills.settings",
            "DRILLS_ARMED": str(folder),
            "FAKEPAY_URL": f"http://{ports.HOST}:{port}",
            "LANGGRAPH_STRICT_MSGPACK": "true",
            "PYTHONUNBUFFERED": "1",
        }
    )


def _wait_for_provider(port: int, supervisor: Supervisor) -> None:
    def answers() -> bool:
        try:
            return httpx.get(f"http://{ports.HOST}:{port}/_control", trust_env=False).is_success
        except httpx.HTTPError:
            return False

    _wait(answers, "the provider", supervisor.log("fakepay"))


def _wait_for_workers(database: str, workers: int, supervisor: Supervisor) -> None:
    with psycopg.connect(database, autocommit=True) as connection:

        def there() -> bool:
            row = connection.execute(DRIVING).fetchone()
            return row is not None and row[0] >= workers

        _wait(there, "the workers", supervisor.log("worker-1"))


def _wait(ready: Callable[[], bool], what: str, log: Path) -> None:
    until = time.monotonic() + READY_SECONDS
    while not ready():
        if time.monotonic() > until:
            said = log.read_text(errors="replace").splitlines() if log.exists() else []
            last = said[-1] if said else "it said nothing"
            raise SceneError(f"{what} did not start within {READY_SECONDS:.0f} s: {last}")
        time.sleep(0.1)
