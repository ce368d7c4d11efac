"""Facts are recorded whoever holds the lease, once, and never lost."""

from __future__ import annotations

import contextlib
import threading
from datetime import timedelta

import httpx
import pytest
from django.db import OperationalError

from accounts import clock
from audit.models import Entry
from ledger import calls, errors, facts, refusals, rows
from ledger.models import Effect, EffectAttempt, Idempotency, Incident
from ledger.outcomes import Kind, Outcome
from ledger.tools import effect
from runs import killpoints
from tests.ledger.conftest import (
    calls_of,
    dying_at,
    effect_of,
    outcomes_of,
    pass_time,
    take_over,
    wakes_of,
)
from tests.ledger.provider import http, raises, returns, unheard, wait_for


def verbs(run) -> list[str]:
    return list(Entry.objects.filter(run_id=run.pk).order_by("id").values_list("verb", flat=True))


def token_of(run, number: int = 1):
    return EffectAttempt.objects.get(effect__run=run, number=number).token


def kinds(run) -> list[str]:
    return list(Incident.objects.filter(run=run).order_by("id").values_list("kind", flat=True))


def test_a_late_success_of_a_former_driver_is_recorded_and_frees_the_run(t, driver, run, rung):
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.ledger(order="7"))
    assert wakes_of(run) == 1

    facts.record(token_of(run), Outcome.success("re_9", {"id": "re_9"}))

    effect = effect_of(run)
    assert (effect.status, effect.provider_ref, effect.error) == ("sent", "re_9", "")
    assert wakes_of(run) == 2
    assert rung == [run.pk, run.pk]
    assert verbs(run) == ["effect.in_doubt", "effect.late_success"]
    assert take_over(run)(lambda: t.ledger(order="7")) == {"id": "re_9"}


def test_a_late_refusal_of_the_only_open_call_ends_the_doubt(t, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.ledger(order="7"))

    facts.record(token_of(run), Outcome.refused("declined"))
    assert effect_of(run).status == "failed"
    assert wakes_of(run) == 2
    assert verbs(run) == ["effect.in_doubt", "effect.late_refusal", "effect.failed"]
    with pytest.raises(errors.EffectFailed, match="declined"):
        take_over(run)(lambda: t.ledger(order="7"))


def test_how_an_effect_ended_is_told_to_the_log_and_its_result_is_not(t, driver, run):
    driver(lambda: t.ledger(order="7"))
    effect = effect_of(run)
    entry = Entry.objects.get(run_id=run.pk)
    assert (entry.verb, entry.target_id) == ("effect.sent", str(effect.uid))
    assert entry.data == {
        "key": effect.idempotency_key,
        "tool": effect.tool,
        "attempt": 1,
        "reference": effect.provider_ref,
        "arguments": effect.args_hash,
    }


def test_a_refusal_for_good_is_told_with_its_reason(t, world, driver, run):
    world.says = [http(422, {"error": "no such order"})]
    with pytest.raises(errors.EffectFailed):
        driver(lambda: t.ledger(order="7"))
    entry = Entry.objects.get(run_id=run.pk)
    assert (entry.verb, entry.reason) == ("effect.failed", effect_of(run).error)


def test_what_a_look_up_found_is_told(t, world, driver, run):
    world.says = [world.happens_unheard()]
    driver(lambda: t.lookup(order="7"))
    entry = Entry.objects.get(run_id=run.pk)
    assert (entry.verb, entry.data["reference"]) == ("effect.confirmed", "re_0")


def test_an_entry_and_its_fact_are_one_transaction(t, driver, run, monkeypatch):
    """If the fact does not stay, neither does its entry."""

    def breaks(effect):
        raise ValueError("after everything was written")

    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))
    monkeypatch.setattr(facts, "standing", breaks)
    with pytest.raises(ValueError, match="after everything"):
        facts.record(token_of(run), Outcome.success("re_1", {}))
    assert effect_of(run).status == "pending"
    assert verbs(run) == []


