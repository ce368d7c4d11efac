"""Effects in doubt, webhooks and undoing in a real browser, on every screen."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts import clock
from accounts.models import User
from ledger.models import Effect, HookEvent, HookRefusals, Look, UndoPlan
from runs import dispatch
from runs.models import Run
from tests.ledger.conftest import make_run
from tests.ledger.rows import call, effect, in_doubt
from tests.support.people import PASSWORD, person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
HOSTILE = '<img src=x onerror="alert(1)">\u202e' + "y" * 200


@pytest.fixture(autouse=True)
def nobody_is_rung_for(monkeypatch) -> None:
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, *, cause, to="": True)
    monkeypatch.setattr(dispatch, "call_now", lambda task: True)


@pytest.fixture
def ada(db: None) -> User:
    return person("Ada")


@pytest.fixture
def doubtful(db: None, settings) -> Effect:
    """Effects in doubt, and a provider that has told things."""
    settings.LEDGER_HOOK_SECRETS = {"fakepay": ["s" * 20]}
    one = in_doubt(look_at=clock.now() + timedelta(minutes=4), error=HOSTILE)
    Look.objects.create(effect=one, provider_key="k", attempt=1, answer="absent", counts=False)
    in_doubt(tool=HOSTILE[:100], idempotency="ledger")
    HookEvent.objects.create(
        provider="fakepay", event=HOSTILE[:200], kind=HOSTILE[:100], heard="incident", effect=one
    )
    HookRefusals.objects.create(provider="fakepay", count=12, why="no signature fits")
    return one


@pytest.fixture
def ended(db: None) -> Run:
    """A run that was cancelled after it had refunded and written a mail."""
    run, now = make_run(), clock.now()
    Run.objects.filter(pk=run.pk).update(status="cancelled", ended_at=now)
    call(effect(run, undo="payments.cancel", provider_ref=HOSTILE[:200], first_started_at=now))
    call(effect(run, tool="mail.send", provider_ref="ml_1", first_started_at=now))
    return run


def test_effects_in_doubt_are_found_and_asked_about(page: Page, signed_in, ada, doubtful):
    signed_in(page, ada).goto("/ledger/")
    page.get_by_role("link", name="In doubt", exact=True).click()
    page.get_by_role("button", name="Look now").click()
    expect(page.get_by_text("The provider is asked now")).to_be_visible()
    assert Effect.objects.filter(pk=doubtful.pk, look_at__lte=clock.now()).exists()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_refund_is_ordered_back_and_nothing_typed_is_lost(
    open_page, signed_in, ada, ended, scripts
):
    page = signed_in(open_page(java_script_enabled=scripts), ada)
    page.goto(reverse("runs:run", args=[ended.pk]))
    page.get_by_role("link", name="See what can be undone").click()
    page.get_by_label("Why is it not wanted?").fill("The wrong customer.")
    page.get_by_label("Type").fill(str(ended.pk)[-4:])
    page.get_by_role("button", name="Undo 1 effect").click()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_label("Why is it not wanted?")).to_have_value("The wrong customer.")
    assert not UndoPlan.objects.exists()
    page.get_by_label("Type").fill(str(ended.pk)[-4:])
    page.get_by_role("button", name="Undo 1 effect").click()
    expect(page.get_by_text("ordered by Ada")).to_be_visible()
    assert UndoPlan.objects.get().reason == "The wrong customer."
