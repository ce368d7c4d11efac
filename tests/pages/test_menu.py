"""The main menu on a phone: everything is there, also with a number that waits."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from runs import dispatch
from tests.approvals.conftest import ask, ours, pending
from tests.pages.conftest import WIDTHS
from tests.support import standing as make
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
PLACES = """() => [...document.querySelectorAll(".top nav a")].map((link) => {
  const { left, right, top } = link.getBoundingClientRect();
  return { left, right, top };
})"""


@pytest.mark.parametrize("language", ["en", "de"])
def test_all_entries_stand_in_one_row_with_a_number(
    open_page, signed_in, settings, monkeypatch, language
) -> None:
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, **_: True)
    settings.APPROVALS_DEFAULT = {"name": "refunds", "group": "finance"}
    ask(make.run(status="waiting", starter="api"), pending(ours()))
    tab = open_page(viewport={"width": WIDTHS["phone"], "height": 800}, locale=language)
    signed_in(tab, person("Rut", "finance", language=language)).goto("/approvals/")
    expect(tab.locator(".top .count")).to_contain_text("1")
    places = tab.evaluate(PLACES)
    assert len(places) == 6
    assert len({each["top"] for each in places}) == 1
    assert all(0 <= each["left"] < each["right"] <= WIDTHS["phone"] for each in places)
