"""Two or more at once, each on a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction

from accounts.actors import Actor
from ledger import errors, facts, refusals, rows, settle, stops, sweep
from ledger.models import Effect, EffectAttempt, Idempotency, Incident
from ledger.outcomes import Outcome
from ledger.tools import effect
from runs import leases
from runs.models import Run
from tests.ledger.conftest import (
    dying_at,
    effect_of,
    make_run,
    outcomes_of,
    pass_time,
    take_over,
    wakes_of,
)
from tests.ledger.provider import wait_for
from tests.ledger.test_refusals import approve, permitted  # noqa: F401 (a fixture)

pytestmark = pytest.mark.race
SHELL = Actor.command("test")


def at_once(*works: Callable[[], object]) -> list[object]:
    """Run all at the same time and return what each returned or raised, in order."""
    barrier, ends = threading.Barrier(len(works)), [None] * len(works)

    def run(place: int, work: Callable[[], object]) -> None:
        try:
            connection.ensure_connection()
            barrier.wait(20)
            ends[place] = work()
        except BaseException as exc:
            ends[place] = exc
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return ends


@pytest.mark.parametrize("name", ["provider", "lookup", "ledger"])
def test_twenty_branches_with_one_key_make_one_call(t, world, driver, run, name):
    tool = getattr(t, name)
    results = at_once(*[lambda: driver(lambda: tool(order="7"))] * 20)
    assert results == [{"id": "re_0", "order": "7"}] * 20
    assert len(world.calls) == 1
    assert effect_of(run).attempts == 1


def test_branches_wait_for_a_slow_call_and_share_its_result(t, world, driver, run):
    world.hold = threading.Event()
    release = threading.Timer(0.6, world.hold.set)
    release.start()
    results = at_once(*[lambda: driver(lambda: t.ledger(order="7"))] * 5)
    assert results == [{"id": "re_0", "order": "7"}] * 5
    assert len(world.calls) == 1


def test_branches_share_a_refusal_and_a_doubt(t, world, driver, run):
    world.says = [lambda: Outcome.refused("declined")]
    ends = at_once(*[lambda: driver(lambda: t.ledger(order="7"))] * 5)
    assert {type(end) for end in ends} == {errors.EffectFailed}
    world.says = [lambda: Outcome.unknown("nothing came")]
    ends = at_once(*[lambda: driver(lambda: t.ledger(order="8"))] * 5)
    assert {type(end) for end in ends} == {refusals.EffectInDoubt}
    assert len(world.calls) == 2


def test_a_call_marked_by_another_thread_that_is_not_of_this_process_is_waited_for(
    t, world, driver, run
):
    """Known only by its row: an open attempt of this fence, in time."""
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))
    token = EffectAttempt.objects.get().token
    got = at_once(
        lambda: driver(lambda: t.ledger(order="7")),
        lambda: threading.Event().wait(0.3) or facts.record(token, Outcome.success("re_5", 5)),
    )
    assert got[0] == 5
    assert len(world.calls) == 1


def test_different_effects_of_one_run_go_on_side_by_side(t, world, driver, run):
    world.hold = threading.Event()
    threading.Timer(0.3, world.hold.set).start()
    works = [lambda n=n: driver(lambda: t.ledger(order=str(n))) for n in range(8)]
    ends = at_once(*works)
    assert [end["order"] for end in ends] == [str(n) for n in range(8)]
    assert len(world.happened) == 8


def test_a_zombie_and_its_successor_make_one_call_at_a_deduplicating_provider(
    t, world, driver, run
):
    world.hold = threading.Event()
    zombie_end: list[object] = []
    zombie = threading.Thread(
        target=lambda: zombie_end.extend(at_once(lambda: driver(lambda: t.provider(order="7"))))
    )
    zombie.start()
    wait_for(lambda: world.calls)
    successor = take_over(run)
    world.hold.set()
    result = successor(lambda: t.provider(order="7"))
    zombie.join(20)
    assert result == {"id": "re_0", "order": "7"}
    assert len(world.happened) == 1
    assert not Incident.objects.exists()
    assert set(outcomes_of(effect_of(run))) <= {"succeeded", "unknown"}


def test_a_zombie_that_hears_its_answer_after_the_takeover_leaves_no_doubt(t, world, driver, run):
    world.hold = threading.Event()
    zombie = threading.Thread(target=at_once, args=(lambda: driver(lambda: t.ledger(order="7")),))
    zombie.start()
    wait_for(lambda: world.calls)
    successor = take_over(run)
    with pytest.raises(refusals.EffectInDoubt):
        successor(lambda: t.ledger(order="7"))
    world.hold.set()
    zombie.join(20)
    assert (effect_of(run).status, len(world.calls)) == ("sent", 1)
    assert wakes_of(run) == 2
    assert successor(lambda: t.ledger(order="7"))["order"] == "7"


def test_two_effects_race_for_one_permit(permitted, world, driver, run):  # noqa: F811 (the fixture)
    approve(permitted, "7")
    ends = at_once(
        *[lambda n=n: driver(lambda: permitted("7"), step=f"node@{n}") for n in range(6)]
    )
    assert sorted(type(end).__name__ for end in ends) == ["PermitMissing"] * 5 + ["dict"]
    assert len(world.calls) == 1


def doubtful(t, driver, run) -> Effect:
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))
    with pytest.raises(refusals.EffectInDoubt):
        take_over(run)(lambda: t.ledger(order="7"))
    return effect_of(run)


def test_of_two_people_who_settle_at_once_one_counts(t, world, driver, run):
    effect = doubtful(t, driver, run)

    def work(verdict: str) -> Callable[[], object]:
        return lambda: settle.settle(
            effect.uid, verdict, actor=SHELL, reason="I looked.", reference="re_1"
        )

    ends = at_once(*[work(verdict) for verdict in ("happened", "did_not_happen") * 3])
    refusals = [end for end in ends if isinstance(end, errors.NotInDoubt)]
    assert len(refusals) == 5
    assert "command line" in str(refusals[0])
    assert wakes_of(run) == 2


def test_one_allowed_attempt_is_used_once(t, world, driver, run):
    effect = doubtful(t, driver, run)
    settle.settle(effect.uid, "did_not_happen", actor=SHELL, reason="I looked.")
    again = take_over(run)
    at_once(*[lambda: again(lambda: t.ledger(order="7"))] * 8)
    assert len(world.calls) == 2
    assert effect_of(run).retry_allowed is False


def test_a_late_fact_and_a_person_at_once_leave_one_truth(t, world, driver, run):
    effect = doubtful(t, driver, run)
    token = effect.calls.get().token
    at_once(
        lambda: facts.record(token, Outcome.success("re_0", {"id": "re_0"})),
        lambda: settle.settle(
            effect.uid, "happened", actor=SHELL, reason="I looked.", reference="re_0"
        ),
    )
    assert effect_of(run).status in ("sent", "confirmed")
    assert effect_of(run).provider_ref == "re_0"
    assert not Incident.objects.exists()


def test_two_sweepers_do_no_harm(t, world, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))
    pass_time(run, timedelta(minutes=1))
    take_over(run)
    changed = at_once(sweep.sweep, sweep.sweep, sweep.sweep)
    assert sum(changed) == 1
    assert wakes_of(run) == 1


def test_the_sweeper_passes_over_what_is_locked(t, driver, run):
    with dying_at("effect.called"):
        driver(lambda: t.ledger(order="7"))
    pass_time(run, timedelta(minutes=1))
    take_over(run)
    with transaction.atomic():
        rows.lock_run(run.pk)
        assert at_once(sweep.sweep) == [0]
    assert sweep.sweep() == 1


def test_a_driver_that_loses_its_lease_between_reserve_and_mark_marks_nothing(
    t, world, driver, run, monkeypatch
):
    """The fence is held locked: a taker has to wait for the reservation, and the other way."""
    order: list[str] = []
    real = leases.lock

    def lock(lease: object) -> int:
        wakes = real(lease)
        taker = threading.Thread(
            target=at_once, args=(lambda: (take_over(run), order.append("taken")),)
        )
        taker.start()
        taker.join(0.3)
        order.append("reserving")
        return wakes

    monkeypatch.setattr("ledger.reserve.leases.lock", lock)
    driver(lambda: t.ledger(order="7"))
    wait_for(lambda: "taken" in order)
    assert order == ["reserving", "taken"]


def test_runs_do_not_wait_for_each_other(t, world, driver, run):
    others = [take_over(make_run()) for _ in range(6)]
    with transaction.atomic():
        rows.lock_run(run.pk)
        ends = at_once(*[lambda d=d: d(lambda: t.ledger(order="7")) for d in others])
    assert len(ends) == len(world.happened) == 6


def test_a_frozen_transaction_delays_a_fact_but_does_not_lose_it(t, world, driver, run):
    held, release = threading.Event(), threading.Event()

    def freeze() -> None:
        with transaction.atomic():
            rows.lock_run(run.pk)
            held.set()
            release.wait(20)

    frozen = threading.Thread(target=at_once, args=(freeze,))

    def say() -> None:
        frozen.start()
        held.wait(20)
        threading.Timer(0.5, release.set).start()

    world.says = [say]
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '100ms'")
    try:
        assert driver(lambda: t.ledger(order="7"))["order"] == "7"
    finally:
        connection.close()
        frozen.join(20)
    assert effect_of(run).status == "sent"


def test_a_stop_and_reservations_at_once_end_in_either_order(t, world, driver, run):
    ends = at_once(
        lambda: stops.set("everything", "", actor=SHELL, reason="Now."),
        *[lambda n=n: driver(lambda: t.ledger(order=str(n))) for n in range(5)],
    )
    stopped = [end for end in ends if isinstance(end, refusals.EmergencyStopped)]
    assert len(stopped) + len(world.calls) == 5
    with pytest.raises(refusals.EmergencyStopped):
        driver(lambda: t.ledger(order="later"))


def test_two_first_uses_of_a_business_key_with_other_arguments(world, driver, run):
    def pay(order: str, amount: int, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order, amount=amount)

    tool = effect("t.by_order", idempotency=Idempotency.LEDGER, key="refund:{run_id}:{order}")(pay)
    ends = at_once(*[lambda n=n: driver(lambda: tool("7", 10 + n)) for n in range(4)])
    assert sum(isinstance(end, errors.EffectConflict) for end in ends) == 3
    assert len(world.calls) == 1
    assert Run.objects.filter(pk=run.pk).exists()
