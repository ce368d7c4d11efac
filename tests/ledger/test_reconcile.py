"""Asking providers outside of runs: what is done gets confirmed, and doubts end by answers only."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts import clock
from accounts import errors as people
from accounts.actors import Actor
from audit.models import Entry
from ledger import errors, facts, registry, rows
from ledger.models import Effect, Incident
from ledger.outcomes import Found
from ledger.reconcile import asking
from runs.models import Lease, Run
from tests.ledger.conftest import (
    dying_at,
    effect_of,
    fresh_actor,
    make_run,
    outcomes_of,
    pass_time,
    take_over,
    wakes_of,
)
from tests.ledger.provider import raises, returns, unheard
from tests.support.people import person
from tests.support.web import html_of, text_of

SILENT = raises(TimeoutError("no answer"))
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def at_once(settings, quick) -> None:
    settings.LEDGER_CONFIRM_AFTER = timedelta(0)


def make_doubt(run: Run, call, world, *, happens: bool = False) -> Effect:
    """Lose the worker of a call, and have its effect in doubt."""
    world.says = [] if happens else [unheard()]
    with dying_at("effect.called"):
        take_over(run)(call)
    effect = effect_of(run)
    with transaction.atomic():
        rows.lock_run(run.pk)
        facts.doubt(rows.lock_effect(effect.pk), "Nobody heard.")
    return effect_of(run)


def looks(effect: Effect) -> list[tuple[str, bool]]:
    return list(effect.looks.order_by("id").values_list("answer", "counts"))


def incidents(run: Run) -> list[str]:
    return list(Incident.objects.filter(run=run).values_list("kind", flat=True))


# --- in doubt -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["lookup", "provider_with_lookup"])
def test_a_yes_ends_a_doubt_and_the_run_goes_on(t, world, run, rung, name):
    tool = getattr(t, name)
    doubtful = make_doubt(run, lambda: tool(order="7"), world, happens=True)
    before, rung[:] = wakes_of(run), []
    assert asking.work() == 1
    effect = effect_of(run)
    assert (effect.status, effect.provider_ref) == ("confirmed", "re_0")
    assert (wakes_of(run), rung) == (before + 1, [run.pk])
    assert Entry.objects.get(verb="effect.confirmed").actor_label == "look-up"
    assert take_over(run)(lambda: tool(order="7")) == effect.result
    assert world.calls == [doubtful.provider_key]
    assert asking.work() == 0


def test_a_no_that_comes_too_early_ends_nothing(t, world, run):
    make_doubt(run, lambda: t.lookup(order="7"), world)
    asking.work()
    effect = effect_of(run)
    assert (effect.status, looks(effect)) == ("in_doubt", [("absent", False)])
    assert effect.look_at is not None
    assert timedelta(seconds=25) < effect.look_at - clock.now() < timedelta(seconds=45)


def test_a_no_that_is_late_enough_ends_the_doubt_and_allows_the_next_call(t, world, run):
    make_doubt(run, lambda: t.lookup(order="7"), world)
    pass_time(run, HOUR)
    before = wakes_of(run)
    asking.work()
    effect = effect_of(run)
    assert (effect.status, outcomes_of(effect)) == ("pending", ["absent"])
    assert (looks(effect), wakes_of(run)) == ([("absent", True)], before + 1)
    take_over(run)(lambda: t.lookup(order="7"))
    assert (len(world.happened), world.calls[-1][-2:]) == (1, "#2")


def test_the_quarantine_is_that_of_the_moment_before_the_question(t, world, run):
    make_doubt(run, lambda: t.lookup(order="7"), world)

    def slow() -> None:
        pass_time(run, HOUR)  # while the provider thinks

    world.finds = [slow]
    asking.work()
    assert (effect_of(run).status, looks(effect_of(run))) == ("in_doubt", [("absent", False)])


def test_a_no_to_an_earlier_attempt_says_nothing_about_a_later_one(t, world, run):
    effect = make_doubt(run, lambda: t.lookup(order="7"), world)
    pass_time(run, HOUR)

    def meanwhile() -> None:
        Effect.objects.filter(pk=effect.pk).update(attempts=2)

    world.finds = [meanwhile]
    asking.work()
    assert effect_of(run).status == "in_doubt"


def test_silence_ends_nothing_and_is_asked_again_later_and_later(t, world, run, settings):
    settings.LEDGER_CONFIRM_AFTER = timedelta(minutes=1)
    make_doubt(run, lambda: t.lookup(order="7"), world)
    pass_time(run, HOUR * 24 * 3650)
    waits = []
    for _ in range(9):
        world.finds = [SILENT]
        Effect.objects.update(look_at=clock.now())
        assert asking.work() == 1
        waits.append(round((effect_of(run).look_at - clock.now()).total_seconds() / 60))
    assert waits == [2, 4, 8, 16, 32, 60, 60, 60, 60]
    assert (effect_of(run).status, asking.work()) == ("in_doubt", 0)


def test_what_a_look_says_is_kept_without_secrets(t, world, run, settings):
    settings.LEDGER_CONFIRM_AFTER = HOUR
    make_doubt(run, lambda: t.lookup(order="7"), world)
    Effect.objects.update(redact=["iban"], look_at=clock.now())
    world.finds = [raises(ValueError('{"iban": "DE02"}'))]
    asking.work()
    assert "DE02" not in effect_of(run).looks.get().error


@pytest.mark.parametrize("answer", ["nonsense", 7, {"reference": "re_0"}, True])
def test_an_answer_of_another_kind_is_no_answer(t, world, run, answer, settings):
    settings.LEDGER_CONFIRM_AFTER = HOUR
    make_doubt(run, lambda: t.lookup(order="7"), world)
    pass_time(run, HOUR)
    world.finds = [returns(answer)]
    Effect.objects.update(look_at=clock.now())
    asking.work()
    assert (effect_of(run).status, looks(effect_of(run))) == ("in_doubt", [("silent", True)])


def test_a_doubt_of_a_run_that_has_ended_ends_as_well(t, world, run):
    make_doubt(run, lambda: t.lookup(order="7"), world)
    pass_time(run, HOUR)
    Run.objects.filter(pk=run.pk).update(status="cancelled", ended_at=clock.now())
    Lease.objects.filter(pk=run.pk).update(expires_at=None)
    asking.work()
    assert effect_of(run).status == "pending"


def test_nobody_is_asked_about_what_only_the_ledger_guards(t, world, run):
    make_doubt(run, lambda: t.ledger(order="7"), world)
    assert (effect_of(run).look_at, asking.work(), asking.sweep()) == (None, 0, 0)


def test_a_process_without_the_tool_leaves_it_to_others(t, world, run, monkeypatch):
    make_doubt(run, lambda: t.lookup(order="7"), world)
    monkeypatch.setattr(registry, "_tools", {})
    assert (asking.sweep(), asking.work()) == (1, 0)
    assert looks(effect_of(run)) == []


def test_a_tool_that_can_no_longer_be_asked_is_not_claimed_for_ever(t, world, run):
    make_doubt(run, lambda: t.provider(order="7"), world)
    Effect.objects.update(look_at=clock.now())
    assert asking.work() == 1
    assert effect_of(run).look_at is None


@pytest.mark.race
def test_two_workers_do_not_ask_about_the_same_effect_at_once(t, world, run):
    make_doubt(run, lambda: t.lookup(order="7"), world)
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        assert go_on.wait(10)

    world.finds = [slow]

    def ask() -> int:
        try:
            return asking.work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(ask)
        assert begun.wait(10)
        assert asking.work() == 0
        go_on.set()
        assert first.result(10) == 1
    assert len(looks(effect_of(run))) == 1


@pytest.mark.race
def test_an_effect_that_somebody_has_locked_holds_nobody_up(t, world, run):
    make_doubt(run, lambda: t.lookup(order="7"), world)
    make_doubt(make_run(), lambda: t.lookup(order="8"), world, happens=True)
    locked, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                rows.lock_effect(effect_of(run).pk)
                locked.set()
                assert go_on.wait(10)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as threads:
        held = threads.submit(hold)
        assert locked.wait(10)
        try:
            assert asking.work() == 1
        finally:
            go_on.set()
        held.result(10)
    assert Effect.objects.exclude(run=run).get().status == "confirmed"


def test_who_dies_while_asking_is_followed_by_another(t, world, run):
    make_doubt(run, lambda: t.lookup(order="7"), world, happens=True)
    with dying_at("look.answered"):
        asking.work()
    assert (effect_of(run).status, asking.work()) == ("in_doubt", 0)
    Effect.objects.update(look_at=clock.now())  # the claim is over
    asking.work()
    assert effect_of(run).status == "confirmed"


# --- done -----------------------------------------------------------------------------------------


def test_what_was_done_is_confirmed_by_asking_and_then_no_more(t, world, driver, run):
    driver(lambda: t.lookup(order="7"))
    wakes = wakes_of(run)
    assert (asking.sweep(), asking.work()) == (1, 1)
    assert (effect_of(run).status, wakes_of(run), incidents(run)) == ("confirmed", wakes, [])
    assert (asking.sweep(), asking.work()) == (0, 0)


def test_the_first_look_waits_for_the_provider_to_tell_by_itself(t, driver, run, settings):
    settings.LEDGER_CONFIRM_AFTER = timedelta(minutes=1)
    driver(lambda: t.lookup(order="7"))
    assert asking.work() == 0


def test_asking_for_confirmation_has_an_end(t, world, driver, run, settings):
    settings.LEDGER_CONFIRM_LOOKS = 3
    driver(lambda: t.lookup(order="7"))
    world.finds = [SILENT] * 3
    assert asking.work() == 3
    assert (effect_of(run).status, effect_of(run).look_at, incidents(run)) == ("sent", None, [])


def test_a_provider_that_denies_what_it_said_is_an_incident_at_the_last_look(
    t, world, driver, run, settings
):
    settings.LEDGER_CONFIRM_LOOKS = 2
    driver(lambda: t.lookup(order="7"))
    pass_time(run, HOUR)
    world.finds = [returns(None), returns(None)]
    assert asking.work() == 2
    assert (effect_of(run).status, incidents(run)) == ("sent", ["unknown"])


def test_another_reference_than_the_calls_is_an_incident(t, world, driver, run):
    driver(lambda: t.lookup(order="7"))
    world.finds = [returns(Found(reference="re_other"))]
    assert asking.work() == 1
    assert (effect_of(run).status, incidents(run)) == ("sent", ["duplicate"])


# --- people ---------------------------------------------------------------------------------------


def test_an_operator_has_the_provider_asked_now(t, world, run, settings):
    settings.LEDGER_CONFIRM_AFTER = HOUR
    doubtful = make_doubt(run, lambda: t.lookup(order="7"), world, happens=True)
    assert asking.work() == 0
    asking.ask_now(doubtful.uid, actor=fresh_actor("Ada"))
    assert asking.work() == 1
    assert effect_of(run).status == "confirmed"
    assert Entry.objects.get(verb="effect.look_asked").actor_label == "Ada"


@pytest.mark.parametrize(
    ("name", "who", "error"),
    [
        ("lookup", "Cy", people.NotPermitted),
        ("lookup", "Dee", people.NotPermitted),
        ("ledger", "Ada", errors.CannotBeAsked),
    ],
)
def test_who_may_not_or_cannot_ask_is_refused_and_recorded(t, world, run, name, who, error):
    doubtful = make_doubt(run, lambda: getattr(t, name)(order="7"), world)
    with pytest.raises(error):
        asking.ask_now(doubtful.uid, actor=fresh_actor(who))
    assert Entry.objects.get(verb="effect.look_refused").allowed is False


def test_nothing_is_asked_about_what_is_not_in_doubt(t, driver, run):
    driver(lambda: t.lookup(order="7"))
    with pytest.raises(errors.NotInDoubt):
        asking.ask_now(effect_of(run).uid, actor=Actor.command("test"))


# --- the page -------------------------------------------------------------------------------------


def test_the_queue_shows_the_longest_doubt_first_with_what_is_known(
    client, t, world, run, settings
):
    make_doubt(run, lambda: t.lookup(order="7"), world)
    other = make_run("other")
    make_doubt(other, lambda: t.ledger(order="8"), world)
    settings.LEDGER_CONFIRM_AFTER = HOUR
    world.finds = [SILENT]
    asking.work()
    client.force_login(person("Ada"))
    text = text_of(client.get("/ledger/reconcile/"))
    assert text.index("order 7") < text.index("order 8")
    assert "1 time, last" in text
    assert "No answer" in text
    assert "It cannot be asked" in text
    assert "Its worker: Still drives the run" in text
    assert text.count("Look now") == 1
    assert text.count("Settle…") == 2


def test_the_button_of_the_queue_asks_and_comes_back(client, t, world, run, settings):
    settings.LEDGER_CONFIRM_AFTER = HOUR
    doubtful = make_doubt(run, lambda: t.lookup(order="7"), world)
    client.force_login(person("Ada"))
    answer = client.post(reverse("ledger:look", args=[doubtful.uid]), follow=True)
    assert answer.redirect_chain[-1][0] == "/ledger/reconcile/"
    assert "The provider is asked now" in html_of(answer)
    assert Effect.objects.get().look_at <= clock.now()


def test_who_only_reads_sees_the_queue_and_no_buttons(client, t, world, run):
    doubtful = make_doubt(run, lambda: t.lookup(order="7"), world)
    client.force_login(person("Cy"))
    text = text_of(client.get("/ledger/reconcile/"))
    assert "order 7" in text
    assert "Look now" not in text
    assert client.post(reverse("ledger:look", args=[doubtful.uid])).status_code == 403


def test_an_empty_queue_says_what_that_means(client):
    client.force_login(person("Ada"))
    assert "No effect is in doubt" in text_of(client.get("/ledger/reconcile/"))


def test_the_queue_asks_as_much_of_the_database_for_many_as_for_one(client, t, world, run):
    client.force_login(person("Ada"))
    make_doubt(run, lambda: t.lookup(order="7"), world)
    client.get("/ledger/reconcile/")
    with CaptureQueriesContext(connection) as one:
        client.get("/ledger/reconcile/")
    for _ in range(3):
        make_doubt(make_run(), lambda: t.lookup(order="8"), world)
    with CaptureQueriesContext(connection) as many:
        client.get("/ledger/reconcile/")
    assert len(one) == len(many)


def test_the_queue_has_pages(client, t, world, monkeypatch):
    monkeypatch.setattr("ledger.reconcile.pages.SIZE", 2)
    for _ in range(3):
        make_doubt(make_run(), lambda: t.lookup(order="7"), world)
    client.force_login(person("Ada"))
    first = client.get("/ledger/reconcile/")
    older = html_of(first).split('href="?after=')[1].split('"')[0]
    second = text_of(client.get(f"/ledger/reconcile/?after={older}"))
    assert (text_of(first).count("order 7"), second.count("order 7")) == (2, 1)
