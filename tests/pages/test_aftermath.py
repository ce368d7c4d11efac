"""After the fact in a real browser: marking, withdrawing, and the statistics on every screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from accounts import clock
from approvals.models import Decision, Mishap
from tests.approvals.conftest import approve
from tests.pages.test_bulk import asked, ben, policies  # noqa: F401  # fixtures
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("scripts", [True, False])
def test_what_went_wrong_is_marked_and_withdrawn(open_page, signed_in, ben, asked, scripts):  # noqa: F811
    request = asked(10382)
    approve(request, ben)
    Decision.objects.update(delivery="took_effect", deliveries=1, delivered_at=clock.now())
    page = signed_in(open_page(java_script_enabled=scripts), person("Cy"))
    page.goto(f"/approvals/{request.pk}/")
    mark(page)
    expect(page.get_by_label("After the fact")).to_contain_text("The customer called twice.")
    page.get_by_role("link", name="Withdraw…").click()
    page.get_by_label("Reason").fill("It was another order")
    page.get_by_role("button", name="Withdraw it").click()
    expect(page.get_by_label("After the fact")).to_contain_text("Withdrawn by Cy")
    assert Mishap.objects.count() == 1


def mark(page: Page) -> None:
    page.get_by_role("link", name="It went wrong…").click()
    page.get_by_label("High").check()
    page.get_by_label("What went wrong?").fill("The customer called twice.")
    page.get_by_role("button", name="Mark as gone wrong").click()
