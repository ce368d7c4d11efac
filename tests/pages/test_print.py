"""Pages on paper: a record that is complete and has nothing to press."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.sync_api import Page, expect

from runs import dispatch
from tests.approvals.conftest import ask, ours, pending
from tests.support import standing as make
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def printed(open_page, signed_in) -> Page:
    page: Page = open_page(viewport={"width": 720, "height": 1000}, color_scheme="dark")
    page.emulate_media(media="print")
    ben = person("Ben", "finance", last_name="Park", theme="dark", time_zone="Europe/Berlin")
    signed_in(page, ben)
    return page


@pytest.fixture
def asked(settings, monkeypatch):
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, **_: True)
    settings.APPROVALS_POLICIES = []
    settings.APPROVALS_DEFAULT = {
        "name": "refunds",
        "group": "finance",
        "deadline": timedelta(hours=1),
    }
    run = make.run("Refund order 10382", status="waiting", starter="api")
    lines = {"order_id": "10382", "lines": [{"sku": {"deep": "folded away"}}]}
    return ask(run, pending(ours("Refund EUR 600.00", args=lines)))


def test_an_approval_on_paper_says_who_when_and_all_of_it(printed, asked, assert_fits) -> None:
    printed.goto(f"/approvals/{asked.pk}/")
    opened = printed.locator(".printed")
    expect(opened).to_be_visible()
    expect(opened).to_contain_text("Opened by Ben Park at 20")
    expect(opened).to_contain_text("(Europe/Berlin)")
    expect(opened).to_contain_text(f"/approvals/{asked.pk}/")
    for folded in printed.locator("main details > :not(summary)").all():
        assert folded.evaluate("it => it.checkVisibility()"), folded.text_content()
    asked_at = printed.locator("time[data-relative]").first
    size, content = asked_at.evaluate(
        "it => [getComputedStyle(it).fontSize, getComputedStyle(it, '::after').content]"
    )
    assert size == "0px"
    assert content == f'"{asked_at.get_attribute("title")}"'
    assert_fits(printed)
    for control in printed.locator("button, select, .btn, nav").all():
        expect(control).not_to_be_visible()


def test_what_could_be_answered_is_not_printed(printed, asked, settings) -> None:
    settings.APPROVALS_DEFAULT = settings.APPROVALS_DEFAULT | {"editable": ["order_id"]}
    run = make.run(status="waiting", starter="api")
    other = ask(run, pending(ours("Refund EUR 12.90", args={"order_id": "10383"})))
    printed.goto(f"/approvals/{other.pk}/")
    expect(printed.get_by_text("Exact arguments")).to_be_visible()
    expect(printed.get_by_text("Change arguments")).to_have_count(1)
    expect(printed.get_by_text("Change arguments")).not_to_be_visible()


def test_a_run_on_paper_has_its_whole_id_dark_on_light(printed, asked, assert_fits) -> None:
    printed.goto(f"/runs/{asked.run_id}/")
    shown = printed.locator(".facts .id code").first
    content = shown.evaluate("it => getComputedStyle(it, '::after').content")
    assert str(asked.run_id) in content or content == "attr(title)"
    assert printed.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert_fits(printed)
    assert printed.pdf(format="A4").startswith(b"%PDF")


def test_on_a_screen_nothing_of_that_is_shown(page, signed_in, asked) -> None:
    signed_in(page, person("Ben", "finance")).goto(f"/approvals/{asked.pk}/")
    expect(page.locator(".printed")).not_to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
