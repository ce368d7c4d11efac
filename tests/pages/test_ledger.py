"""The ledger in a real browser: reading, settling, stopping, on every screen."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts import clock
from accounts.models import User
from ledger.models import Effect, Incident, Stop
from runs import dispatch
from tests.ledger.rows import asked_in_vain, call, effect, in_doubt
from tests.support.people import PASSWORD, person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
HOSTILE = '<img src=x onerror="alert(1)"><b hx-get="/x" hx-trigger="load">\u202e' + "y" * 200


@pytest.fixture(autouse=True)
def nobody_is_rung_for(monkeypatch) -> None:
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, *, cause, to="": True)


@pytest.fixture
def ada(db: None) -> User:
    return person("Ada")


@pytest.fixture
def world(db: None) -> dict[str, Effect]:
    """An effect in every state that a page has to show."""
    made = {
        "sent": effect(provider_ref="re_1", result={"id": "re_1", "email": "eve@example.org"}),
        "in doubt": in_doubt(tool="carrier.book"),
        "calling": effect(status="pending"),
        "failed": effect(status="failed", error=HOSTILE, args={"memo": HOSTILE}),
        "twice": effect(provider_ref=HOSTILE, settled_by="Ada", settle_reason=HOSTILE),
    }
    call(made["sent"], provider_ref="re_1", http_status=201)
    call(made["calling"], "open")
    call(made["failed"], "refused", error=HOSTILE, response={"detail": HOSTILE})
    one = made["twice"]
    Incident.objects.create(kind="duplicate", run=one.run, effect=one, facts={"second": HOSTILE})
    doubtful = made["in doubt"]
    asked_in_vain(doubtful)
    Effect.objects.filter(pk=doubtful.pk).update(updated_at=clock.now() - timedelta(hours=1))
    Stop.objects.create(scope="tool", name="carrier.book", reason=HOSTILE, set_by="Ada")
    return made


def page_of(one: Effect, name: str = "effect") -> str:
    return reverse(f"ledger:{name}", args=[one.uid])


@pytest.mark.parametrize("scripts", [True, False])
def test_an_effect_in_doubt_is_found_and_settled(open_page, signed_in, ada, world, scripts):
    page = signed_in(open_page(java_script_enabled=scripts), ada)
    page.goto("/ledger/")
    page.get_by_role("link", name="1 in doubt").click()
    page.get_by_role("link", name="carrier.book").click()
    page.get_by_role("link", name="Settle…").click()
    settle(page, world["in doubt"])
    page.get_by_label("Password").fill(PASSWORD)  # who breaks a safety rule proves who they are
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("Nothing was settled yet")).to_be_visible()
    expect(page.get_by_label("How do you know?")).to_have_value("Seen in the dashboard.")
    settle(page, world["in doubt"])
    expect(page.get_by_text("Settled: it happened.")).to_be_visible()
    expect(page.get_by_text("Settled by", exact=True)).to_be_visible()


def settle(page: Page, one: Effect) -> None:
    page.get_by_text("It happened", exact=True).click()
    page.get_by_label("The provider's reference").fill("bk_77")
    page.get_by_label("How do you know?").fill("Seen in the dashboard.")
    page.get_by_label("Type").fill(str(one.uid)[-4:])
    page.get_by_role("button", name="Settle").click()


def test_a_stop_is_switched_on_and_off(open_page, signed_in, ada):
    page = signed_in(open_page(), ada)
    page.goto("/ledger/")
    page.get_by_role("link", name="Emergency stops").click()
    page.get_by_text("Everything", exact=True).click()
    page.get_by_label("Reason").fill("Totals are wrong.")
    page.get_by_role("button", name="Stop now").click()
    expect(page.get_by_role("row", name="Everything")).to_contain_text("Totals are wrong.")
    page.goto("/ledger/")
    expect(page.get_by_text("Everything is stopped.")).to_be_visible()
    page.get_by_role("link", name="See stops").click()
    page.get_by_role("link", name="Lift…").click()
    page.get_by_label("Reason").fill("Corrected.")
    page.get_by_role("button", name="Lift the stop").click()
    expect(page.get_by_text("Nothing is stopped")).to_be_visible()


def test_an_effect_under_way_follows_what_becomes_of_it(open_page, signed_in, ada, world):
    page = signed_in(open_page(), ada)
    page.goto(page_of(world["calling"]))
    answer = page.get_by_label("Table of calls")
    expect(answer).to_contain_text("Calling")
    page.get_by_text("Hash of the arguments").click()
    ended = clock.now()
    world["calling"].calls.update(outcome="succeeded", ended_at=ended, provider_ref="re_5")
    Effect.objects.filter(pk=world["calling"].pk).update(status="sent", provider_ref="re_5")
    page.evaluate("htmx.trigger('#effect', 'live')")
    expect(answer).to_contain_text("Done")
    expect(page.get_by_text("re_5").first).to_be_visible()


def test_hostile_text_stays_text(open_page, signed_in, ada, world):
    page = signed_in(open_page(), ada)
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    for place in ("/ledger/", "/ledger/stops/", *map(page_of, world.values())):
        page.goto(place)
        assert page.locator("main img, main b[hx-get]").count() == 0
    page.goto(page_of(world["failed"]))
    expect(page.get_by_label("Table of calls")).to_contain_text("<img src=x")
