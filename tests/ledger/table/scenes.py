"""The scenes of the table: tools that refund at fakepay, and drivers that find, call and die."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import httpx
from django.conf import settings
from django.db import connections, transaction

from accounts.actors import Actor
from agents.fakepay import client
from ledger import branches, effects, errors, facts, keys, refusals, rows
from ledger.models import Idempotency
from ledger.outcomes import Found, Outcome, from_response
from ledger.settle import settle
from ledger.tools import Effectful, effect
from runs import killpoints
from runs.models import Run
from tests.ledger.conftest import Driver, dying_at, effect_of, pass_time, take_over
from tests.ledger.table.cells import ENDS, End

SHELL = Actor.command("test")
WINDOW = timedelta(hours=24)
TIMEOUT = timedelta(seconds=10)
CLOSED = "http://127.0.0.1:9"

PLAN: list[End] = []
"""How the next calls end; after that, well."""
JOINED = 20.0
"""Seconds in which the second branch of a driver must have come."""
together: list[int] = []
"""If not empty: the call waits until so many branches want the same effect."""


def find(key: str) -> Found | None:
    refunds = client.find_refunds(key)
    return Found(reference=refunds[0]["id"], result=dict(refunds[0])) if refunds else None


def refund(order: str, key: str) -> Outcome:
    end = PLAN.pop(0) if PLAN else End()
    _wait_for_branches()
    url, timeout = settings.FAKEPAY_URL, httpx.Timeout(10, read=end.read)
    try:
        settings.FAKEPAY_URL = CLOSED if end.closed else url
        answer = client.refund(
            order,
            1200,
            "EUR",
            idempotency_key=key,
            timeout=timeout,  # type: ignore[arg-type]  # httpx takes both
            fault=end.fault or None,
        )
    finally:
        settings.FAKEPAY_URL = url
    return from_response(answer)


def _wait_for_branches() -> None:
    if together:
        wanted = together.pop()
        end = threading.Event()
        for _ in range(int(JOINED / 0.005)):
            if max(busy.wanting for busy in branches._all.values()) >= wanted:
                return
            end.wait(0.005)
        raise AssertionError("the other branch did not come")


@effect(
    "table.provider",
    idempotency=Idempotency.PROVIDER,
    window=WINDOW,
    lookup=find,
    timeout=TIMEOUT,
)
def provider(order: str, *, idempotency_key: str) -> Outcome:
    return refund(order, idempotency_key)


@effect("table.provider_blind", idempotency=Idempotency.PROVIDER, window=WINDOW, timeout=TIMEOUT)
def provider_blind(order: str, *, idempotency_key: str) -> Outcome:
    return refund(order, idempotency_key)


@effect("table.lookup", idempotency=Idempotency.LOOKUP, lookup=find, timeout=TIMEOUT)
def lookup(order: str, *, idempotency_key: str) -> Outcome:
    return refund(order, idempotency_key)


@effect("table.ledger", idempotency=Idempotency.LEDGER, timeout=TIMEOUT)
def ledger(order: str, *, idempotency_key: str) -> Outcome:
    return refund(order, idempotency_key)


TOOLS: dict[str, Effectful] = {
    "provider": provider,
    "provider_blind": provider_blind,
    "lookup": lookup,
    "ledger": ledger,
}


class Scene:
    """One run with one effect, and whoever drives it."""

    def __init__(self, run: Run, guard: str, order: str) -> None:
        self.run, self.guard, self.order = run, guard, order

    def perform(self, driver: Driver) -> object:
        return driver(lambda: TOOLS[self.guard](order=self.order))

    def attempt(self, *ends: End) -> str:
        """Let a new driver try it, whose calls end like this; what its node is told."""
        PLAN[:] = ends
        return self.goes_on()

    def goes_on(self) -> str:
        """The same; calls that were not made yet end as was planned before."""
        try:
            self.perform(take_over(self.run))
        except errors.EffectFailed:
            return "failed"
        except refusals.EffectInDoubt:
            return "in_doubt"
        except refusals.LookAgainLater:
            return "later"
        return "done"

    def dies(self, place: str) -> None:
        with dying_at(place):
            self.perform(take_over(self.run))

    # --- what is found ----------------------------------------------------------------------------

    def prepare(self, found: str) -> None:
        PLAN.clear()
        getattr(self, found, lambda: None)()

    def open_dead_unsent(self) -> None:
        self.dies("effect.reserved")

    def open_dead_performed(self) -> None:
        self.dies("effect.called")

    def unknown_unperformed(self) -> None:
        self._unheard("cut_before")

    def unknown_performed(self) -> None:
        self._unheard("cut_after")

    def _unheard(self, end: str) -> None:
        """The driver heard nothing of its call, wrote that down, and was lost."""
        PLAN[:] = [ENDS[end]]
        if self.guard == "ledger":
            with suppress(refusals.EffectInDoubt):
                self.perform(take_over(self.run))
            return
        self.dies("effect.settled")

    def refused_for_now(self) -> None:
        assert self.attempt(ENDS["429"]) == "later"
        pass_time(self.run, timedelta(minutes=3))

    def refused_for_good(self) -> None:
        assert self.attempt(ENDS["402"]) == "failed"

    def sent(self) -> None:
        assert self.attempt() == "done"

    def confirmed(self) -> None:
        self.in_doubt_performed()
        self.settle(performed=True)

    def in_doubt_unperformed(self) -> None:
        self.open_dead_unsent()
        self._doubt()

    def in_doubt_performed(self) -> None:
        self.open_dead_performed()
        self._doubt()

    def _doubt(self) -> None:
        """As the sweeper does where nobody will hear the end of a call."""
        with transaction.atomic():
            rows.lock_run(self.run.pk)
            facts.doubt(effect_of(self.run), "Its worker was lost.")

    def allowed_by_a_person(self) -> None:
        self.in_doubt_unperformed()
        self.settle(performed=False)

    def key_too_old_unperformed(self) -> None:
        self.unknown_unperformed()
        pass_time(self.run, WINDOW)

    def key_too_old_performed(self) -> None:
        self.unknown_performed()
        pass_time(self.run, WINDOW)

    def settle(self, *, performed: bool) -> None:
        verdict = "happened" if performed else "did_not_happen"
        uid = effect_of(self.run).uid
        settle(uid, verdict, actor=SHELL, reason="The books.", reference="re_by_hand")  # type: ignore[arg-type]  # one of the two


# --- in two branches, and in a process that dies --------------------------------------------------


def in_two_branches(scene: Scene, end: End) -> list[str]:
    """The same effect in two threads of one driver: one calls, the other finds that call open."""
    driver = take_over(scene.run)
    together[:] = [2]
    PLAN[:] = [end]
    with ThreadPoolExecutor(2) as branches:
        both = [branches.submit(_branch, scene, driver) for _ in range(2)]
        return [each.result(30) for each in both]


def _branch(scene: Scene, driver: Driver) -> str:
    try:
        scene.perform(driver)
    except errors.EffectFailed:
        return "failed"
    except refusals.EffectInDoubt:
        return "in_doubt"
    except refusals.LookAgainLater:
        return "later"
    finally:
        connections.close_all()
    return "done"


def perform_and_die(
    pipe: Any, run_id: Any, guard: str, order: str, place: str, branches: bool
) -> None:
    """What the worker process of a cell does: perform, and get SIGKILL at this place."""
    keys._step = lambda tool_call_id: "node@task"  # there is no graph here
    effects.IN_PROGRESS = 0.05
    die: Callable[[], None] = lambda: os.kill(os.getpid(), signal.SIGKILL)  # noqa: E731
    killpoints.install(lambda name, _: die() if name == place else None)
    scene = Scene(Run.objects.get(pk=run_id), guard, order)
    if branches:
        in_two_branches(scene, End())
    else:
        scene.perform(take_over(scene.run))
