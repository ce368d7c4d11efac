"""fakepay, a process of its own, tells by webhook what it did; the ledger confirms it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from accounts.actors import Actor
from ledger.models import HookEvent, HookRefusals, Incident
from runs import admission, checkpoints, driver
from runs.models import Run
from runs.status import Outcome as Ended
from tests.agents import fakepay_process
from tests.agents.fakepay_process import Fakepay
from tests.ledger.conftest import effect_of
from tests.support import caches
from tests.support.processes import until

pytestmark = pytest.mark.usefixtures("real_steps")
SECRET = "whsec_of_this_test"


@pytest.fixture
def desk(settings, monkeypatch, live_server) -> Iterator[None]:
    """An agent that refunds, and an address where its provider is believed."""
    monkeypatch.setenv("FAKEPAY_WEBHOOK_SECRET", SECRET)
    settings.LEDGER_HOOKS = {
        "fakepay": {"read": "ledger.confirmation.stripe.read", "tools": ["paydesk.*"]}
    }
    settings.LEDGER_HOOK_SECRETS = {"fakepay": [SECRET]}
    settings.RUNS_AGENTS = [
        {"name": "paydesk", "graph": "tests.ledger.paydesk.graph", "version": "1"}
    ]
    settings.RUNS_BACKOFF = timedelta(0)
    caches.forget()
    yield
    checkpoints.close()
    caches.forget()


@contextmanager
def bank(folder: Path, address: str, settings, *, after: float = 0) -> Iterator[Fakepay]:
    options = ("--webhook", f"{address}/hooks/fakepay/", "--webhook-delay", str(after))
    with fakepay_process.running(folder / "books.sqlite3", *options) as running:
        settings.FAKEPAY_URL = running.url
        yield running


def pay(tool: str = "kept") -> Run:
    given = {"tool": tool, "order": "7"}
    run = admission.start("paydesk", given, actor=Actor.command("test"))
    driver.drive(run.pk, holder="w1", cause="test")
    return run


def test_a_refund_becomes_confirmed_by_itself(desk, tmp_path, live_server, settings):
    with bank(tmp_path, live_server.url, settings) as fakepay:
        run = pay()
        until(lambda: effect_of(run).status == "confirmed")
        until(lambda: fakepay.rows("SELECT told FROM events") != [(None,)])
        told = HookEvent.objects.get()
        assert (told.heard, told.effect) == ("confirmed", effect_of(run))
        assert fakepay.refunds() == 1


def test_a_doubt_is_ended_by_the_provider_itself(desk, tmp_path, live_server, settings):
    with bank(tmp_path, live_server.url, settings, after=0.5) as fakepay:
        fakepay.arm("drop_after")
        run = pay("alone")
        until(lambda: effect_of(run).status == "confirmed")
        assert driver.drive(run.pk, holder="w2", cause="test") is Ended.FINISHED
        assert fakepay.refunds() == 1
        assert Incident.objects.count() == 0


def test_what_a_killed_provider_had_to_tell_is_told_by_the_next(
    desk, tmp_path, live_server, settings
):
    with bank(tmp_path, live_server.url, settings, after=3600) as fakepay:
        run = pay()
        assert effect_of(run).status == "sent"
        fakepay.process.kill()
        fakepay.change("UPDATE events SET due = 0")
    with bank(tmp_path, live_server.url, settings):
        until(lambda: effect_of(run).status == "confirmed")


def test_a_cancellation_that_nobody_here_wanted_is_an_incident(
    desk, tmp_path, live_server, settings
):
    with bank(tmp_path, live_server.url, settings) as fakepay:
        run = pay()
        until(lambda: effect_of(run).status == "confirmed")
        body = {"refund_id": effect_of(run).provider_ref}
        assert fakepay.http.post("/v1/cancellations", json=body).status_code == 200
        until(lambda: Incident.objects.filter(run=run, kind="reversed").exists())
        again = fakepay.http.post("/v1/cancellations", json=body)
        assert (again.status_code, effect_of(run).status) == (400, "confirmed")


def test_a_provider_with_another_secret_is_not_believed(
    desk, tmp_path, live_server, settings, monkeypatch
):
    monkeypatch.setenv("FAKEPAY_WEBHOOK_SECRET", "whsec_of_somebody_else")
    with bank(tmp_path, live_server.url, settings) as fakepay:
        run = pay()
        until(lambda: HookRefusals.objects.filter(count__gte=1).exists())
        assert effect_of(run).status == "sent"
        assert fakepay.rows("SELECT told FROM events") == [(None,)]
