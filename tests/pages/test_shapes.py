"""Forms of every shape in a real browser: what they show, refuse, and keep.

What the decisions give their nodes is in tests.pages.test_every_decision.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.models import User
from approvals.models import Request, Vote
from runs import checkpoints
from runs.models import Lease, Run
from tests.approvals.conftest import ask, pending
from tests.pages.screens import everywhere
from tests.support import driven
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
SHOTS = os.environ.get("SHOTS")
"""A folder for pictures of every form, where somebody wants to look at them."""


@pytest.fixture(autouse=True)
def listening(monkeypatch, transactional_db) -> Iterator[None]:
    with driven.agents_listened_to(monkeypatch):
        yield


@pytest.fixture(scope="module", autouse=True)
def connections_end(django_db_setup: None) -> Iterator[None]:
    yield
    checkpoints.close()


@pytest.fixture(autouse=True)
def policy(settings) -> None:
    driven.policy(settings)


@pytest.fixture
def ben(db: None) -> User:
    return person("Ben", "finance")


@pytest.fixture
def eve(db: None) -> User:
    return person("Eve", "finance", "approver")


@pytest.fixture
def start(settings) -> Callable[[str], Run]:
    """A run of one of the agents, driven until it asks."""

    def start(name: str) -> Run:
        return driven.start(settings, name)

    return start


@pytest.fixture
def look(open_page, signed_in) -> Callable[..., Page]:
    """The page of a run's open request, as somebody sees it in a browser of their own."""

    def look(user: User, run: Run, **options: Any) -> Page:
        page: Page = signed_in(open_page(**options), user)
        page.goto(address(Request.objects.get(run=run, status="pending")))
        return page

    return look


def address(request: Request) -> str:
    return reverse("approvals:review", args=[request.pk])


def button(page: Page, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def picture(page: Page, name: str) -> None:
    """Keep how the page looks, on a desk, in the dark, and on a phone."""
    if not SHOTS:
        return
    for where in everywhere(page):
        page.screenshot(path=Path(SHOTS, f"{name}-{where.replace(' ', '-')}.png"), full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 800})


@pytest.mark.parametrize("scripts", [True, False])
def test_calls_of_a_batch_are_decided_one_by_one(look, start, ben, scripts):
    run = start("batched")
    page = look(ben, run, java_script_enabled=scripts)
    if scripts:
        picture(page, "batched")
    mail = page.get_by_role("region", name="send_email")
    file = page.get_by_role("region", name="delete_file")
    expect(file.get_by_label("Change")).to_have_count(0)
    button(page, "Send 2 decisions").click()
    expect(page.get_by_text("Choose what is to be done with this.")).to_have_count(2)
    assert not Vote.objects.exists()
    mail.get_by_label("Approve", exact=True).check()
    expect(file.get_by_label("Reason")).to_be_hidden()
    file.get_by_label("Reject", exact=True).check()
    file.get_by_label("Reason").fill("Keep it.")
    button(page, "Send 2 decisions").click()
    expect(page.get_by_text("You approved this")).to_be_visible()
    expect(page.get_by_label("What was decided")).to_contain_text("Keep it.")
    if scripts:
        picture(page, "batched-decided")


@pytest.mark.parametrize("name", ["batched_one", "per_call", "inbox", "ours"])
def test_what_one_person_proposes_is_shown_to_the_other(look, start, ben, eve, name):
    run = start(name)
    argument, wanted = ("Cents", "50000") if name == "ours" else ("Copies", "3")
    changed = "Accept as changed" if name == "inbox" else "Approve as changed"
    his = look(ben, run)
    picture(his, name)
    his.get_by_text("Change arguments").click()
    his.get_by_label(argument).fill("three")
    button(his, changed).click()
    expect(his.get_by_text("Write a whole number in digits only")).to_be_visible()
    expect(his.get_by_label(argument)).to_have_value("three")
    expect(his.get_by_label(argument)).to_have_attribute("aria-invalid", "true")
    picture(his, f"{name}-error")
    his.get_by_label(argument).fill(wanted)
    button(his, changed).click()
    expect(his.get_by_text("Your proposal is recorded")).to_be_visible()
    hers = look(eve, run)
    expect(hers.get_by_text("Ben proposes changes")).to_be_visible()
    expect(hers.get_by_label(argument)).to_have_value(wanted)
    picture(hers, f"{name}-proposed")
    button(hers, changed).click()
    expect(hers.get_by_label("What was decided")).to_contain_text(wanted)
    picture(hers, f"{name}-changed")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_form_comes_back_as_it_was_filled_in(look, start, ben, scripts):
    page = look(ben, start("typed_dict"), java_script_enabled=scripts)
    if scripts:
        picture(page, "typed")
    button(page, "Send answer").click()
    expect(page.get_by_text("This is required.")).to_have_count(2)
    page.get_by_label("Count").fill("7")
    page.get_by_label("42").check()
    page.get_by_label("Notes 1").fill("fragile")
    button(page, "Add a row to Notes").click()
    expect(page.get_by_label("Notes 3")).to_be_visible()
    expect(page.get_by_label("Notes 1")).to_have_value("fragile")
    expect(page.get_by_label("42")).to_be_checked()
    page.get_by_label("Street").fill("Main Street 1")
    if scripts:
        picture(page, "typed-filled")
    button(page, "Send answer").click()
    expect(page.get_by_label("What was decided")).to_contain_text("Main Street 1")


