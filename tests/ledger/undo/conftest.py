"""Hands of the tests of taking back: a tool that pays, its undo, and runs that have ended."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from accounts import clock
from accounts.actors import Actor
from ledger.models import Effect, Idempotency, UndoPlan
from ledger.tools import effect
from ledger.undo import ordering, plan
from runs.models import Lease, Run
from tests.ledger.conftest import (
    pass_time,
    take_over,
)
from tests.ledger.provider import Provider

WINDOW = timedelta(hours=24)
TIMEOUT = timedelta(seconds=5)
MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module", autouse=True)
def heart_stops(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    """The heartbeat that renews leases keeps a connection of its own."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def bank() -> Provider:
    """Where undos go to."""
    return Provider()


@pytest.fixture
def pay(world: Provider, bank: Provider, request) -> Any:
    """A tool that pays, whose undo is guarded as the test says, or else by the provider."""
    guard = getattr(request, "param", "provider")
    guards: dict[str, dict[str, Any]] = {
        "provider": {"window": WINDOW},
        "lookup": {"lookup": bank.find},
        "ledger": {},
    }
    more = guards[guard]

    @effect("u.cancel", idempotency=Idempotency(guard), timeout=TIMEOUT, **more)
    def cancel(payment: str, *, idempotency_key: str) -> object:
        return bank.call(idempotency_key, payment)

    @effect(
        "u.pay",
        idempotency=Idempotency.PROVIDER,
        window=WINDOW,
        undo=cancel,
        undo_args=lambda done: {"payment": done.reference},
        permit=False,
    )
    def pay(order: str, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order)

    return pay


def do(run: Run, *calls: Any) -> None:
    """Perform these in the run, and let it end as cancelled."""
    Run.objects.filter(pk=run.pk).update(status="running", ended_at=None, cancel_asked_at=None)
    driver = take_over(run)
    for number, call in enumerate(calls):
        driver(call, step=f"node@{number}")
    end(run)


def end(run: Run, status: str = "cancelled") -> None:
    asked = clock.now() if status == "cancelled" else None
    Run.objects.filter(pk=run.pk).update(status=status, ended_at=clock.now(), cancel_asked_at=asked)
    Lease.objects.filter(pk=run.pk).update(expires_at=None, holder="")


def order(run: Run, actor: Actor | None = None, reason: str = "Not wanted.") -> UndoPlan:
    seen = plan.seen(plan.willing(plan.steps(run.pk)))
    return ordering.order(run.pk, seen, actor=actor or Actor.command("test"), reason=reason)


def again() -> None:
    """Let the waits of plans be over."""
    UndoPlan.objects.update(due_at=clock.now())


def lose(run: Run) -> None:
    """Let the lease of a killed worker run out, and so much time pass."""
    Lease.objects.filter(pk=run.pk).update(expires_at=clock.now() - MINUTE)
    pass_time(run, MINUTE)


def stands(made: UndoPlan) -> tuple[str, str]:
    made.refresh_from_db()
    return made.status, made.error


def undo_of(run: Run) -> Effect:
    return Effect.objects.get(run=run, undoes__isnull=False)
