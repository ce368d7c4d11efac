"""The main tasks of each role, from signing in to the end: by mouse, by keyboard, without scripts.

What is used is found by its role and its name, as a screen reader tells them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from accounts.actors import Actor
from approvals.models import Decision
from audit import trail
from ledger.models import Effect
from runs import dispatch
from runs.models import Intervention
from tests.ledger.rows import in_doubt
from tests.pages.test_bulk import asked, policies  # noqa: F401  # fixtures
from tests.support import standing as make
from tests.support.people import PASSWORD, person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
MOST_TABS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """Somebody at a page."""

    page: Page
    keyboard: bool = False

    def follow(self, name: str) -> None:
        link = self.page.get_by_role("link", name=name).first
        self._use(link, "Enter")

    def press(self, name: str) -> None:
        self._use(self.page.get_by_role("button", name=name).first, "Space")

    def unfold(self, name: str) -> None:
        self._use(self.page.locator("summary").filter(has_text=name).first, "Enter")

    def choose(self, name: str) -> None:
        choice = self.page.get_by_role("radio", name=name)
        if not self.keyboard:
            choice.check()
            return
        self._reach(choice, "element.name === document.activeElement.name")
        while not choice.is_checked():
            self.page.keyboard.press("ArrowDown")

    def fill(self, label: str, text: str) -> None:
        field = self.page.get_by_label(label).first
        if not self.keyboard:
            field.fill(text)
            return
        self._reach(field)
        self.page.keyboard.type(text)

    def pick(self, label: str, option: str) -> None:
        field = self.page.get_by_label(label).first
        if not self.keyboard:
            field.select_option(label=option)
            return
        self._reach(field)
        self.page.keyboard.type(option)
        expect(field.locator("option:checked")).to_have_text(option)

    def sees(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()

    def sign_in(self, name: str) -> None:
        self.page.goto("/accounts/login/")
        self.fill("Email", f"{name.lower()}@example.com")
        self.fill("Password", PASSWORD)
        button = self.page.get_by_role("button", name="Sign in", exact=True)
        self._use(button, "Enter")
        expect(self.page.get_by_role("navigation", name="Main")).to_be_visible()

    def _use(self, found: Locator, key: str) -> None:
        if not self.keyboard:
            found.click()
            return
        self._reach(found)
        self.page.keyboard.press(key)

    def _reach(self, found: Locator, here: str = "element === document.activeElement") -> None:
        found.wait_for()
        for _ in range(MOST_TABS):
            if found.evaluate(f"element => {here}"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"not reached with the Tab key: {found}")


@pytest.fixture(params=["mouse", "keyboard", "mouse without scripts", "keyboard without scripts"])
def hands(request, open_page, monkeypatch) -> Hands:
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, *, cause, to="": True)
    page = open_page(java_script_enabled="without" not in request.param)
    return Hands(page=page, keyboard="keyboard" in request.param)


def test_an_approver_rejects_one_request_and_approves_the_next(
    hands: Hands,
    asked: Callable[..., Any],  # noqa: F811
):
    first, second = asked(10382), asked(10383)
    person("Ben", "finance")
    hands.sign_in("Ben")
    hands.follow("Approvals")
    hands.follow(first.title)
    hands.fill("Comment", "No receipt.")
    hands.press("Reject…")
    hands.sees("You rejected this")
    hands.follow("Next for you")
    hands.press("Approve")
    hands.sees("You approved this")
    hands.follow("Approvals")
    hands.follow("Decided")
    hands.sees("No receipt.")
    verdicts = dict(Decision.objects.values_list("request", "verdict"))
    assert verdicts == {first.pk: "rejected", second.pk: "approved"}


def test_an_operator_frees_a_stuck_run_ends_another_and_settles_an_effect(hands: Hands):
    person("Ada")
    stuck, doubtful = make.stuck("Close stale tickets"), in_doubt(tool="carrier.book")
    hands.sign_in("Ada")
    hands.follow("Needs an operator")
    hands.follow("Close stale tickets")
    hands.follow("Force resume…")
    hands.fill("Reason", "Its worker is gone.")
    hands.fill("Type", str(stuck.pk)[-4:])
    hands.press("Force resume")
    hands.sees("Resumed by hand.")
    hands.follow("Cancel…")
    hands.fill("Reason", "Not needed.")
    hands.press("Cancel the run")
    hands.sees("Asked to cancel.")
    kinds = Intervention.objects.filter(run=stuck).order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["force_resume", "cancel"]
    hands.follow("Ledger")
    hands.follow("1 in doubt")
    hands.follow("carrier.book")
    hands.follow("Settle…")
    hands.choose("It happened")
    hands.fill("The provider's reference", "bk_77")
    hands.fill("How do you know?", "Seen in the dashboard.")
    hands.fill("Type", str(doubtful.uid)[-4:])
    hands.press("Settle")
    hands.sees("Settled: it happened.")
    assert Effect.objects.get(pk=doubtful.pk).settled_by == "Ada"


def test_an_auditor_finds_what_was_refused_and_takes_it_along(hands: Hands):
    cy = person("Cy")
    actor = Actor.person(cy, entry="page")
    run = make.run()
    trail.record("run.started", actor=actor, target=("run", str(run.pk)), run_id=run.pk)
    trail.record(
        "decision.refused",
        actor=actor,
        target=("request", "7"),
        allowed=False,
        reason="The requester does not decide.",
    )
    hands.sign_in("Cy")
    hands.follow("Audit")
    hands.pick("Result", "Refused")
    hands.press("Show")
    hands.sees("The requester does not decide.")
    hands.unfold("Details")
    hands.sees("not sealed yet")
    with hands.page.expect_download() as download:
        hands.press("JSON Lines")
    assert download.value.suggested_filename.endswith(".zip")
