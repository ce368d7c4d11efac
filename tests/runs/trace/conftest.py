"""Runs whose worker was killed in the middle of a step, and another one went on."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse

from accounts.actors import Actor
from runs import admission, driver
from runs.models import Run
from tests.runs.conftest import expire
from tests.support import approver, caches, child, wavering
from tests.support.processes import worker

Killed = Callable[..., Run]


@pytest.fixture
def killed(settings, database: None, rung: list[Any]) -> Killed:
    """A run of tests.support.wavering, killed at `place` and gone on with until it asks a person;
    `answered`: until its end.
    """
    settings.RUNS_AGENTS = [
        {"name": name, "graph": f"tests.support.wavering.{name}", "version": "1", "title": "Pay"}
        for name in ("steady", "wavering")
    ]
    caches.forget()

    def killed(name: str, place: str = "effect.called", *, answered: bool = False) -> Run:
        given = {"order": "A-7", "email": wavering.SECRET}
        run = admission.start(name, given, actor=Actor.command("test"))
        with worker(child.drive_until, run.pk, place) as first:
            assert first.frozen() == place
            first.send(signal.SIGKILL)
        expire(run)
        driver.drive(run.pk, holder="second", cause="test")
        if answered:
            (question,) = approver.open_questions(run.pk)
            approver.answer(run.pk, question)
            driver.drive(run.pk, holder="third", cause="test")
        return Run.objects.get(pk=run.pk)

    return killed


def url(run: Run, name: str, *more: str) -> str:
    return str(reverse(f"runs:{name}", args=[run.pk, *more]))


def text(client: Any, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, response.content[:500]
    return str(b"".join(response).decode())