def test_a_late_unknown_changes_nothing(t, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.provider(order="7"))
    take_over(run)(lambda: t.provider(order="7"))
    facts.record(token_of(run), Outcome.unknown("never heard"))
    assert effect_of(run).status == "sent"
    assert outcomes_of(effect_of(run)) == ["unknown", "succeeded"]


def test_unknown_never_replaces_a_known_end(t, driver, run):
    driver(lambda: t.ledger(order="7"))
    facts.record(token_of(run), Outcome.unknown("a confused caller"))
    facts.record(token_of(run), Outcome.refused("a confused caller"))
    assert (effect_of(run).status, outcomes_of(effect_of(run))) == ("sent", ["succeeded"])


def test_a_second_success_is_kept_on_its_attempt_and_opens_an_incident(t, world, driver, run):
    world.dedup = False
    with dying_at("effect.called"):
        driver(lambda: t.provider(order="7"))  # a provider that breaks its promise
    take_over(run)(lambda: t.provider(order="7"))
    assert len(world.happened) == 2
    facts.record(token_of(run), Outcome.success("re_0", {"id": "re_0"}))

    effect = effect_of(run)
    assert (effect.status, effect.provider_ref) == ("sent", "re_1")  # the first one heard
    assert [call.provider_ref for call in calls_of(effect)] == ["re_0", "re_1"]
    assert outcomes_of(effect) == ["succeeded", "succeeded"]
    assert kinds(run) == ["duplicate"]
    assert verbs(run) == ["effect.sent", "effect.duplicate"]
    incident = Incident.objects.get()
    assert (incident.facts["first"], incident.facts["reference"]) == ("re_1", "re_0")


def test_the_same_success_told_twice_is_no_incident(t, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.provider(order="7"))
    take_over(run)(lambda: t.provider(order="7"))
    for _ in range(2):
        facts.record(token_of(run), Outcome.success("re_0", {"id": "re_0"}))
    assert kinds(run) == []


def test_without_references_only_the_promise_of_the_provider_makes_two_successes_one(run, driver):
    plain = {"function": lambda: Outcome.success("")}

    def kept(*, idempotency_key: str) -> Outcome:
        return plain["function"]()

    def unkept(*, idempotency_key: str) -> Outcome:
        return plain["function"]()

    promised = effect("t.kept", idempotency=Idempotency.PROVIDER, window=timedelta(hours=1))(kept)
    alone = effect("t.unkept", idempotency=Idempotency.LEDGER)(unkept)
    for tool, name, expected in ((promised, "t.kept", []), (alone, "t.unkept", ["duplicate"])):
        here = take_over(run)
        here(tool)
        first = effect_of(run, name)
        second = EffectAttempt.objects.create(
            effect=first,
            number=2,
            provider_key=first.provider_key,
            fence=1,
            holder="w1",
            timeout_at=clock.now(),
        )
        facts.record(second.token, Outcome.success(""))
        assert kinds(run) == expected


def test_a_success_of_what_had_been_ruled_out_opens_an_incident(t, world, driver, run):
    with dying_at("effect.reserved"):
        driver(lambda: t.lookup(order="7"))
    pass_time(run, timedelta(minutes=2))
    take_over(run)(lambda: t.lookup(order="7"))  # the provider said no, so it was called again
    assert outcomes_of(effect_of(run)) == ["absent", "succeeded"]

    facts.record(token_of(run), Outcome.success("re_zombie"))
    assert outcomes_of(effect_of(run)) == ["succeeded", "succeeded"]
    assert effect_of(run).provider_ref == "re_0"
    assert kinds(run) == ["duplicate"]


