"""Drift on the pages, and under the real driver: parked, compared, accepted."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection, connections
from django.urls import reverse
from langgraph.graph import START, StateGraph

from accounts.actors import Actor
from ledger import refusals
from ledger.drift import deciding
from ledger.models import Drift, Effect, Idempotency
from ledger.story import Story
from ledger.tools import effect
from runs import admission, checkpoints, controls, driver, killpoints
from runs.models import Run
from runs.status import Outcome as Ended
from tests.ledger import desk
from tests.ledger.conftest import dying_at, make_run, take_over
from tests.ledger.provider import Provider
from tests.ledger.test_driven import due, lose
from tests.support import caches
from tests.support.people import person
from tests.support.web import html_of, text_of

SHELL = Actor.command("test")


@pytest.fixture
def drift(world: Provider) -> Drift:
    """A run that waits because its step came back with another reference."""

    def pay(order: str, ref: str, customer_email: str, *, idempotency_key: str) -> object:
        return world.call(idempotency_key, order, ref=ref)

    tool = effect("t.pay", idempotency=Idempotency.LEDGER, drift="stop")(pay)
    run = make_run()
    for _ in range(2):
        with suppress(refusals.Drifted):
            take_over(run)(lambda: tool("10382", str(uuid4()), "ben@example.com"))
    Run.objects.filter(pk=run.pk).update(status="parked", park_reason="drift")
    return Drift.objects.get()


def page_of(drift: Drift) -> str:
    return reverse("ledger:drift", args=[drift.uid])


@pytest.fixture
def ada(client):
    client.force_login(person("Ada"))
    return client


def test_both_sides_are_shown_and_why_in_words(ada, drift):
    page = ada.get(page_of(drift))
    shown = text_of(page)
    for said in (
        drift.args["ref"],
        drift.before.args["ref"],
        drift.key,
        drift.before_id,
        "ref looks random",
        "not started",
        "Waits for somebody",
        "hidden (email)",
    ):
        assert said in shown
    assert "ben@example.com" not in html_of(page)


def test_the_effect_and_the_run_lead_to_it(ada, drift):
    effect_page = text_of(ada.get(reverse("ledger:effect", args=[drift.before.uid])))
    assert "Changed on retry" in effect_page
    tab = html_of(ada.get(reverse("runs:tab", args=[drift.run_id, Story.tab.slug])))
    assert page_of(drift) in tab
    run_page = html_of(ada.get(reverse("runs:run", args=[drift.run_id])))
    assert "Compare the two" in run_page
    assert page_of(drift) in run_page


def test_an_operator_accepts_with_a_reason_and_the_run_is_looked_at(ada, drift, rung):
    missing = ada.post(page_of(drift), {"reason": " "})
    assert missing.status_code == 422
    assert "A reason is required" in text_of(missing)
    answer = ada.post(page_of(drift), {"reason": "The first was taken back."})
    assert answer.url == reverse("runs:run", args=[drift.run_id])
    assert drift.run_id in rung
    drift.refresh_from_db()
    assert (drift.accepted_by, drift.accept_reason) == ("Ada", "The first was taken back.")
    again = ada.post(page_of(drift), {"reason": "Twice."})
    assert again.status_code == 409
    assert "Accepted by Ada" in text_of(again)


@pytest.mark.parametrize(("who", "code"), [("Cy", 403), ("Dee", 403)])
def test_others_accept_nothing(client, drift, who, code):
    client.force_login(person(who))
    page = client.get(page_of(drift))
    assert "Accept the new one" not in html_of(page)
    assert client.post(page_of(drift), {"reason": "x"}).status_code == code
    assert Drift.objects.get().undecided


def test_an_unknown_one_is_not_found(ada):
    assert ada.get(reverse("ledger:drift", args=[uuid4()])).status_code == 404


# --- under the real driver ------------------------------------------------------------------------


@pytest.fixture(scope="module", autouse=True)
def pools_end(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    yield
    checkpoints.close()
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


@pytest.fixture
def restless(settings, monkeypatch) -> Iterator[Provider]:
    """An agent that refunds with a random reference."""
    settings.RUNS_AGENTS = [
        {"name": "restless", "graph": "tests.ledger.test_drift_pages.graph", "version": "1"}
    ]
    settings.RUNS_BACKOFF = timedelta(0)
    world = Provider()
    monkeypatch.setattr(desk, "WORLD", world)
    caches.forget()
    yield world
    caches.forget()


@effect(
    "restless.pay",
    idempotency=Idempotency.PROVIDER,
    window=timedelta(hours=24),
    timeout=timedelta(seconds=5),
    drift="stop",
)
def pay(ref: str, *, idempotency_key: str) -> object:
    return desk.WORLD.call(idempotency_key, ref)


def node(state: desk.State) -> desk.State:
    try:
        return {"log": [pay(str(uuid4()))]}
    except Exception:  # of the kind that swallows what the ledger raises
        if not state.get("swallow"):
            raise
        return {"log": ["swallowed"]}


builder = StateGraph(desk.State)
builder.add_node("node", node)
builder.add_edge(START, "node")
graph = builder.compile()


@pytest.mark.usefixtures("real_steps")
@pytest.mark.parametrize("swallow", [False, True])
def test_a_run_that_drifts_is_parked_until_it_is_accepted_or_cancelled(restless, swallow):
    run = admission.start("restless", {"swallow": swallow}, actor=SHELL)
    with dying_at("effect.settled"):
        driver.drive(run.pk, holder="w1", cause="test")
    lose(run)
    assert driver.drive(run.pk, holder="w2", cause="test") is Ended.PARKED
    run.refresh_from_db()
    assert (run.status, run.park_reason) == ("parked", "drift")
    assert len(restless.happened) == 1

    controls.retry(run.pk, actor=SHELL, reason="Once more.")
    due(run)
    assert driver.drive(run.pk, holder="w3", cause="test") is Ended.PARKED
    assert len(restless.happened) == 1

    deciding.accept(Drift.objects.get().uid, actor=SHELL, reason="I took the first one back.")
    assert driver.drive(run.pk, holder="w4", cause="test") is Ended.FINISHED
    assert len(restless.happened) == (1 if swallow else 2)
    assert Effect.objects.filter(run=run).count() == len(restless.happened)


@pytest.mark.usefixtures("real_steps")
def test_what_is_accepted_while_its_driver_is_about_to_park_does_not_stay_parked(restless):
    run = admission.start("restless", {}, actor=SHELL)
    with dying_at("effect.settled"):
        driver.drive(run.pk, holder="w1", cause="test")
    lose(run)

    def accept(place: str, _: object) -> None:
        if place == "lease.locking":
            with ThreadPoolExecutor(1) as other:
                other.submit(accept_elsewhere).result(20)

    killpoints.install(accept)
    assert driver.drive(run.pk, holder="w2", cause="test") is Ended.FINISHED
    assert len(restless.happened) == 2


def accept_elsewhere() -> None:
    try:
        for waiting in Drift.objects.filter(accepted_at=None):
            deciding.accept(waiting.uid, actor=SHELL, reason="Quick.")
    finally:
        connections.close_all()
