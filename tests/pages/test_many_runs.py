"""The list of runs, and one thing done to many of them, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from runs import dispatch, registry
from runs.models import Operation, Run
from runs.operations import work
from runs.status import Park, Status
from tests.pages.hands import Keyboard
from tests.support import standing as make
from tests.support.people import PASSWORD, person
from tests.support.replies import Step

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}}
AGENT = {
    "name": "refund_desk",
    "label": "Refund desk",
    "graph": "x.y",
    "version": "1.0",
    "input_schema": SCHEMA,
}


@pytest.fixture(autouse=True)
def agents(settings, monkeypatch) -> None:
    settings.RUNS_AGENTS = [AGENT]
    registry.declarations.cache_clear()
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, **_: True)
    monkeypatch.setattr(dispatch, "call_now", lambda task: True)


@pytest.fixture
def ada(page: Page, signed_in) -> User:
    user = person("Ada", last_name="Marsh")
    signed_in(page, user)
    return user


def outage(count: int = 3) -> list[Run]:
    """Runs that all stand still for the same reason."""
    detail = "ProviderTimeout in push_notes"
    return [
        make.parked(Park.CRASH_LOOP, f"Push notes of order {10_360 + n}", park_detail=detail)
        for n in range(count)
    ]


# --- finding --------------------------------------------------------------------------------------


def test_a_run_is_found_by_a_field_of_its_input(page, ada) -> None:
    make.run("Refund", input={"order_id": "10366"})
    make.run("Other", input={"order_id": "10367"})
    page.goto("/runs/")
    page.get_by_label("Search").fill("order_id:10366")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_role("link", name="Refund", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="Other")).to_have_count(0)
    page.get_by_label("Search").fill("oder_id:10366")
    page.keyboard.press("Enter")
    expect(page.get_by_text("“oder_id” is neither one of")).to_have_count(2)
    page.get_by_role("link", name="Clear filters").first.click()
    expect(page.get_by_role("link", name="Other")).to_be_visible()


def test_rows_stay_under_the_reader_and_what_is_ticked_stays_ticked(page, ada) -> None:
    runs = [make.run(f"Run {n}", created_at=make.ago(minutes=n)) for n in (1, 2, 3)]
    page.goto("/runs/?status=queued")
    page.get_by_role("checkbox", name="Choose Run 2").check()
    page.get_by_role("checkbox", name="Choose Run 2").blur()
    Run.objects.filter(pk=runs[1].pk).update(status=Status.RUNNING)
    make.run("Newest")
    page.evaluate("htmx.trigger(document.getElementById('runs'), 'live')")
    expect(page.get_by_text("does not fit the filters any more")).to_be_visible()
    titles = page.locator("table.list a.open")
    expect(titles).to_have_text(["Run 1", "Run 2", "Run 3"])
    expect(page.get_by_role("checkbox", name="Choose Run 2")).to_be_checked()
    page.keyboard.press(".")
    expect(titles).to_have_text(["Newest", "Run 1", "Run 3"])


# --- many at once ---------------------------------------------------------------------------------


def test_many_are_cancelled_by_mouse_and_watched(page, ada) -> None:
    first, second, other = outage()
    page.goto("/runs/?attention=1")
    for run in (first, second):
        page.get_by_role("checkbox", name=f"Choose {run.title}").check()
    page.get_by_role("button", name="Cancel chosen…").click()
    expect(page.get_by_role("heading", name="Cancel 2 runs?")).to_be_visible()
    expect(page.get_by_text(other.title)).to_have_count(0)
    page.get_by_label("Reason").fill("The provider is gone for good.")
    page.get_by_role("button", name="Cancel 2 runs").click()
    expect(page.get_by_text("0 of 2 reached")).to_be_visible()
    work.work()
    expect(page.get_by_text("2 of 2 reached")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Stop"))).to_have_count(0)
    assert Run.objects.filter(cancel_asked_at__isnull=False).count() == 2


def test_all_that_match_are_forced_by_keyboard_after_proof(page, ada) -> None:
    outage()
    keys = Keyboard(page=page)
    page.goto("/runs/?status=parked")
    link = page.get_by_role("link", name="Force resume all that match…")
    keys._reach(link)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Force resume 3 runs?")).to_be_visible()
    fill = {"Reason": "It is back.", "Type 3 to confirm": "3"}
    for name, text in fill.items():
        keys.do(Step(does="fill", name=name, text=text))
    keys.do(Step(does="press", name="Force resume 3 runs"))
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_text("You have confirmed that it is you.")).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value("It is back.")
    keys.do(Step(does="fill", name="Type 3 to confirm", text="3"))
    keys.do(Step(does="press", name="Force resume 3 runs"))
    expect(page.get_by_text("0 of 3 reached")).to_be_visible()
    keys.do(Step(does="press", name="Stop, and leave the rest alone"))
    expect(page.get_by_text("Stopped. The runs that were not reached")).to_be_visible()
    assert Operation.objects.get().status == "stopped"


def test_it_works_without_a_script(open_page: Callable[..., Page], signed_in) -> None:
    page = open_page(java_script_enabled=False)
    signed_in(page, person("Ada"))
    run, _ = outage(2)
    page.goto("/runs/")
    page.get_by_role("checkbox", name=f"Choose {run.title}").check()
    page.get_by_role("button", name="Cancel chosen…").click()
    page.get_by_label("Reason").fill("Not needed.")
    page.get_by_role("button", name="Cancel 1 run").click()
    work.work()
    page.reload()
    expect(page.get_by_text("1 of 1 reached")).to_be_visible()