def test_of_alternatives_the_chosen_one_opens(look, start, ben):
    page = look(ben, start("typed_model"))
    expect(page.get_by_label("Days")).to_be_hidden()
    page.get_by_label("Invoice").check()
    page.get_by_label("Days").fill("91")
    page.get_by_label("Cents").fill("500")
    picture(page, "typed-model")
    button(page, "Send answer").click()
    expect(page.get_by_text("This must be at most 90.")).to_be_visible()
    expect(page.get_by_label("Days")).to_have_value("91")


@pytest.mark.parametrize("name", ["batched", "typed_dict", "typed_model", "inbox"])
def test_forms_are_accessible_and_fit_every_screen(
    look, start, ben, name, assert_accessible, assert_fits
):
    page = look(ben, start(name))
    for each in page.locator("details.way > summary").all():
        each.click()
    for _ in everywhere(page):
        assert_accessible(page)
        assert_fits(page)


def test_a_payload_is_tried_without_asking_anybody(open_page, signed_in, db):
    page = signed_in(open_page(java_script_enabled=False), person("Olga", "operator"))
    page.goto("/approvals/")
    page.get_by_role("link", name="Try a payload").click()
    page.get_by_label("Payload of the interrupt").fill(
        '{"action_request": {"action": "send_email", "args": {"to": "a", "copies": 2}},'
        ' "config": {"allow_accept": true, "allow_edit": true, "allow_respond": true}}'
    )
    page.get_by_label("Arguments that may be changed").fill("copies")
    button(page, "Show the form").click()
    page.get_by_text("Change arguments").click()
    page.get_by_label("Copies").fill("3")
    button(page, "Accept as changed").click()
    expect(page.get_by_label("Resume JSON")).to_contain_text('"copies": 3')
    assert not Request.objects.exists()


def test_the_page_for_trying_fits_every_screen(
    open_page, signed_in, db, assert_accessible, assert_fits
):
    page = signed_in(open_page(), person("Olga", "operator"))
    page.goto("/approvals/try/")
    picture(page, "try")
    page.get_by_label("Payload of the interrupt").fill('"How many?"')
    page.get_by_label("Response schema").fill('{"type": "integer", "title": "Count"}')
    button(page, "Show the form").click()
    page.get_by_label("Count").fill("3")
    button(page, "Show what this answer sends").click()
    expect(page.get_by_label("Resume JSON")).to_be_visible()
    picture(page, "try-resume")
    for _ in everywhere(page):
        assert_accessible(page)
        assert_fits(page)


HOSTILE = (
    '<img src=x onerror="alert(1)"></script><script>alert(1)</script>'
    '<b hx-get="/approve" hx-trigger="load" data-hx-post="/approve">bold</b>'
    "[x](javascript:alert(1)) ![y](https://evil.example/?q=1) \u202eelbisivni\u202c zero\u200bwidth"
)


def test_hostile_text_stays_text_in_every_field(look, waiting, ben, settings):
    settings.APPROVALS_DEFAULT = settings.APPROVALS_DEFAULT | {"editable": ["*"]}
    call = {
        "name": HOSTILE[:190],
        "args": {HOSTILE: HOSTILE, "n": [HOSTILE]},
        "description": HOSTILE,
    }
    config = {"action_name": HOSTILE[:190], "allowed_decisions": ["approve", "edit", "respond"]}
    schema = {
        "type": "object",
        "title": HOSTILE,
        "properties": {
            HOSTILE: {"type": "string", "description": HOSTILE, "default": HOSTILE},
            "choice": {"enum": [HOSTILE, *"abcdef"]},
            "few": {"enum": [HOSTILE, "b"]},
        },
    }
    for payload, answer in (
        ({"action_requests": [call, call], "review_configs": [config, config]}, None),
        ({"action_requests": [call], "review_configs": [config]}, None),
        ({"question": HOSTILE}, schema),
    ):
        page = look(ben, waiting(payload, answer))
        for each in page.locator("details.way > summary").all():
            each.click()
        assert page.locator("main img, main b[hx-get], main [onerror], main script").count() == 0
        assert page.get_by_text("\\u{202E}").count() > 0


@pytest.fixture
def waiting(db: None) -> Callable[..., Run]:
    """A run that waits for an answer to this payload."""

    def waiting(payload: object, schema: object = None) -> Run:
        run = Run.objects.create(
            agent="agent", agent_version="1", title="T", input={}, status="waiting", starter="x"
        )
        Lease.objects.create(run=run, fence=1)
        question = pending(payload)
        object.__setattr__(question, "schema", schema)
        ask(run, question)
        return run

    return waiting
