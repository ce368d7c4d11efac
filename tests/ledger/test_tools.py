"""Declaring tools: what is refused, and what a declared tool looks like from outside."""

from __future__ import annotations

import inspect
from datetime import timedelta
from decimal import Decimal

import pytest
from langchain.tools import tool as langchain_tool

from ledger import errors, registry
from ledger.models import Idempotency
from ledger.outcomes import Found, Outcome
from ledger.tools import effect, reads
from tests.ledger.conftest import effect_of
from tests.ledger.provider import http

HOUR = timedelta(hours=1)
PROVIDER, LOOKUP, LEDGER = Idempotency.PROVIDER, Idempotency.LOOKUP, Idempotency.LEDGER


def keyed(order: str, *, idempotency_key: str) -> Outcome:
    return Outcome.success("r")


def unkeyed(order: str) -> Outcome:
    return Outcome.success("r")


def find(key: str) -> Found | None:
    return None


async def afind(key: str) -> Found | None:
    return None


def anything(*args: object, idempotency_key: str) -> Outcome:
    return Outcome.success("r")


def any_name(*, idempotency_key: str, **more: object) -> Outcome:
    return Outcome.success("r")


def positional(order: str, /, *, idempotency_key: str) -> Outcome:
    return Outcome.success("r")


def naming(key: str, *, idempotency_key: str) -> Outcome:
    return Outcome.success("r")


def generator(order: str, *, idempotency_key: str):
    yield Outcome.success("r")


@pytest.mark.parametrize(
    ("function", "idempotency", "options", "why"),
    [
        (keyed, PROVIDER, {}, "window="),
        (keyed, LOOKUP, {}, "lookup="),
        (unkeyed, PROVIDER, {"window": HOUR}, "idempotency_key"),
        (unkeyed, LOOKUP, {"lookup": find}, "idempotency_key"),
        (keyed, LOOKUP, {"lookup": find, "window": HOUR}, "window="),
        (keyed, LEDGER, {"window": HOUR}, "window="),
        (keyed, LEDGER, {"lookup": find}, "LOOKUP"),
        (keyed, LOOKUP, {"lookup": afind}, "plain function"),
        (keyed, PROVIDER, {"window": timedelta(0)}, "window="),
        (keyed, LEDGER, {"timeout": timedelta(0)}, "timeout="),
        (keyed, LOOKUP, {"lookup": find, "visibility": -HOUR}, "visibility="),
        (anything, LEDGER, {}, r"\*args"),
        (any_name, LEDGER, {}, r"\*args"),
        (positional, LEDGER, {}, "positional-only"),
        (naming, LEDGER, {}, "rename"),
        (generator, LEDGER, {}, "generator"),
        (keyed, LEDGER, {"key": "refund:{order}"}, "run_id"),
        (keyed, LEDGER, {"key": "refund:{run_id}:{amount}"}, "'amount'"),
    ],
)
def test_a_declaration_that_promises_nothing_is_refused(function, idempotency, options, why):
    with pytest.raises(errors.NotAnEffect, match=why) as refusal:
        effect("t.refused", idempotency=idempotency, **options)(function)
    assert "t.refused" in str(refusal.value)
    assert registry.find("t.refused") is None


@pytest.mark.parametrize("name", ["", " ", "a b", "a:b", "#", "ä", "x" * 121, "-a"])
def test_a_bad_name_is_refused(name):
    with pytest.raises(errors.NotAnEffect):
        effect(name, idempotency=LEDGER)(keyed)
    with pytest.raises(errors.NotAnEffect):
        reads(name)(unkeyed)


def test_an_unknown_guard_is_refused():
    with pytest.raises(ValueError, match="hope"):
        effect("t.hope", idempotency="hope")(keyed)  # type: ignore[arg-type]


def test_two_functions_cannot_share_a_name_but_one_may_be_declared_again():
    effect("t.shared", idempotency=LEDGER)(keyed)
    effect("t.shared", idempotency=LEDGER)(keyed)
    with pytest.raises(errors.NotAnEffect, match="Two tools"):
        effect("t.shared", idempotency=LEDGER)(unkeyed)
    with pytest.raises(errors.NotAnEffect, match="Two tools"):
        reads("t.shared")(unkeyed)


def test_a_declared_tool_shows_only_the_arguments_that_are_the_callers():
    def pay(
        order: str, amount: Decimal, note: str = "", *, idempotency_key: str, timeout: float
    ) -> Outcome:
        """Pay it.

        To whom it belongs.
        """
        return Outcome.success("r")

    tool = effect("t.shown", idempotency=LEDGER)(pay)
    assert str(inspect.signature(tool)) == "(order: str, amount: decimal.Decimal, note: str = '')"
    assert tool.__name__ == "pay"
    assert inspect.getdoc(tool) == "Pay it.\n\nTo whom it belongs."
    assert tool.__wrapped__ is pay
    assert set(langchain_tool(tool).args) == {"order", "amount", "note"}


def test_what_was_declared_can_be_asked_for():
    made = effect("t.asked", idempotency=LEDGER)(keyed)
    read = reads("t.read")(unkeyed)
    assert isinstance(registry.declared(made), registry.Tool)
    assert isinstance(registry.declared(read), registry.Reader)
    assert registry.declared(keyed) is None
    assert "t.asked" in registry.names()
    assert "t.read" not in registry.names()


def test_a_reader_is_called_as_it_is_anywhere():
    assert reads("t.reader")(unkeyed)("7") == Outcome.success("r")


def test_a_described_effect_is_what_its_approval_must_permit():
    def pay(order: str, amount: int = 5, *, idempotency_key: str) -> Outcome:
        raise AssertionError("described, not performed")

    tool = effect("t.described", idempotency=LEDGER)(pay)
    assert tool.describe("7") == {"tool": "t.described", "args": {"order": "7", "amount": 5}}
    assert tool.describe(amount=5.0, order="7") == tool.describe("7", 5)


def test_the_ledger_passes_the_key_and_the_time_left(driver, run):
    seen: list[tuple[str, float]] = []

    def pay(order: str, *, idempotency_key: str, timeout: float) -> Outcome:
        seen.append((idempotency_key, timeout))
        return Outcome.success("r")

    driver(lambda: effect("t.passed", idempotency=LEDGER, timeout=HOUR)(pay)("7"))
    assert seen[0][0] == effect_of(run).idempotency_key
    assert 3500 < seen[0][1] <= 3600


def test_a_response_may_be_returned_as_it_is(driver, run):
    def pay(order: str) -> object:
        return http(200, {"id": "re_7"})()

    result = driver(lambda: effect("t.response", idempotency=LEDGER)(pay)("7"))
    assert result == {"id": "re_7"}
    assert effect_of(run).provider_ref == "re_7"
