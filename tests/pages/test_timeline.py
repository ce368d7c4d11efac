"""The page of a run in a real browser: its chart, its graph, its table, and how they stay alive."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from runs import checkpoints
from runs.models import Picture, Run
from runs.picture import reading
from tests.pages.screens import SETTLED, resize
from tests.support import graphs, scenes
from tests.support import standing as make
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
HEAVIEST = 100_000
"""Bytes of a page."""


@pytest.fixture(scope="session", autouse=True)
def pools_end(django_db_setup: None):
    yield
    checkpoints.close()


@pytest.fixture
def ada(page, signed_in):
    user = person("Ada", last_name="Marsh")
    signed_in(page, user)
    return user


@pytest.fixture(autouse=True)
def graph(db) -> None:
    """Some worker has drawn the agent of the scenes, though it has other nodes."""
    shape = reading.of(graphs.nested).stored()
    Picture.objects.create(agent="refund_desk", version="1.0", shape=shape)


def show(page: Page, run: Run, query: str = "") -> None:
    page.goto(f"/runs/{run.pk}/{query}")


@pytest.mark.parametrize("scene", scenes.ALL, ids=lambda scene: scene.__name__)
def test_the_page_is_accessible_and_fits_and_stays_small(
    page, ada, scene, assert_accessible, assert_fits
) -> None:
    show(page, scene(ada))
    assert len(page.content().encode()) < HEAVIEST
    for width, theme in ((1280, "light"), (360, "dark")):
        resize(page, width)
        page.emulate_media(color_scheme=theme)
        page.evaluate(SETTLED)
        assert_accessible(page)
    resize(page, 320)
    assert_fits(page)


def test_the_chart_is_as_wide_as_there_is_room(page, ada) -> None:
    show(page, scenes.killed(ada))
    plot = page.locator(".timeline li svg").first
    wide = plot.bounding_box()
    resize(page, 360)
    narrow = plot.bounding_box()
    assert wide["width"] > 700
    assert 250 < narrow["width"] < 360
    expect(page.get_by_text("15 s", exact=True).first).to_be_hidden()


def test_grid_and_marks_are_drawn_in_their_colours(page, ada) -> None:
    """What <use> repeats is reached by no selector that names what is around it."""
    show(page, scenes.killed(ada))
    colour = "element => getComputedStyle(element).fill"
    assert page.locator("#scale .fold").first.evaluate(colour) != "rgb(0, 0, 0)"
    assert page.locator("#scale line").first.evaluate("e => getComputedStyle(e).stroke") != "none"


def test_the_table_shows_one_kind_of_events(page, ada) -> None:
    show(page, scenes.killed(ada))
    page.get_by_role("link", name="Effects", exact=True).click()
    expect(page).to_have_url(re.compile("kind=effects"))
    table = page.get_by_role("table")
    expect(table.get_by_text("fakepay told by webhook")).to_be_visible()
    expect(table.get_by_text("assess finished")).to_have_count(0)
    page.get_by_role("link", name="All", exact=True).click()
    expect(table.get_by_text("assess finished")).to_be_visible()


def test_the_node_at_work_is_marked_in_chart_and_graph(page, ada) -> None:
    run = scenes.nested(ada)
    show(page, run)
    current = page.locator(".timeline [aria-current=step]")
    expect(current.filter(has_text="credit.ask")).to_have_count(0)
    expect(current.filter(has_text=re.compile(r"^\s*score"))).to_be_visible()
    page.get_by_text("The same as a list").click()
    expect(page.locator("section:has(#graph) li").filter(has_text="after").first).to_be_visible()


def test_what_is_new_comes_below_and_nothing_moves_that_is_read(page, ada) -> None:
    run = scenes.long(ada, steps=40)
    show(page, run)
    row = page.get_by_role("row").filter(has_text="checkpoint 20")
    row.scroll_into_view_if_needed()
    before = row.bounding_box()
    make.checkpoint(run, 40, at=make.ago(seconds=1), updated=["branch:to:model"])
    with page.expect_response(re.compile(str(run.pk))):
        page.evaluate("htmx.trigger(document.getElementById('run'), 'live')")
    expect(page.get_by_role("row").filter(has_text="checkpoint 39")).to_have_count(1)
    page.evaluate(SETTLED)
    assert row.bounding_box()["y"] == pytest.approx(before["y"], abs=1)
