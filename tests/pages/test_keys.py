"""The keys and the palette in a real browser: they move and lead, and decide nothing."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Page, Route, expect

from approvals.models import Decision, Request
from runs import dispatch
from tests.approvals.conftest import ask, ours, pending
from tests.pages.screens import resize
from tests.support import standing as make
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def nobody_is_rung_for(monkeypatch) -> None:
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, **_: True)


@pytest.fixture
def ada(page, signed_in):
    return signed_in(page, person("Ada", last_name="Marsh"))


def focused(page: Page) -> str:
    found: str = page.evaluate("document.activeElement.textContent.trim()")
    return found


def test_g_and_a_letter_lead_to_the_pages_of_the_menu(ada) -> None:
    ada.goto("/")
    for letter, address in (("r", "/runs/"), ("l", "/ledger/"), ("a", "/approvals/"), ("o", "/")):
        ada.keyboard.press("g")
        ada.keyboard.press(letter)
        ada.wait_for_url(f"**{address}")


def test_j_and_k_walk_the_rows_and_enter_opens_one(ada) -> None:
    for number in (1, 2, 3):
        make.run(f"Order {number}")
    ada.goto("/runs/")
    for key, title in (("j", "Order 3"), ("j", "Order 2"), ("j", "Order 1"), ("k", "Order 2")):
        ada.keyboard.press(key)
        assert title in focused(ada)
    ada.keyboard.press("Enter")
    expect(ada.get_by_role("heading", level=1)).to_have_text("Order 2")
    ada.keyboard.press("2")
    expect(ada.locator(".tabs a").nth(1)).to_have_attribute("aria-current", "page")
    ada.keyboard.press("u")
    ada.wait_for_url("**/runs/")


def test_u_leads_to_the_page_right_above(ada) -> None:
    run = make.run("Order 1", status="queued")
    ada.goto(f"/runs/{run.pk}/cancel/")
    ada.keyboard.press("u")
    ada.wait_for_url(f"**/runs/{run.pk}/")
    ada.keyboard.press("u")
    ada.wait_for_url("**/runs/")


def test_j_goes_on_where_a_row_went_away_with_the_focus(ada) -> None:
    for number in (1, 2, 3):
        make.run(f"Order {number}")
    ada.goto("/runs/")
    ada.keyboard.press("j")
    ada.keyboard.press("j")
    assert "Order 2" in focused(ada)
    ada.evaluate("document.activeElement.closest('tr').remove()")
    assert ada.evaluate("document.activeElement === document.body")
    ada.keyboard.press("j")
    assert "Order 1" in focused(ada)


def test_keys_do_nothing_in_fields_with_modifiers_or_below_a_dialog(ada) -> None:
    ada.goto("/runs/")
    ada.keyboard.press("/")
    field = ada.get_by_role("searchbox").first
    expect(field).to_be_focused()
    ada.keyboard.type("gl?p")
    expect(field).to_have_value("gl?p")
    field.blur()
    ada.keyboard.press("Alt+p")
    pause = ada.locator("[data-pause]").first
    expect(pause).to_have_attribute("aria-pressed", "false")
    ada.keyboard.press("?")
    expect(ada.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    ada.keyboard.press("p")
    expect(pause).to_have_attribute("aria-pressed", "false")
    ada.keyboard.press("Escape")
    expect(ada.get_by_role("dialog")).to_have_count(0)
    ada.keyboard.press("p")
    expect(pause).to_have_attribute("aria-pressed", "true")
    assert ada.url.endswith("/runs/")


def test_who_switched_keys_off_keeps_only_those_with_ctrl(page, signed_in) -> None:
    signed_in(page, person("Ada", shortcuts=False)).goto("/runs/")
    for key in ("p", "?", "/", "g", "l"):
        page.keyboard.press(key)
    expect(page.get_by_role("searchbox").first).not_to_be_focused()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.locator("[data-pause]").first).to_have_attribute("aria-pressed", "false")
    assert page.url.endswith("/runs/")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Go to a page or run")).to_be_focused()


def refund(settings) -> Request:
    settings.APPROVALS_POLICIES = []
    settings.APPROVALS_DEFAULT = {
        "name": "refunds",
        "group": "finance",
        "deadline": timedelta(hours=1),
    }
    run = make.run("Refund order 10382", status="waiting", starter="api")
    question = ours("Refund EUR 600.00", args={"order_id": "10382", "amount_cents": 60000})
    request: Request = ask(run, pending(question))
    return request


def test_a_and_r_move_to_the_buttons_of_a_decision_and_decide_nothing(
    page, signed_in, settings
) -> None:
    request = refund(settings)
    signed_in(page, person("Ben", "finance")).goto(f"/approvals/{request.pk}/")
    page.keyboard.press("r")
    expect(page.get_by_role("button", name=re.compile("Reject"))).to_be_focused()
    page.keyboard.press("a")
    approve = page.get_by_role("button", name=re.compile("^Approve"))
    expect(approve).to_be_focused()
    comment = page.get_by_label("Comment")
    comment.fill("Damaged")
    comment.press("Control+Enter")
    expect(approve).to_be_focused()
    assert not Decision.objects.exists()
    request.refresh_from_db()
    assert request.status == "pending"


def test_ctrl_enter_sends_a_form_that_harms_nothing(ada) -> None:
    ada.goto("/me/")
    ada.get_by_label("First name").fill("Augusta")
    ada.get_by_label("First name").press("Control+Enter")
    expect(ada.get_by_text("Saved.")).to_be_visible()
    expect(ada.get_by_label("First name")).to_have_value("Augusta")


def test_ctrl_enter_only_moves_to_a_dangerous_button(ada) -> None:
    run = make.run(status="queued")
    ada.goto(f"/runs/{run.pk}/cancel/")
    ada.get_by_label("Reason").fill("Not needed")
    ada.get_by_label("Reason").press("Control+Enter")
    expect(ada.locator("main form .btn.danger")).to_be_focused()
    run.refresh_from_db()
    assert run.status == "queued"


def test_the_palette_leads_to_a_run_with_arrows_and_enter(ada, assert_accessible) -> None:
    runs = [make.run(f"Refund order 1038{number}") for number in (1, 2)]
    ada.goto("/")
    ada.keyboard.press("Control+k")
    field = ada.get_by_role("combobox", name="Go to a page or run")
    field.fill("order 1038")
    answers = ada.get_by_role("option")
    expect(answers).to_have_count(2)
    expect(answers.first).to_have_attribute("aria-selected", "true")
    assert_accessible(ada)
    field.press("ArrowDown")
    expect(answers.nth(1)).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", "go-2")
    field.press("Enter")
    ada.wait_for_url(f"**/runs/{runs[0].pk}/")


def test_enter_never_follows_an_answer_to_what_was_typed_before(ada, complaints) -> None:
    def no_answers(route: Route) -> None:
        if "hx-request" in route.request.headers:
            route.abort()
        else:
            route.continue_()

    ada.goto("/")
    ada.keyboard.press("Control+k")
    field = ada.get_by_role("combobox", name="Go to a page or run")
    expect(ada.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    ada.route("**/go/?q=*", no_answers)
    field.press_sequentially("Ledger")
    field.press("Enter")
    ada.wait_for_url("**/go/?q=Ledger")
    complaints[:] = [text for text in complaints if "/go/?q=" not in text and "htmx:" not in text]


def test_the_palette_gives_the_focus_back_and_leaves_nothing_behind(ada) -> None:
    make.run("Order 1")
    ada.goto("/runs/")
    ada.keyboard.press("j")
    ada.keyboard.press("Control+k")
    expect(ada.get_by_role("combobox", name="Go to a page or run")).to_be_focused()
    ada.keyboard.press("Escape")
    assert "Order 1" in focused(ada)
    expect(ada.locator("#sheet > *")).to_have_count(0)


def test_the_palette_opens_in_its_page_however_often_it_is_asked_for(ada) -> None:
    waits: list[Route] = []
    ada.goto("/me/")
    ada.get_by_label("First name").fill("Augusta")
    ada.route("**/go/", lambda route: waits.append(route))
    for key in ("Control+k", "Control+k", "Control+k"):
        ada.keyboard.press(key)
    waits[0].continue_()
    expect(ada.get_by_role("combobox", name="Go to a page or run")).to_be_focused()
    assert len(waits) == 1
    assert ada.url.endswith("/me/")
    ada.keyboard.press("Escape")
    expect(ada.get_by_label("First name")).to_have_value("Augusta")


def test_without_a_script_both_are_pages(open_page, signed_in) -> None:
    page = open_page(java_script_enabled=False)
    run = make.run("Refund order 10382")
    signed_in(page, person("Ada")).goto("/")
    page.locator(".menu summary").click()
    page.get_by_role("link", name="Keyboard shortcuts").click()
    expect(page.get_by_role("heading", name="Keyboard shortcuts")).to_be_visible()
    page.locator(".menu summary").first.click()
    page.get_by_role("link", name="Go to…").click()
    page.get_by_role("searchbox").fill(str(run.pk)[-8:])
    page.get_by_role("searchbox").press("Enter")
    page.wait_for_url(f"**/runs/{run.pk}/")


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark"), (320, "light")])
def test_both_dialogs_are_fit_for_everybody(
    open_page, signed_in, assert_accessible, width, theme
) -> None:
    page = open_page(viewport={"width": width, "height": 800}, color_scheme=theme)
    signed_in(page, person("Rut"))
    for key in ("?", "Control+k"):
        page.goto("/")
        page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_be_visible()
        resize(page, width)
        assert_accessible(page)


def test_the_palette_says_that_it_cannot_ask(ada, complaints) -> None:
    ada.goto("/keys/")
    ada.context.set_offline(True)
    ada.keyboard.press("Control+k")
    dialog = ada.get_by_role("dialog", name="Signalbox cannot be reached.")
    expect(dialog).to_be_visible()
    ada.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    ada.context.set_offline(False)
    ada.keyboard.press("Control+k")
    field = ada.get_by_role("combobox", name="Go to a page or run")
    expect(field).to_be_focused()
    ada.context.set_offline(True)
    field.fill("approvals")
    expect(ada.get_by_role("dialog")).to_contain_text("Signalbox cannot be reached.")
    ada.context.set_offline(False)
    field.fill("ledger")
    expect(ada.get_by_role("option", name="Ledger")).to_be_visible()
    assert not [each for each in complaints if each.startswith("script")]
    complaints.clear()  # htmx and the browser tell the console that they are offline
