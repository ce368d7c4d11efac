"""The pages of what a run did, in a real browser: a killed and approved run, looked through."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from datetime import timedelta

import pytest
from playwright.sync_api import Page, Request, expect

from accounts.actors import Actor
from runs import admission, checkpoints, dispatch, driver
from runs.models import Run
from tests.pages.conftest import WIDTHS
from tests.runs.conftest import expire
from tests.support import approver, caches, child
from tests.support.people import person
from tests.support.processes import worker

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="session", autouse=True)
def pools_end(django_db_setup: None) -> Iterator[None]:
    yield
    checkpoints.close()


@pytest.fixture
def run(settings, monkeypatch) -> Iterator[Run]:
    """Its worker was killed in the middle of a payment, the next one paid something else."""
    settings.RUNS_AGENTS = [
        {
            "name": "wavering",
            "graph": "tests.support.wavering.wavering",
            "version": "1",
            "title": "Pay order {order}",
        }
    ]
    settings.RUNS_SWEEP_RULES = []
    settings.RUNS_BACKOFF = timedelta(0)
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, **_: True)
    caches.forget()
    run = admission.start(
        "wavering", {"order": "A-7", "email": "jo@example.com"}, actor=Actor.command("test")
    )
    with worker(child.drive_until, run.pk, "effect.called") as first:
        assert first.frozen() == "effect.called"
        first.send(signal.SIGKILL)
    expire(run)
    driver.drive(run.pk, holder="worker@beta:4712", cause="taken over")
    (question,) = approver.open_questions(run.pk)
    approver.answer(run.pk, question)
    driver.drive(run.pk, holder="worker@beta:4712", cause="decision")
    yield Run.objects.get(pk=run.pk)
    caches.forget()


@pytest.fixture
def ada(page, signed_in):
    signed_in(page, person("Ada", last_name="Marsh"))
    return page


def test_two_checkpoints_are_picked_and_compared(ada, run, assert_accessible, assert_fits) -> None:
    ada.goto(f"/runs/{run.pk}/")
    ada.get_by_role("link", name="Checkpoints").click()
    rows = ada.get_by_role("row").filter(has=ada.get_by_role("radio"))
    expect(rows).to_have_count(6)
    assert_accessible(ada)
    rows.last.get_by_role("radio").first.check()
    ada.get_by_role("button", name="Compare the two picked").click()
    expect(ada.get_by_role("heading", name="Checkpoint 4", exact=True)).to_be_visible()
    expect(ada.get_by_role("heading", name="Changed since checkpoint -1")).to_be_visible()
    ada.get_by_label("Compare with").select_option(label="the one before")
    ada.get_by_role("button", name="Compare").click()
    expect(ada.get_by_role("heading", name="Changed since checkpoint 3")).to_be_visible()
    assert_accessible(ada)
    for width in WIDTHS.values():
        ada.set_viewport_size({"width": width, "height": 800})
        assert_fits(ada)


def test_attempts_are_picked_and_stand_side_by_side(
    ada, run, assert_accessible, assert_fits
) -> None:
    ada.goto(f"/runs/{run.pk}/attempts/")
    assert_accessible(ada)
    ada.get_by_label("Attempt 1 as the first").check()
    ada.get_by_label("Attempt 2 as the second").check()
    ada.get_by_role("button", name="Side by side").click()
    expect(ada.get_by_text("attempt 2 asked for something else than attempt 1")).to_be_visible()
    expect(ada.get_by_role("region", name=re.compile("Changed arguments"))).to_be_visible()
    assert_accessible(ada)
    for width in WIDTHS.values():
        ada.set_viewport_size({"width": width, "height": 800})
        assert_fits(ada)


def test_a_replay_is_stepped_through_by_keys(ada, run, assert_accessible, assert_fits) -> None:
    ada.goto(f"/runs/{run.pk}/replay/")
    expect(ada.get_by_role("heading", name="Step 1 of 6")).to_be_visible()
    for step in range(2, 5):
        ada.keyboard.press("]")
        expect(ada.get_by_role("heading", name=f"Step {step} of 6")).to_be_visible()
    expect(ada.get_by_text("wavering.pay").first).to_be_visible()
    assert_accessible(ada)
    ada.keyboard.press("[")
    expect(ada.get_by_role("heading", name="Step 3 of 6")).to_be_visible()
    for width in WIDTHS.values():
        ada.set_viewport_size({"width": width, "height": 800})
        assert_fits(ada)


def test_a_replay_plays_until_it_is_stopped(ada, run) -> None:
    opened = still(ada)
    ada.goto(f"/runs/{run.pk}/replay/")
    ada.get_by_label("Seconds for a step").select_option("1")
    ada.get_by_role("button", name="Play").click()
    for step in (2, 3):
        ada.clock.run_for(1000)
        expect(ada.get_by_role("heading", name=f"Step {step} of 6")).to_be_visible()
    ada.get_by_role("button", name="Pause").click()
    ada.clock.run_for(60_000)
    ada.get_by_role("button", name="Play").click()
    for step in (4, 5, 6):
        ada.clock.run_for(1000)
        expect(ada.get_by_role("heading", name=f"Step {step} of 6")).to_be_visible()
    expect(ada.get_by_role("button", name="Play")).to_be_hidden()
    assert len(opened) == 6


def test_who_wants_less_motion_is_not_offered_to_play(open_page, signed_in, run) -> None:
    page = signed_in(open_page(reduced_motion="reduce"), person("Ada"))
    opened = still(page)
    page.goto(f"/runs/{run.pk}/replay/#1")
    expect(page.get_by_role("link", name="After")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_hidden()
    page.clock.run_for(60_000)
    page.get_by_role("link", name="After").click()
    expect(page.get_by_role("heading", name="Step 2 of 6")).to_be_visible()
    assert len(opened) == 2


def still(page: Page) -> list[str]:
    """Have the page's clock go only where a test lets it; returns the pages asked for from then."""
    page.clock.install(time="2026-11-29T16:00:00Z")
    page.clock.pause_at("2026-11-29T17:00:00Z")  # ahead, however slow the machine is
    opened: list[str] = []

    def note(asked: Request) -> None:
        if asked.is_navigation_request():
            opened.append(asked.url)

    page.on("request", note)
    return opened


def test_a_replay_works_without_a_script(open_page, signed_in, run) -> None:
    page = signed_in(open_page(java_script_enabled=False), person("Ada"))
    page.goto(f"/runs/{run.pk}/replay/")
    page.get_by_role("link", name="After").click()
    expect(page.get_by_role("heading", name="Step 2 of 6")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_hidden()
    page.get_by_label("Step", exact=True).fill("6")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("heading", name="Step 6 of 6")).to_be_visible()
    expect(page.get_by_text("Happened since")).to_be_visible()
