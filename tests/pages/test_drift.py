"""What a step changed on retry, in a real browser: compared and accepted, on every screen."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from ledger.models import Drift
from runs import dispatch
from runs.models import Run
from tests.ledger.rows import call, effect
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
HOSTILE = '<img src=x onerror="alert(1)">\u202e' + "y" * 200


@pytest.fixture(autouse=True)
def nobody_is_rung_for(monkeypatch) -> None:
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, *, cause, to="": True)


@pytest.fixture
def drift(db: None) -> Drift:
    given = {"order_id": "10382", "amount_cents": 60000, "note": HOSTILE}
    before = effect(
        provider_ref="re_1",
        args=given | {"request_id": "6f0c2b1e-4f65-4d0a-9a38-3f4d0c2f7a11"},
    )
    call(before, provider_ref="re_1", http_status=201)
    Run.objects.filter(pk=before.run_id).update(status="parked", park_reason="drift")
    return Drift.objects.create(
        run_id=before.run_id,
        step=before.step,
        tool=before.tool,
        before=before,
        fence_before=1,
        key=f"{before.idempotency_key[:-8]}{'f' * 8}",
        args=given | {"request_id": "0b9f3a52-7a34-4a0e-8d6b-55f1d26c9e02"},
        args_hash="f" * 64,
        fence=2,
        stopped=True,
    )


def test_the_two_are_compared_and_accepted(page: Page, drift, signed_in) -> None:
    signed_in(page, person("Ada")).goto(reverse("runs:run", args=[drift.run_id]))
    page.get_by_role("link", name="Compare the two").click()
    page.get_by_label("Reason").fill("I have cancelled the first one at the provider.")
    page.get_by_role("button", name="Accept the new one").click()
    expect(page.get_by_text("Accepted. The run goes on")).to_be_visible()
