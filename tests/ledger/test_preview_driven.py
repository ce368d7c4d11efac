"""What is told beforehand is what then happens, under the real driver and with the real saver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection

from accounts.actors import Actor
from accounts.models import User
from approvals.models import Request
from ledger import keys
from ledger.inventory import boxes, findings
from ledger.models import Effect
from ledger.preview import ahead
from ledger.preview.ahead import Permit
from runs import admission, checkpoints, driver, killpoints
from runs.models import Run, Worker
from runs.status import Outcome as Ended
from tests.ledger import desk
from tests.ledger.conftest import Died, dying_at
from tests.ledger.provider import Provider, http
from tests.support import caches
from tests.support.people import person

pytestmark = pytest.mark.usefixtures("real_steps")
SHELL = Actor.command("test")
GRAPHS = {
    "desk": "tests.ledger.desk.graph",
    **{name: f"tests.ledger.foreseen.{name}" for name in ("several", "nested", "asking")},
}


@pytest.fixture(scope="module", autouse=True)
def pools_end(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    yield
    checkpoints.close()
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture(autouse=True)
def world(settings, monkeypatch) -> Iterator[Provider]:
    settings.RUNS_AGENTS = [
        {"name": name, "graph": path, "version": "1"} for name, path in GRAPHS.items()
    ]
    settings.RUNS_BACKOFF = timedelta(0)
    settings.APPROVALS_POLICIES = []
    settings.APPROVALS_DEFAULT = {
        "name": "default",
        "group": "finance",
        "deadline": timedelta(hours=1),
    }
    world = Provider()
    monkeypatch.setattr(desk, "WORLD", world)
    caches.forget()
    Worker.objects.create(name="w1@here", hostname="here", pid=1, agents=dict.fromkeys(GRAPHS, "1"))
    boxes.announce("w1@here", findings.survey())
    yield world
    caches.forget()


@pytest.fixture
def ada() -> User:
    return person("Ada")


def drive(run: Run) -> Ended | None:
    return driver.drive(run.pk, holder="w1", cause="test")


def lose(run: Run) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_lease SET expires_at = clock_timestamp() - interval '1 second'"
            " WHERE run_id = %s",
            [run.pk],
        )


def told(run: Run, ada: User) -> list[tuple[str, str]]:
    """Which effects would be met, by their order, and what becomes of each."""
    now = Run.objects.select_related("lease").get(pk=run.pk)
    orders = {f"/ledger/{each.uid}/": each.args["order"] for each in Effect.objects.all()}
    touches = ahead.of(now, ada).touches
    return sorted((orders[touch.url], touch.state.value) for touch in touches)


@contextmanager
def dying_at_the_second(place: str) -> Iterator[None]:
    """Let the driver die where it comes by for the second time."""
    seen: list[str] = []

    def hook(name: str, run_id: str) -> None:
        if name == place:
            seen.append(name)
            if len(seen) == 2:
                raise Died

    killpoints.install(hook)
    try:
        with pytest.raises(Died):
            yield
    finally:
        killpoints.install(None)


@pytest.mark.parametrize(
    ("tool", "kind", "ending", "sent", "asked"),
    [
        ("kept", "again", Ended.FINISHED, 2, 0),
        ("found", "asked", Ended.FINISHED, 1, 1),
        ("alone", "will_doubt", Ended.PARKED, 1, 0),
    ],
)
def test_the_forecast_of_a_lost_call_is_what_the_next_driver_does(
    ada, world, tool, kind, ending, sent, asked
):
    run = admission.start("desk", {"tool": tool}, actor=SHELL)
    assert told(run, ada) == []
    with dying_at("effect.called"):
        drive(run)
    lose(run)
    assert told(run, ada) == [("7", kind)]
    assert drive(run) is ending
    keys_sent = [
        key for key, seen in zip(world.calls, world.seen, strict=True) if seen["order"] == "7"
    ]
    assert (len(keys_sent), len(set(keys_sent)), len(world.asked)) == (sent, 1, asked)
    if tool == "alone":
        assert told(run, ada) == [("7", "settle")]


def test_what_a_step_did_before_its_worker_died_is_reused(ada, world):
    run = admission.start("several", {}, actor=SHELL)
    with dying_at("effect.settled"):
        drive(run)
    lose(run)
    assert told(run, ada) == [("1", "reused")]
    assert drive(run) is Ended.FINISHED
    assert [order for _, order in world.happened] == ["1", "2", "3"]
    assert told(run, ada) == []  # the step has ended


def test_steps_of_a_subgraph_that_have_ended_are_not_met_again(ada, world):
    run = admission.start("nested", {}, actor=SHELL)
    with dying_at_the_second("effect.settled"):
        drive(run)
    lose(run)
    assert told(run, ada) == [("2", "reused")]
    calls = len(world.calls)
    assert drive(run) is Ended.FINISHED
    assert len(world.calls) == calls


def test_a_question_tells_what_its_step_has_done_and_what_approving_allows(ada, world):
    run = admission.start("asking", {}, actor=SHELL)
    assert drive(run) is Ended.WAITED
    request = Request.objects.get()
    about = ahead.of(run, ada, permit=Permit(tool=request.tool, args_hash=request.args_hash))
    assert [(touch.state.value, touch.asked) for touch in about.touches] == [
        ("permitted", True),
        ("reused", False),
    ]
    _, digest = keys.kept("desk.pay", {"order": "2"})
    assert request.args_hash == digest


def test_retrying_a_failed_step_meets_the_refusal_again(ada, world):
    world.says = [http(402, {"error": "declined"})]
    run = admission.start("desk", {"tool": "kept"}, actor=SHELL)
    assert drive(run) is Ended.RAISED
    assert told(run, ada) == [("7", "refused")]