def test_a_late_success_of_a_failed_effect_makes_it_sent_and_opens_an_incident(
    t, world, driver, run
):
    world.says = [unheard(), http(402)]
    with pytest.raises(errors.EffectFailed):
        driver(lambda: t.provider(order="7"))
    facts.record(token_of(run), Outcome.success("re_zombie"))
    assert (effect_of(run).status, effect_of(run).provider_ref) == ("sent", "re_zombie")
    assert kinds(run) == ["contradiction"]
    assert wakes_of(run) == 1


def test_what_comes_after_the_time_limit_is_recorded_when_it_comes(world, run, driver):
    world.hold = threading.Event()

    def slow(order: str, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order)

    tool = effect("t.slow", idempotency=Idempotency.LEDGER, timeout=timedelta(seconds=0.2))(slow)
    with pytest.raises(refusals.EffectInDoubt, match=r"no answer within 0\.\d s"):
        driver(lambda: tool(order="7"))
    assert effect_of(run).status == "in_doubt"

    world.hold.set()
    wait_for(lambda: effect_of(run).status == "sent")
    assert outcomes_of(effect_of(run)) == ["succeeded"]
    assert wakes_of(run) == 2


def test_an_audit_entry_that_cannot_be_written_does_not_lose_the_fact(t, driver, run, monkeypatch):
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.ledger(order="7"))

    real, failures = rows.trail.record, [RuntimeError("the log is broken")]

    def record(*args: object, **kwargs: object) -> object:
        if failures:
            raise failures.pop()
        return real(*args, **kwargs)

    monkeypatch.setattr(rows.trail, "record", record)
    facts.record(token_of(run), Outcome.success("re_9"))
    assert effect_of(run).status == "sent"
    assert verbs(run) == ["effect.in_doubt", "effect.late_success"]  # written after the commit


def test_an_audit_log_that_stays_broken_does_not_lose_the_fact(t, driver, run, monkeypatch):
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))

    def record(*args: object, **kwargs: object) -> object:
        raise RuntimeError("the log is broken")

    monkeypatch.setattr(rows.trail, "record", record)
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.ledger(order="7"))
    facts.record(token_of(run), Outcome.success("re_9"))
    assert effect_of(run).status == "sent"


def test_a_fact_is_recorded_although_the_database_fails_at_first(
    t, world, driver, run, monkeypatch
):
    real, failures = facts._record, [OperationalError("gone"), OperationalError("locked")]

    def record(*args: object, **kwargs: object) -> object:
        if failures:
            raise failures.pop()
        return real(*args, **kwargs)

    monkeypatch.setattr(facts, "_record", record)
    assert driver(lambda: t.ledger(order="7")) == {"id": "re_0", "order": "7"}
    assert effect_of(run).status == "sent"


def test_a_fact_that_nobody_takes_leaves_the_call_open_and_gives_the_run_up(
    t, world, driver, run, monkeypatch
):
    def record(*args: object, **kwargs: object) -> object:
        raise OperationalError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(facts, "_record", record)
        patch.setattr(rows, "PATIENCE", 0.1)
        with pytest.raises(refusals.LeaseGone):
            driver(lambda: t.ledger(order="7"))
    assert outcomes_of(effect_of(run)) == ["open"]
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.ledger(order="7"))
    assert len(world.calls) == 1


def test_a_result_that_cannot_be_stored_does_not_lose_the_fact(t, world, driver, run, monkeypatch):
    real = rows.storable

    def storable(result: object, redact: object) -> object:
        if result is not None:
            raise RecursionError
        return real(result)

    monkeypatch.setattr(rows, "storable", storable)
    for _ in range(2):
        with pytest.raises(errors.ResultNotKept) as lost:
            driver(lambda: t.ledger(order="7"))
        assert lost.value.reference == "re_0"
    assert (effect_of(run).status, len(world.calls)) == ("sent", 1)


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        ({"a": 1.0, "b": [1, 2], "zz": None, "y": {"c": True}}, None),
        ("nul \x00 and half \ud800", r"nul \u{0} and half \u{D800}"),
        (float("nan"), "NaN"),
        (2**60, str(2**60)),
        ((1, 2), [1, 2]),
        (None, None),
        (0, 0),
        ("", ""),
        (False, False),
    ],
)
def test_the_node_gets_what_is_stored_the_first_time_and_ever_after(driver, run, result, kept):
    def give(*, idempotency_key: str) -> Outcome:
        return Outcome.success("re_1", result)

    tool = effect("t.give", idempotency=Idempotency.LEDGER)(give)
    first, again = driver(tool), take_over(run)(tool)
    assert repr(first) == repr(again)
    assert first == (kept if kept is not None else result)


