"""The session ends while somebody is writing: nothing typed is lost, and nobody else gets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from accounts.models import User
from approvals.models import Request
from runs.models import Run
from tests.ledger.rows import in_doubt
from tests.pages.test_bulk import asked, ben, box, policies  # noqa: F401  # fixtures
from tests.support import standing as make
from tests.support.people import PASSWORD, person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
TEXT = 'The customer sent "photos" of <b>another</b> parcel.'


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def look(request, open_page, signed_in) -> Callable[..., Page]:
    """A page of somebody in a browser of their own."""

    def look(user: User, address: str) -> Page:
        page: Page = signed_in(open_page(java_script_enabled=request.param), user)
        page.goto(address)
        return page

    return look


def end_session() -> None:
    Session.objects.all().delete()


def sign_in(page: Page, user: User) -> None:
    expect(page.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()
    page.get_by_label("Email").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def test_a_comment_on_a_request_is_kept(look, ben, asked):  # noqa: F811
    request = asked(10382)
    page = look(ben, f"/approvals/{request.pk}/")
    page.get_by_label("Comment").fill(TEXT)
    end_session()
    press(page, "Reject…")
    expect(page.get_by_text("what you typed is kept for you")).to_be_visible()
    sign_in(page, ben)
    expect(page.get_by_label("Comment")).to_have_value(TEXT)
    assert Request.objects.get(pk=request.pk).status == "pending"
    press(page, "Reject…")
    expect(page.get_by_text("You rejected this")).to_be_visible()


def test_what_is_to_be_rejected_together_and_why_is_kept(look, ben, asked):  # noqa: F811
    first, second, third = (asked(number) for number in (10382, 10383, 10384))
    page = look(ben, "/approvals/")
    for each in (first, third):
        box(page, each).check()
    press(page, "Reject chosen…")
    page.get_by_label("Why they are rejected").fill(TEXT)
    end_session()
    press(page, "Reject those that are ticked")
    sign_in(page, ben)
    expect(page.get_by_role("heading", level=1)).to_have_text("Reject 2 requests?")
    expect(page.get_by_label("Why they are rejected")).to_have_value(TEXT)
    press(page, "Reject those that are ticked")
    expect(page.get_by_role("status").first).to_contain_text("Rejected2")
    assert Request.objects.get(pk=second.pk).status == "pending"


def test_why_a_run_is_forced_to_resume_is_kept(look):
    ada, run = person("Ada"), make.stuck()
    page = look(ada, f"/runs/{run.pk}/resume/")
    page.get_by_label("Reason").fill(TEXT)
    page.get_by_label("Type").fill(str(run.pk)[-4:])
    end_session()
    press(page, "Force resume")
    sign_in(page, ada)
    expect(page.get_by_label("Reason")).to_have_value(TEXT)
    expect(page.get_by_label("Type")).to_have_value("")
    assert Run.objects.get(pk=run.pk).interventions.count() == 0


def test_how_an_effect_ended_and_how_one_knows_is_kept(look):
    ada, effect = person("Ada"), in_doubt()
    page = look(ada, f"/ledger/{effect.uid}/settle/")
    page.get_by_text("It happened", exact=True).click()
    page.get_by_label("The provider's reference").fill("re_77")
    page.get_by_label("How do you know?").fill(TEXT)
    page.get_by_label("Type").fill(str(effect.uid)[-4:])
    end_session()
    press(page, "Settle")
    sign_in(page, ada)
    expect(page.get_by_label("The provider's reference")).to_have_value("re_77")
    expect(page.get_by_label("How do you know?")).to_have_value(TEXT)
    expect(page.get_by_label("It happened")).not_to_be_checked()


def test_somebody_else_who_signs_in_finds_an_empty_form(look):
    ada, eve, run = person("Ada"), person("Eve", "operator"), make.stuck()
    page = look(ada, f"/runs/{run.pk}/resume/")
    page.get_by_label("Reason").fill(TEXT)
    page.get_by_label("Type").fill("c41e")
    end_session()
    press(page, "Force resume")
    sign_in(page, eve)
    expect(page.get_by_label("Reason")).to_have_value("")
    assert "photos" not in page.content()


# --- polls ----------------------------------------------------------------------------------------


@pytest.fixture
def open_request(open_page, signed_in, ben, asked, monkeypatch) -> tuple[Page, Any]:  # noqa: F811
    """The page of a request that looks every second whether something has changed."""
    monkeypatch.setattr("approvals.review.pages.EVERY", 1)
    request = asked(10382)
    page = signed_in(open_page(), ben)
    page.goto(f"/approvals/{request.pk}/")
    return page, request


def test_a_page_that_only_waits_moves_to_sign_in_and_back(open_request, ben):  # noqa: F811
    page, request = open_request
    end_session()
    sign_in(page, ben)
    page.wait_for_url(f"**/approvals/{request.pk}/")


def test_a_page_on_which_something_is_typed_stays_and_says_so(open_request, ben, complaints):  # noqa: F811
    page, request = open_request
    page.get_by_label("Comment").fill(TEXT)
    page.get_by_role("heading", level=1).click()  # a region rests while somebody types in it
    end_session()
    expect(page.get_by_role("alert")).to_contain_text("You were signed out.")
    expect(page.get_by_label("Comment")).to_have_value(TEXT)
    press(page, "Reject…")
    sign_in(page, ben)
    expect(page.get_by_label("Comment")).to_have_value(TEXT)
    assert page.url.endswith(f"/approvals/{request.pk}/")
    complaints[:] = [text for text in complaints if "Response Status Error Code 401" not in text]
