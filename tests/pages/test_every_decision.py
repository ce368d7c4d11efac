"""Every decision that a shape of question allows, clicked in a browser, and what its node received.

LangChain's agents, LangGraph and pydantic take the answers as they would anywhere: between the
click and the node nothing is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.models import User
from approvals.asking import Answer
from approvals.models import Decision, Request
from runs import checkpoints
from runs.models import Run
from tests.approvals.conftest import now
from tests.pages.hands import Keyboard, Mouse
from tests.support import agents, driven
from tests.support.agents import MAIL
from tests.support.people import person
from tests.support.replies import ONE_OF_EACH, REPLIES, Reply, fill, press

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def listening(monkeypatch, transactional_db) -> Iterator[None]:
    with driven.agents_listened_to(monkeypatch):
        yield


@pytest.fixture(scope="module", autouse=True)
def connections_end(django_db_setup: None) -> Iterator[None]:
    yield
    checkpoints.close()


@pytest.fixture
def ben(db: None) -> User:
    return person("Ben", "finance")


@pytest.fixture
def eve(db: None) -> User:
    return person("Eve", "finance", "approver")


@pytest.fixture
def start(settings) -> Callable[..., Run]:
    """A run of one of the agents, driven until it asks."""

    def start(name: str, **policy: object) -> Run:
        driven.policy(settings, **policy)
        return driven.start(settings, name)

    return start


@pytest.fixture
def look(open_page, signed_in) -> Callable[..., Page]:
    """The page of an open request, as somebody sees it in a browser of their own."""

    def look(user: User, request: Request, **options: Any) -> Page:
        page: Page = signed_in(open_page(**options), user)
        page.goto(reverse("approvals:review", args=[request.pk]))
        return page

    return look


@pytest.fixture
def give(start, look, ben, eve) -> Callable[..., None]:
    """Give a reply by these hands, and drive the run to its end."""

    def give(reply: Reply, hands: Callable[..., Any], **options: object) -> None:
        run = start(reply.agent, answers=dict(reply.answers))
        request = Request.objects.get(run=run)
        page = look(ben, request, **options)
        hand = hands(page=page)
        for step in reply.steps:
            hand.do(step)
        if reply.seconded:
            expect(page.get_by_text("Your proposal is recorded")).to_be_visible()
            assert not Decision.objects.exists()
            page = look(eve, request, **options)
            expect(page.get_by_text("Ben proposes changes")).to_be_visible()
            hands(page=page).do(reply.steps[-1])
        expect(page.get_by_label("What became of the decision")).to_contain_text("Recorded")
        end(run)

    return give


def end(run: Run) -> None:
    """Drive the run: it must end, and every decision must have taken effect."""
    driven.drive(run)
    assert now(run).status == "succeeded", now(run).park_detail
    assert {each.delivery for each in Decision.objects.all()} == {"took_effect"}


def typed(value: object) -> object:
    """The same with the type of everything in it: 1 is neither 1.0 nor True."""
    if isinstance(value, dict):
        return {key: typed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [typed(each) for each in value]
    return type(value).__name__, value


def received() -> object:
    """What the one node that asked got, of ours without the digest that was checked on the way."""
    (got,) = agents.RECEIVED
    if isinstance(got, Answer):
        return {key: value for key, value in asdict(got).items() if key != "digest"}
    return got


def check(reply: Reply) -> None:
    """The node received what the shape's documentation asks for, and what ran is what was meant."""
    assert typed(received()) == typed(reply.received)
    ran = sorted(agents.CALLS, key=str)
    assert typed([list(each) for each in ran]) == typed(
        [list(each) for each in sorted(reply.ran, key=str)]
    )
    said = " ".join(message["content"] for message in told())
    assert [words for words in reply.told if words not in said] == []


ROLES = {"button", "radio", "checkbox", "textbox", "combobox", "DisclosureTriangle"}


def spoken(page: Page) -> list[tuple[str, ...]]:
    """Every control, as Chromium tells it to a screen reader: its role, the names of the groups
    around it, and its own name."""
    devtools = page.context.new_cdp_session(page)
    nodes = {n["nodeId"]: n for n in devtools.send("Accessibility.getFullAXTree")["nodes"]}

    def said(node: dict[str, Any]) -> tuple[str, ...]:
        around, above = [], nodes.get(node.get("parentId", ""))
        while above is not None:
            if above.get("role", {}).get("value") in ("group", "region", "radiogroup"):
                around.append(above.get("name", {}).get("value", ""))
            above = nodes.get(above.get("parentId", ""))
        name = str(node.get("name", {}).get("value", "")).strip()
        return (node["role"]["value"], *reversed(list(filter(None, around))), name)

    return [said(n) for n in nodes.values() if n.get("role", {}).get("value") in ROLES]


def told() -> list[dict[str, str]]:
    """What the model was told about its calls, if there is one."""
    output = Run.objects.get().output or {}
    return [each for each in output.get("messages", []) if each["type"] == "tool"]


@pytest.mark.parametrize("reply", REPLIES, ids=str)
def test_the_node_receives_what_was_decided(give, reply):
    give(reply, Mouse)
    check(reply)


@pytest.mark.parametrize("reply", ONE_OF_EACH, ids=str)
def test_scripts_are_not_needed(give, reply):
    give(reply, Mouse, java_script_enabled=False)
    check(reply)


@pytest.mark.parametrize("reply", ONE_OF_EACH, ids=str)
def test_the_keyboard_is_enough(give, reply):
    give(reply, Keyboard)
    check(reply)


def test_two_calls_at_once_are_asked_about_one_by_one(start, look, ben):
    """LangChain's middleware per call: a question, a page and a decision for each."""
    run = start("per_call_two")
    asked = {request.payload["name"]: request for request in Request.objects.filter(run=run)}
    page = look(ben, asked["delete_file"])
    for step in (fill("Comment", "Keep it."), press("Reject… delete_file")):
        Mouse(page=page).do(step)
    expect(page.get_by_text("You rejected this")).to_be_visible()
    page = look(ben, asked["send_email"])
    Mouse(page=page).do(press("Approve send_email"))
    expect(page.get_by_text("You approved this")).to_be_visible()
    end(run)
    rejected = {"type": "reject", "message": "Keep it."}
    assert sorted(agents.RECEIVED, key=str) == [{"type": "approve"}, rejected]
    assert agents.CALLS == [("send_email", MAIL)]


@pytest.mark.parametrize("agent", sorted({reply.agent for reply in REPLIES}))
def test_a_screen_reader_tells_every_control_from_every_other(start, look, ben, agent):
    run = start(agent)
    page = look(ben, Request.objects.get(run=run))
    for each in page.locator("main input[type=radio], main details").all():
        each.evaluate("element => element.type ? (element.checked = true) : (element.open = true)")
    controls = spoken(page)
    assert len(controls) >= 3  # the comment, and at least two others
    assert [control for control in controls if not control[-1]] == []
    assert [each for each, times in Counter(controls).items() if times > 1] == []