def test_a_result_that_is_too_large_happened_and_says_so_each_time(driver, run, settings):
    settings.LEDGER_RESULT_LIMIT = 2000
    calls = []

    def give(*, idempotency_key: str) -> Outcome:
        calls.append(1)
        return Outcome.success("re_1", {"text": "x" * 3000})

    tool = effect("t.large", idempotency=Idempotency.LEDGER)(give)
    messages = []
    for _ in range(2):
        with pytest.raises(errors.ResultNotKept) as cut:
            driver(tool)
        assert cut.value.reference == "re_1"
        messages.append(str(cut.value))
    assert messages[0] == messages[1]
    assert "more than 2000 are not kept" in messages[0]
    assert (effect_of(run).status, len(calls)) == ("sent", 1)
    assert len(str(effect_of(run).result)) < 2000


def test_a_long_or_odd_reference_does_not_lose_the_success(driver, run):
    def give(*, idempotency_key: str) -> Outcome:
        return Outcome.success("r" * 1000 + "\x00", None)

    driver(effect("t.long", idempotency=Idempotency.LEDGER)(give))
    assert Effect.objects.get().provider_ref == "r" * 300


def test_an_endless_retry_after_is_capped(driver, run, world, t):
    world.says = [lambda: Outcome.refused("later", retryable=True, retry_after=float("inf"))]
    driver(lambda: t.ledger(order="7"))
    world.says = [lambda: Outcome.refused("later", retryable=True, retry_after=1e18)]
    with pytest.raises(refusals.LookAgainLater) as later:
        driver(lambda: t.ledger(order="8"))
    assert later.value.retry_after <= 24 * 3600


def test_an_open_call_is_closed_as_not_started_if_the_deadline_has_passed(t, world, driver, run):
    def stall(name: str, run_id: str) -> None:
        if name == "effect.reserved":
            driver.authority.lost.set()

    killpoints.install(stall)
    with pytest.raises(refusals.LeaseGone):
        driver(lambda: t.ledger(order="7"))
    killpoints.install(None)
    assert world.calls == []
    assert (effect_of(run).status, outcomes_of(effect_of(run))) == ("pending", ["absent"])
    take_over(run)(lambda: t.ledger(order="7"))
    assert len(world.happened) == 1


def test_asking_again_too_late_does_not_say_that_nothing_was_called(
    t, world, driver, run, monkeypatch
):
    """An attempt of two calls: the first said "in progress", the second came too late to start."""
    monkeypatch.setattr("ledger.effects.IN_PROGRESS", 0.01)
    real, ends = calls.in_thread, []

    def in_thread(call: calls.Call) -> calls.End:
        if len(ends) == 1:
            ends.append(calls.NoAnswer(seconds=5))
            call.late(calls.NotStarted())
        else:
            ends.append(real(call))
        return ends[-1]

    world.says = [http(409)]
    monkeypatch.setattr(calls, "in_thread", in_thread)
    driver(lambda: t.provider(order="7"))
    assert outcomes_of(effect_of(run)) == ["unknown", "succeeded"]
    assert set(world.calls) == {effect_of(run).idempotency_key}


def test_without_a_thread_to_be_had_nothing_is_called(t, world, driver, run, monkeypatch):
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(refusals.LeaseGone):
            driver(lambda: t.ledger(order="7"))
    assert (world.calls, outcomes_of(effect_of(run))) == ([], ["absent"])


