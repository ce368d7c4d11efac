"""The overview and the workers in a browser: numbers lead to what they count, and time runs."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from runs.models import Run
from runs.status import Park, Status
from tests.pages.screens import everywhere
from tests.runs.advice.test_on_the_page import asked, doubtful
from tests.support import standing as make
from tests.support.fleet import well, worker
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db]
ROWS = "main table.list > tbody > tr"


def house() -> None:
    """Something of everything, so that no two numbers are the same."""
    well()
    worker("lost@beta", seen_at=make.ago(hours=3))
    for _ in range(4):
        make.running()
    for _ in range(3):
        make.stuck()
    doubtful(make.parked(Park.EFFECT_IN_DOUBT))
    doubtful(make.run(status=Status.FAILED))
    asked()
    make.run("Of no agent", agent="returns_desk", agent_version="2.0")


def hour_of(page: Page) -> None:
    """Open the hour of the day's chart in which most runs ended."""
    page.get_by_text("Show as a table").click()
    page.locator("section[aria-labelledby=ended] th a").last.click()


@pytest.mark.parametrize("who", ["operator", "auditor", "approver"])
def test_each_number_leads_to_a_list_of_just_as_many(page: Page, signed_in, who) -> None:
    house()
    signed_in(page, person("Kim", who, "finance"))
    page.goto("/")
    numbers = page.locator(".stats a")
    for place in range(numbers.count()):
        count = int(numbers.nth(place).locator("b").inner_text())
        numbers.nth(place).click()
        expect(page.locator(ROWS)).to_have_count(count)
        page.goto("/")
    assert numbers.count() == 4


def test_an_hour_leads_to_the_runs_that_ended_in_it(page: Page, signed_in) -> None:
    now = make.ago(seconds=1)
    for back in (0, 0, 2):
        make.run(status=Status.SUCCEEDED, ended_at=now - back * (now - make.ago(hours=1)))
    signed_in(page, person("Ada"))
    page.goto("/")
    room = page.locator(".outcomes .hit").first
    painted = room.evaluate("element => getComputedStyle(element).fill")
    assert painted == "rgba(0, 0, 0, 0)", "what catches the mouse is not a bar"
    hour_of(page)
    expect(page.locator(ROWS)).to_have_count(2)
    assert Run.objects.count() == 3


def test_a_lease_is_counted_down_by_the_servers_clock(page: Page, signed_in) -> None:
    well()
    make.running("Digest")
    signed_in(page, person("Ada"))
    page.clock.install()  # of the device: it is wrong, and that does not matter
    page.goto("/workers/")
    left = page.locator("[data-ticks] time")
    before = left.inner_text()
    assert before.startswith("in ")
    page.clock.run_for(3000)
    assert left.inner_text() != before


@pytest.mark.parametrize("path", ["/", "/workers/"])
def test_the_desk_fits_every_screen_and_is_accessible(
    page: Page, signed_in, assert_fits, assert_accessible, path
) -> None:
    house()
    make.run(status=Status.SUCCEEDED, ended_at=make.ago(minutes=5))
    signed_in(page, person("Ada"))
    page.goto(path)
    for _ in everywhere(page):
        assert_fits(page)
        assert_accessible(page)
