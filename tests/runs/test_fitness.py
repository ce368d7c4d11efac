"""A process that must not drive says so when it starts, and what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from celery.utils.nodenames import worker_direct
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError, connection, transaction

from runs import checkpoints, checks, dispatch, errors, fitness, tasks, workers
from runs.models import Run, Worker
from tests.runs.conftest import now
from tests.runs.test_graphs import BEFORE

# --- fit to drive ---------------------------------------------------------------------------------


def test_the_installed_langgraph_refuses_answers_that_nobody_asked_for(database) -> None:
    assert fitness.strict_resume_works()


def test_a_langgraph_that_does_not_know_strict_resume_must_not_drive(monkeypatch) -> None:
    """Older versions ignore the switch without a word."""
    monkeypatch.setattr(fitness, "STRICT", "__unknown_switch")
    assert not fitness.strict_resume_works()
    with pytest.raises(ImproperlyConfigured, match="ignores strict resume"):
        fitness.require()


def test_one_unfit_agent_keeps_a_worker_from_starting(database, declare) -> None:
    declare("line")
    fitness.require()
    declare("paused", BEFORE)
    with pytest.raises(errors.UnfitGraph, match="static breakpoint"):
        fitness.require()


def test_without_its_tables_a_worker_does_not_start(database, declare, monkeypatch) -> None:
    declare("line")
    monkeypatch.setattr(checkpoints, "problem", lambda _: "the tables are away")
    with pytest.raises(errors.SaverNotReady, match="The tables are away"):
        fitness.require()


# --- settings -------------------------------------------------------------------------------------

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "heartbeat too slow": ({"RUNS_HEARTBEAT": timedelta(seconds=11)}, "runs.E001"),
    "no margin": ({"RUNS_LEASE_MARGIN": timedelta(0)}, "runs.E002"),
    "margin too wide": ({"RUNS_LEASE_MARGIN": timedelta(seconds=26)}, "runs.E002"),
    "no crash limit": ({"RUNS_CRASH_LIMIT": 0}, "runs.E003"),
    "no tries": ({"RUNS_TRIES": 0}, "runs.E003"),
    "no steps": ({"RUNS_RECURSION_LIMIT": 0}, "runs.E003"),
}


def test_the_settings_as_they_are_fit() -> None:
    assert checks.settings_fit() == []
    assert checks.ports_fit() == []


@pytest.mark.parametrize("name", WRONG)
def test_settings_that_do_not_fit_together_are_told(settings, name: str) -> None:
    changes, expected = WRONG[name]
    for setting, value in changes.items():
        setattr(settings, setting, value)
    assert [error.id for error in checks.settings_fit()] == [expected]


def test_a_connection_without_time_limits_is_told(settings, monkeypatch) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "OPTIONS", {"options": "-c x=1"})
    assert [error.id for error in checks.settings_fit()] == ["runs.E004"] * 2


class Half:
    """Lacks most of what the driver calls."""

    def read(self) -> None: ...


def test_a_port_that_lacks_a_method_is_told_by_name(settings) -> None:
    settings.RUNS_APPROVALS = "tests.runs.test_fitness.Half"
    settings.RUNS_LEDGER = "tests.nowhere.Ledger"
    lacking, missing = checks.ports_fit()
    assert lacking.id == "runs.E006"
    assert (
        "lacks forget, hand_over, held, note_cut, note_delivered, open, outdated, withdraw"
        in lacking.msg
    )
    assert missing.id == "runs.E005"


# --- the doorbell and what it starts --------------------------------------------------------------


@pytest.fixture
def sent(monkeypatch) -> list[tuple[tuple[str, str], str | None]]:
    """What the broker was asked to carry: arguments and queue."""
    messages: list[tuple[tuple[str, str], str | None]] = []

    def send_task(name: str, *, args: tuple[str, str], queue: str | None, **how: Any) -> None:
        assert name == dispatch.TASK
        assert how["retry"] is False, "a broker that is away must not hold up a transaction"
        messages.append((args, queue))

    monkeypatch.setattr(current_app, "send_task", send_task)
    return messages


def test_the_bell_rings_after_the_commit_and_not_without(database, sent) -> None:
    run_id = Run().pk
    with transaction.atomic():
        dispatch.ring(run_id, cause="first")
        assert sent == []
    with transaction.atomic():
        dispatch.ring(run_id, cause="second")
        transaction.set_rollback(True)
    assert sent == [((str(run_id), "first"), None)]


def test_one_worker_can_be_rung_for(database, sent) -> None:
    run_id = Run().pk
    dispatch.ring_now(run_id, cause="handed on", to="celery@here")
    assert sent == [((str(run_id), "handed on"), worker_direct("celery@here").name)]


def test_a_worker_with_an_agent_that_cannot_be_driven_does_not_start() -> None:
    """A real one: Celery forgets what its signals' receivers raise."""
    command = ("-m", "celery", "-A", "signalbox", "worker", "-Q", "runs", "--pool", "solo")
    ended = subprocess.run(  # noqa: S603 (our own command)
        [sys.executable, *command],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "tests.support.unfit"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    (line,) = [line for line in ended.stderr.splitlines() if "must not drive" in line]
    assert "interrupt_before" in line
    assert "Traceback" not in ended.stderr


def test_what_rings_twice_drives_once(start) -> None:
    run = start("line")
    tasks.drive(str(run.pk))
    tasks.drive(str(run.pk))
    assert now(run).status == "succeeded"
    assert run.attempts.get().holder == workers.holder()


# --- workers --------------------------------------------------------------------------------------


def test_a_worker_says_what_it_offers_and_is_found_while_it_lives(database, declare) -> None:
    declare("line", version="3")
    workers.announce("w1", drives=True)
    assert workers.offering("line", "3") == "w1"
    assert workers.offering("line", "2") == ""
    workers.drain("w1")
    assert workers.offering("line", "3") == ""
    workers.announce("w1", drives=True)
    assert workers.offering("line", "3") == "w1", "it has started again"
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runs_worker SET seen_at = clock_timestamp() - %s::interval",
            [str(workers.alive_for())],
        )
    assert workers.offering("line", "3") == ""
    workers.gone("w1")
    assert not Worker.objects.exists()


def test_a_worker_that_does_not_drive_offers_nothing(database, declare) -> None:
    declare("line")
    workers.announce("sweeper", drives=False)
    assert workers.offering("line", "1") == ""


def test_a_worker_never_hands_a_run_to_itself(database, declare, monkeypatch) -> None:
    declare("line")
    monkeypatch.setattr(workers, "_name", "me")
    workers.announce("me", drives=True)
    assert workers.offering("line", "1") == ""


def test_saying_that_one_is_alive_survives_the_database(settings, monkeypatch, caplog) -> None:
    class Twice:
        left = 3

        def wait(self, seconds: float) -> bool:
            self.left -= 1
            return self.left < 1

    def away(**_: object) -> Any:
        raise OperationalError("away")

    monkeypatch.setattr(Worker.objects, "filter", away)
    workers.keep_announced("w1", Twice())  # type: ignore[arg-type]
    assert caplog.text.count("cannot say that worker w1 is alive") == 2
