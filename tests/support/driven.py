"""Runs of the agents in tests.support.agents, driven by the real driver until they ask or end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from langchain.agents.middleware import human_in_the_loop

from accounts.actors import Actor
from runs import admission, dispatch, driver
from runs.heartbeat import Heart
from runs.models import Run
from tests.support import agents, caches

EDITABLE = ["copies", "share", "cents"]


@contextmanager
def agents_listened_to(monkeypatch: Any) -> Iterator[None]:
    """While drives are short and nobody is rung for, everything that an agent receives is kept.

    What LangChain's middleware receives is read where it calls `interrupt`; LangGraph, LangChain
    and pydantic all do their part as they would anywhere.
    """
    asks = human_in_the_loop.interrupt

    def interrupt(*args: Any, **kwargs: Any) -> Any:
        got = asks(*args, **kwargs)
        agents.RECEIVED.append(got)
        return got

    monkeypatch.setattr(human_in_the_loop, "interrupt", interrupt)
    # These drives are shorter than a lease; a heart would keep its connection for ever.
    monkeypatch.setattr(Heart, "_ensure_thread", lambda _: None)
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, *, cause, to="": True)
    monkeypatch.setattr(dispatch, "call_now", lambda task: True)
    agents.CALLS.clear()
    agents.RECEIVED.clear()
    caches.forget()
    yield
    caches.forget()


def policy(settings: Any, **changes: object) -> None:
    """Finance decides within an hour, and may change the arguments in EDITABLE."""
    settings.APPROVALS_POLICIES = []
    settings.APPROVALS_DEFAULT = {
        "name": "default",
        "group": "finance",
        "deadline": timedelta(hours=1),
        "editable": EDITABLE,
    } | changes


def start(settings: Any, name: str) -> Run:
    """A run of the agent of this name, driven until it asks."""
    settings.RUNS_AGENTS = [
        {
            "name": "agent",
            "graph": f"tests.support.agents.{name}",
            "version": "1",
            "title": "Send the report",
        }
    ]
    caches.forget()
    run = admission.start("agent", {}, actor=Actor.command("test"))
    drive(run)
    run.refresh_from_db()
    assert run.status == "waiting", run.park_detail
    return run


def drive(run: Run) -> None:
    driver.drive(run.pk, holder="w1", cause="test")
