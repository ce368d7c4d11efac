"""Hands of the scenarios: the real driver, people of finance at their pages, a provider's books."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from approvals.models import Request
from ledger.outcomes import Outcome
from ledger.tools import Idempotency, effect
from runs.heartbeat import Heart
from runs.models import Run
from tests.runs.conftest import (  # noqa: F401 (fixtures)
    clean,
    connections_end,
    database,
    declare,
    drive,
    no_flush,
    rung,
    start,
)
from tests.support.people import person
from tests.support.web import field as value_of


@pytest.fixture(autouse=True)
def policies(settings, monkeypatch) -> None:
    """Finance decides. Drives here are shorter than a lease, so no heart beats beside them."""
    settings.APPROVALS_POLICIES = []
    settings.APPROVALS_DEFAULT = {
        "name": "default",
        "group": "finance",
        "deadline": timedelta(hours=1),
    }
    monkeypatch.setattr(Heart, "_ensure_thread", lambda _: None)


@pytest.fixture
def rule(settings) -> Callable[..., None]:
    """Change the policy in force."""

    def rule(**changes: object) -> None:
        settings.APPROVALS_DEFAULT = settings.APPROVALS_DEFAULT | changes

    return rule


@pytest.fixture
def ben(database: None) -> User:  # noqa: F811
    return person("Ben", "finance")


@pytest.fixture
def eve(database: None) -> User:  # noqa: F811
    return person("Eve", "finance", "approver")


# --- people at their pages ------------------------------------------------------------------------


def page_of(request: Request) -> str:
    return reverse("approvals:review", args=[request.pk])


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def form(client: Client, request: Request, verdict: str) -> dict[str, str]:
    """The form on the page, filled in and not yet sent."""
    page = client.get(page_of(request))
    sent = {name: value_of(page, name) for name in ("digest", "token")}
    return {"verdict": verdict, "comment": "because"} | sent


def decide(by: User, request: Request, verdict: str = "approved") -> None:
    """By the page, as a person does it."""
    client = signed_in(by)
    response = client.post(page_of(request), form(client, request, verdict))
    assert response.status_code == 302, response.content.decode()


def open_of(run: Run, *words: str) -> Request:
    """The one open request of the run whose question has these words."""
    return Request.objects.get(run=run, status="pending", **{"title": words[0]} if words else {})


def titles(run: Run) -> list[str]:
    """Of the open requests."""
    found = Request.objects.filter(run=run, status="pending")
    return sorted(found.values_list("title", flat=True))


# --- what happens outside -------------------------------------------------------------------------


@dataclass(slots=True)
class Books:
    """What a provider that deduplicates by key has done."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def paid(self) -> list[dict[str, Any]]:
        return list(dict(self.calls).values())


BOOKS = Books()


@effect("scenario.pay", idempotency=Idempotency.PROVIDER, window=timedelta(hours=1))
def pay(order: str, cents: int, *, idempotency_key: str) -> Outcome:
    BOOKS.calls.append((idempotency_key, {"order": order, "cents": cents}))
    return Outcome.success(order)


@effect(
    "scenario.guarded", idempotency=Idempotency.PROVIDER, window=timedelta(hours=1), permit=True
)
def guarded(order: str, cents: int, *, idempotency_key: str) -> Outcome:
    """The same, and only what was approved."""
    BOOKS.calls.append((idempotency_key, {"order": order, "cents": cents}))
    return Outcome.success(order)


@pytest.fixture(autouse=True)
def books() -> Iterator[Books]:
    BOOKS.calls.clear()
    yield BOOKS
    BOOKS.calls.clear()
