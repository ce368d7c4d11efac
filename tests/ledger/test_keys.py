"""Which calls are the same effect, and what their keys look like."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger import errors, keys
from ledger.models import Effect, Idempotency
from ledger.outcomes import Outcome
from ledger.tools import effect
from tests.ledger.conftest import make_run, take_over

RUN = UUID(int=7)

SAME = [
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": 1}, {"a": 1.0}),
    ({"a": 1}, {"a": 1e0}),
    ({"a": 100}, {"a": 1e2}),
    ({"a": "1.10"}, {"a": str(Decimal("1.10"))}),
    ({"a": 0}, {"a": -0.0}),
    ({"a": (1, 2)}, {"a": [1, 2]}),
    ({"a": {"\U0001f600": 1, "é": 2}}, {"a": {"é": 2, "\U0001f600": 1}}),
    ({"a": 0.1 + 0.2}, {"a": 0.30000000000000004}),
]
DIFFERENT = [
    ({"a": 0.1 + 0.2}, {"a": 0.3}),
    ({"a": "é"}, {"a": unicodedata.normalize("NFD", "é")}),
    ({"a": "40.0"}, {"a": "40.00"}),
    ({"a": "1.1"}, {"a": "1.10"}),
    ({"a": "2026-01-01T12:00:00+00:00"}, {"a": "2026-01-01T13:00:00+01:00"}),
    ({"a": "1"}, {"a": 1}),
    ({"a": True}, {"a": 1}),
    ({"a": None}, {}),
    ({"a": []}, {"a": {}}),
    ({"a": [1, 2]}, {"a": [2, 1]}),
    ({"a": "x", "b": ""}, {"a": "", "b": "x"}),
]
REFUSED = [
    float("nan"),
    float("inf"),
    2**53,
    -(2**53),
    1e16,
    Decimal("1.10"),
    Decimal("NaN"),
    datetime(2026, 1, 1, tzinfo=UTC),
    datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
    datetime(2026, 1, 1),  # noqa: DTZ001 (that is the case)
    UUID(int=1),
    b"bytes",
    {1: "a"},
    {"a": object()},
    "half \ud800",
    "nul \x00",
    {"nul \x00": 1},
    {1, 2},
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_two_spellings_of_one_call_are_one_effect(one, other):
    assert keys.kept("t", one) == keys.kept("t", other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_arguments_are_another_effect(one, other):
    assert keys.kept("t", one)[1] != keys.kept("t", other)[1]


@pytest.mark.parametrize("value", REFUSED)
def test_what_cannot_be_kept_exactly_is_refused_and_the_message_says_what_to_do(value):
    with pytest.raises(errors.BadArguments, match=r"as text") as refusal:
        keys.kept("payments.refund", {"amount": [value]})
    assert "payments.refund" in str(refusal.value)
    assert "Nothing was sent" in str(refusal.value)


def test_a_cycle_and_a_deep_nest_are_refused():
    cycle: list[object] = []
    cycle.append(cycle)
    deep: object = 1
    for _ in range(200):
        deep = [deep]
    for value in (cycle, deep):
        with pytest.raises(errors.BadArguments):
            keys.kept("t", {"a": value})


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(
                st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=5
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


@given(plain)
def test_kept_arguments_are_kept_unchanged(value):
    once, digest = keys.kept("t", {"a": value})
    assert keys.kept("t", once) == (once, digest)
    assert once == {"a": value}


# --- through a tool ------------------------------------------------------------------------------


@pytest.fixture
def echo():
    seen: list[tuple[str, object]] = []

    def echo(a: object, b: object = "d", *, idempotency_key: str) -> Outcome:
        seen.append((idempotency_key, (a, b)))
        return Outcome.success("r", [a, b])

    tool = effect("t.echo", idempotency=Idempotency.LEDGER)(echo)
    tool.seen = seen  # type: ignore[attr-defined]
    return tool


def test_positions_names_and_defaults_are_one_spelling(echo, driver):
    for call in (
        lambda: echo(1),
        lambda: echo(1, "d"),
        lambda: echo(a=1, b="d"),
        lambda: echo(b="d", a=1.0),
    ):
        assert driver(call) == [1, "d"]
    assert len(echo.seen) == 1
    effect_ = Effect.objects.get()
    digest = keys.kept("", {"a": 1, "b": "d"})[1]
    assert effect_.idempotency_key == f"{effect_.run_id}:node@task:t.echo:{digest}"
    assert (effect_.step, effect_.args, effect_.args_hash) == (
        "node@task",
        {"a": 1, "b": "d"},
        digest,
    )


def test_wrong_arguments_are_a_type_error_as_for_any_function(echo, driver):
    for call in (lambda: echo(), lambda: echo(1, 2, 3), lambda: echo(1, c=2)):
        with pytest.raises(TypeError):
            driver(call)
    with pytest.raises(TypeError):
        driver(lambda: echo(1, idempotency_key="mine"))
    assert not Effect.objects.exists()


def test_another_step_run_tool_call_or_occurrence_is_another_effect(echo, driver, run):
    driver(lambda: echo(1))
    driver(lambda: echo(1), step="node@another")
    driver(lambda: echo(1, tool_call_id="call_1"))
    driver(lambda: echo(1, tool_call_id="call_2"))
    driver(lambda: echo(1, occurrence=2))
    driver(lambda: echo(1, occurrence="2"))
    driver(lambda: echo(1, occurrence="second"))
    assert len(echo.seen) == 6
    assert len({key for key, _ in echo.seen}) == 6


def test_a_business_key_is_one_effect_wherever_it_is_asked_for(echo, driver, run):
    for step in ("a@1", "b@2"):
        driver(lambda: echo(1, key="mail:{run_id}:7"), step=step)
    assert len(echo.seen) == 1
    assert Effect.objects.get().idempotency_key == f"mail:{run.pk}:7"
    assert Effect.objects.get().step == "a@1"
    driver(lambda: echo(1, key="mail:{run_id}:7", occurrence=2))
    assert len(echo.seen) == 2


def test_a_declared_business_key_is_filled_from_the_arguments(driver, run):
    calls: list[str] = []

    def pay(order: str, parts: list[object], *, idempotency_key: str) -> Outcome:
        calls.append(idempotency_key)
        return Outcome.success("r")

    tool = effect("t.keyed", idempotency=Idempotency.LEDGER, key="r:{run_id}:{order}:{parts}")(pay)
    driver(lambda: tool("{parts}", [1.0, "x"]))
    driver(lambda: tool("{parts}", [1, "x"]))
    assert Effect.objects.get().idempotency_key == f'r:{run.pk}:{{parts}}:[1,"x"]'
    assert len(calls) == 1


@pytest.mark.parametrize(
    "key", ["refund:7", "", "refund:{run_id}:" + "x" * 400, "{run_id} \x00", "{run_id} \ud800"]
)
def test_a_business_key_that_cannot_be_used_is_refused(echo, driver, key):
    with pytest.raises(errors.BadKey, match="Nothing was sent"):
        driver(lambda: echo(1, key=key))
    assert echo.seen == []


@pytest.mark.parametrize("naming", [{"key": 7}, {"occurrence": 1.5}, {"tool_call_id": 7}])
def test_naming_of_the_wrong_type_is_refused(echo, driver, naming):
    with pytest.raises(errors.BadKey):
        driver(lambda: echo(1, **naming))


def test_very_long_names_still_make_one_key(echo, driver):
    long = "n" * 1000
    for _ in range(2):
        driver(lambda: echo(1, tool_call_id=long, occurrence=long + "\x00"))
    driver(lambda: echo(1, tool_call_id=long + "x", occurrence=long + "\x00"))
    assert len(echo.seen) == 2


def test_arguments_are_called_as_they_are_stored_the_first_time_too(echo, driver, run):
    driver(lambda: echo({"b": [1.0, 1e3], "aa": 1}))
    first = echo.seen[0][1][0]
    assert repr(first) == repr(Effect.objects.get().args["a"])
    assert repr(first) == "{'b': [1, 1000], 'aa': 1}"  # jsonb has an order of its own


# --- what the provider gets ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    [
        "refund:x:ä",
        "refund:x:a b",
        "refund:x:a\r\nInjected: yes",
        "refund:x:#1001",
        "k" * 246,
    ],
)
def test_a_key_that_providers_could_choke_on_is_hashed(key):
    first, second = (keys.for_provider(key, run_id=RUN, number=n) for n in (1, 2))
    assert first.startswith(f"{RUN}:")
    assert second == f"{first}#2"
    assert first.isascii()
    assert first.isprintable()
    assert len(second) <= 255
    assert (keys.number_of(first), keys.number_of(second)) == (1, 2)


def test_an_ordinary_key_reaches_the_provider_as_it_is():
    key = f"{RUN}:refund@{UUID(int=8)}:payments.refund:{'f' * 64}"
    assert keys.for_provider(key, run_id=RUN) == key
    assert keys.for_provider(key, run_id=RUN, number=12) == f"{key}#12"
    assert keys.number_of(f"{key}#12") == 12


def test_a_business_key_cannot_take_the_second_key_of_another_effect(world, driver, run):
    def pay(order: str, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order)

    tool = effect("t.hash", idempotency=Idempotency.LEDGER, key="r:{run_id}:{order}")(pay)
    world.says = [lambda: Outcome.refused("busy", retryable=True)]
    driver(lambda: tool("A"))
    driver(lambda: tool("A#2"))
    assert len(world.calls) == len(set(world.calls)) == 3


def test_the_same_call_in_another_run_is_another_effect(echo, driver, run):
    driver(lambda: echo(1))
    take_over(make_run())(lambda: echo(1))
    assert len(echo.seen) == 2
