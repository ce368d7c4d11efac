"""A provider in this process, with a memory of its own: what it performed is what happened.

It deduplicates by key as Stripe does, and misbehaves as told: one entry of `says` per call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

import httpx

from ledger.models import Idempotency
from ledger.outcomes import Found, Outcome
from ledger.tools import Effectful, effect

Say = Callable[[], object]


@dataclass(slots=True)
class Provider:
    """The outside world."""

    happened: list[tuple[str, str]] = field(default_factory=list)
    """(key, order) of everything that was performed."""
    calls: list[str] = field(default_factory=list)
    """The keys of all calls that arrived."""
    seen: list[dict[str, object]] = field(default_factory=list)
    """Their arguments."""
    asked: list[str] = field(default_factory=list)
    says: list[Say] = field(default_factory=list)
    """What it does with the next calls; then it performs and answers."""
    finds: list[Say] = field(default_factory=list)
    """What it does with the next look-ups; then it tells the truth."""
    dedup: bool = True
    hold: threading.Event | None = None
    """Calls wait for this before they do anything."""
    guard: threading.Lock = field(default_factory=threading.Lock)

    def call(self, key: str, order: str, **arguments: object) -> object:
        with self.guard:
            self.calls.append(key)
            self.seen.append({"order": order, **arguments})
            say = self.says.pop(0) if self.says else None
        if self.hold is not None:
            assert self.hold.wait(20)
        if say is not None:
            said = say()
            if said is not None:
                return said
        return self.perform(key, order)

    def perform(self, key: str, order: str) -> Outcome:
        with self.guard:
            before = [each for each in self.happened if each[0] == key]
            if not (before and self.dedup):
                self.happened.append((key, order))
            return Outcome.success(self.reference(key), {"id": self.reference(key), "order": order})

    def reference(self, key: str) -> str:
        """Of the newest performance with this key, or of the first if it deduplicates."""
        places = [n for n, each in enumerate(self.happened) if each[0] == key]
        return f"re_{places[0 if self.dedup else -1]}"

    def find(self, key: str) -> Found | None:
        self.asked.append(key)
        if self.finds:
            return self.finds.pop(0)()  # type: ignore[return-value]
        with self.guard:
            if any(each[0] == key for each in self.happened):
                return Found(reference=self.reference(key), result={"id": self.reference(key)})
        return None

    # --- how to misbehave ---------------------------------------------------------------------

    def happens_unheard(self, key: str = "", order: str = "") -> Say:
        """Perform, then break the connection."""

        def say() -> object:
            self.perform(self.calls[-1], str(self.seen[-1]["order"]))
            raise httpx.ReadTimeout("nothing came back")

        return say


def raises(error: BaseException) -> Say:
    def say() -> object:
        raise error

    return say


def returns(value: object) -> Say:
    return lambda: value


def unheard() -> Say:
    """Break the connection without having performed anything."""
    return raises(httpx.ReadError("reset"))


def http(status: int, json: object = None, **headers: str) -> Say:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda: httpx.Response(status, json=json, headers=named)


def wait_for(condition: Callable[[], object], seconds: float = 10.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come about"
        time.sleep(0.005)


@dataclass(frozen=True, slots=True)
class Tools:
    """One tool per way of being guarded, all with the same provider."""

    provider: Effectful
    provider_with_lookup: Effectful
    lookup: Effectful
    ledger: Effectful


def tools(world: Provider) -> Tools:
    timeout = timedelta(seconds=5)

    def pay(order: str, amount: int = 10, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order, amount=amount)

    def named(name: str) -> Callable[..., object]:
        def tool(order: str, amount: int = 10, *, idempotency_key: str) -> object:
            return pay(order, amount, idempotency_key=idempotency_key)

        tool.__qualname__ = f"tools.{name}"
        return tool

    window = timedelta(hours=24)
    return Tools(
        provider=effect(
            "t.provider", idempotency=Idempotency.PROVIDER, window=window, timeout=timeout
        )(named("provider")),
        provider_with_lookup=effect(
            "t.provider_with_lookup",
            idempotency=Idempotency.PROVIDER,
            window=window,
            lookup=world.find,
            timeout=timeout,
        )(named("provider_with_lookup")),
        lookup=effect(
            "t.lookup",
            idempotency=Idempotency.LOOKUP,
            lookup=world.find,
            timeout=timeout,
            visibility=timedelta(seconds=3),
        )(named("lookup")),
        ledger=effect("t.ledger", idempotency=Idempotency.LEDGER, timeout=timeout)(named("ledger")),
    )