def test_a_connection_that_breaks_inside_the_call_is_unknown(t, world, driver):
    world.says = [raises(httpx.WriteError("broken pipe"))]
    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="7"))


@pytest.mark.parametrize(
    ("answer", "status", "calls"),
    [
        (Outcome.refused(None), "failed", ["refused"]),
        (Outcome.refused({"message": "declined"}), "failed", ["refused"]),
        (Outcome.unknown(None), "in_doubt", ["unknown"]),
        (Outcome.unknown(TimeoutError("x")), "in_doubt", ["unknown"]),
        (Outcome(kind=Kind.SUCCESS, reference="r", http_status=10**12), "sent", ["succeeded"]),
        (Outcome.refused("a\x00\ud800"), "failed", ["refused"]),
    ],
)
def test_how_a_call_ended_is_recorded_whatever_the_tool_made_its_outcome_of(
    t, world, driver, run, answer, status, calls
):
    world.says = [returns(answer)]
    with contextlib.suppress(errors.EffectFailed, refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="7"))
    assert (effect_of(run).status, outcomes_of(effect_of(run))) == (status, calls)


@pytest.mark.parametrize(
    ("answer", "status", "calls"),
    [
        (Outcome.success("re_1", {"name": "Ms Secret"}), "sent", ["succeeded"]),
        (Outcome.refused("Ms Secret has no money"), "failed", ["refused"]),
        (Outcome.unknown("Ms Secret did not answer"), "in_doubt", ["unknown"]),
    ],
)
def test_what_cannot_be_stored_is_left_out_and_the_end_recorded_all_the_same(
    t, world, driver, run, monkeypatch, caplog, answer, status, calls
):
    real = rows.close

    def refuses(attempt, outcome, said, **more):
        if "Ms Secret" in f"{said}":
            raise ValueError(f"cannot store {said}")
        real(attempt, outcome, said, **more)

    monkeypatch.setattr(rows, "close", refuses)
    world.says = [returns(answer)]
    with contextlib.suppress(errors.EffectFailed, errors.ResultNotKept, refusals.EffectInDoubt):
        driver(lambda: t.ledger(order="7"))
    effect = effect_of(run)
    assert (effect.status, outcomes_of(effect)) == (status, calls)
    assert "could not be stored" in effect.error
    assert "could not be stored whole: ValueError at" in caplog.text
    assert "Secret" not in caplog.text


def test_the_log_never_repeats_an_answer_that_was_not_recorded(t, driver, run, monkeypatch, caplog):
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))

    def away(*_):
        raise OperationalError("gone")

    monkeypatch.setattr(rows, "PATIENCE", 0)
    monkeypatch.setattr(rows, "lock_run", away)
    with pytest.raises(OperationalError):
        facts.record(token_of(run), Outcome.success("re_1", {"name": "Ms Secret"}))
    assert "SUCCESS 're_1') could not be recorded: OperationalError" in caplog.text
    assert "Secret" not in caplog.text


def test_the_log_never_repeats_a_late_answer_that_was_not_recorded(
    world, run, driver, monkeypatch, caplog
):
    world.hold = threading.Event()

    @effect("t.slow", idempotency=Idempotency.LEDGER, timeout=timedelta(milliseconds=100))
    def slow(order: str, *, idempotency_key: str) -> object:
        world.call(idempotency_key, order)
        return Outcome.success("re_1", {"name": "Ms Secret"})

    with pytest.raises(refusals.EffectInDoubt):
        driver(lambda: slow(order="7"))

    def broken(*_):
        raise ValueError("Ms Secret")

    monkeypatch.setattr(facts, "record", broken)
    world.hold.set()
    wait_for(lambda: "late end" in caplog.text)
    assert "late end of a call of t.slow was not recorded: Returned, attempt" in caplog.text
    assert "Secret" not in caplog.text
