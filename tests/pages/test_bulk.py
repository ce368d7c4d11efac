"""Deciding many at once in a real browser: with and without scripts, on every screen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from approvals.models import Decision, Request
from runs import dispatch
from runs.models import Lease, Run
from tests.approvals.conftest import ask, now, ours, pending, reject
from tests.pages.screens import everywhere
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def policies(settings, monkeypatch) -> None:
    settings.APPROVALS_POLICIES = []
    settings.APPROVALS_DEFAULT = {
        "name": "small refunds",
        "group": "finance",
        "deadline": timedelta(hours=1),
        "risk": "low",
        "bulk": True,
        "summary": "Refund {amount} for order {args.order_id}",
    }
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, *, cause, to="": True)


@pytest.fixture
def ben(db: None) -> User:
    return person("Ben", "finance")


@pytest.fixture
def asked(db: None) -> Callable[..., Request]:
    ada = person("Ada")

    def asked(order: int, **parts: Any) -> Request:
        run = Run.objects.create(
            agent="refund_desk",
            agent_version="1",
            title=f"Refund order {order}",
            input={},
            status="waiting",
            started_by=ada,
            starter=ada.label,
        )
        Lease.objects.create(run=run, fence=1)
        args = {"order_id": str(order), "amount_cents": 1290, "currency": "EUR"}
        request: Request = ask(run, pending(ours(f"Order {order}", **{"args": args} | parts)))
        return request

    return asked


def box(page: Page, request: Request):
    return page.get_by_role("checkbox", name=f"Choose {request.title}")


@pytest.mark.parametrize("scripts", [True, False])
def test_some_are_ticked_looked_through_and_rejected_with_one_reason(
    open_page, signed_in, ben, asked, scripts
):
    first, second, third = (asked(n) for n in (10382, 10383, 10384))
    page = signed_in(open_page(java_script_enabled=scripts), ben)
    page.goto("/approvals/")
    box(page, first).check()
    box(page, third).check()
    page.get_by_role("button", name="Reject chosen…").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Reject 2 requests?")
    assert not Decision.objects.exists()
    page.get_by_label("Why they are rejected").fill("A wave of fraud")
    page.get_by_role("button", name="Reject those that are ticked").click()
    expect(page.get_by_role("status").first).to_contain_text("Rejected2")
    assert [now(each).status for each in (first, second, third)] == [
        "rejected",
        "pending",
        "rejected",
    ]


def test_one_that_was_decided_meanwhile_is_told_and_stops_no_other(
    open_page, signed_in, ben, asked
):
    requests = [asked(n) for n in range(10382, 10386)]
    page = signed_in(open_page(), ben)
    page.goto("/approvals/bulk/")
    page.get_by_role("link", name="Approve 4…").click()
    reject(requests[0], person("Eve", "finance", "approver"))
    page.get_by_role("button", name="Approve those that are ticked").click()
    expect(page.get_by_role("status").first).to_contain_text("Approved3")
    expect(page.get_by_text("Eve already rejected this")).to_be_visible()
    assert {now(each).status for each in requests[1:]} == {"approved"}


def test_what_is_ticked_stays_ticked_while_the_list_refreshes(
    open_page, signed_in, ben, asked, monkeypatch
):
    monkeypatch.setattr("approvals.inbox.pages.EVERY", 1)
    request = asked(10382)
    asked(10383)
    page = signed_in(open_page(), ben)
    page.goto("/approvals/")
    box(page, request).check()
    page.get_by_role("heading", level=1).click()  # the list refreshes unless a box has focus
    for _ in range(2):
        with page.expect_response(lambda answer: "as_of" in answer.url):
            pass
    expect(page.get_by_text("10383").first).to_be_visible()
    assert box(page, request).is_checked()


def test_every_page_is_fit_for_every_screen_and_for_everybody(
    open_page, signed_in, ben, asked, assert_accessible, assert_fits
):
    for n in range(10382, 10385):
        asked(n)
    asked(10390, args={"note": "word " * 40}, tool="crm.write")
    page = signed_in(open_page(), ben)
    places: list[Callable[[], object]] = [
        lambda: page.goto("/approvals/"),
        lambda: page.get_by_role("link", name="Choose by kind").click(),
        lambda: page.get_by_role("link", name="Reject 3…").click(),
        lambda: page.get_by_role("button", name="Reject those that are ticked").click(),
        lambda: _reject(page),
    ]
    for go in places:
        go()
        for _ in everywhere(page):
            assert_accessible(page)
            assert_fits(page)


def _reject(page: Page) -> None:
    page.get_by_label("Why they are rejected").fill("A wave of fraud")
    page.get_by_role("button", name="Reject those that are ticked").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("What became of them")
