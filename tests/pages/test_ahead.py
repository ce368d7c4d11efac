"""What would be touched outside, read in a real browser before a button is pressed."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.models import User
from approvals.models import Request
from ledger.inventory import boxes
from ledger.inventory.known import Kind, Known
from ledger.models import Effect, EffectAttempt, Stop
from ledger.status import Outcome, Status
from runs import dispatch
from runs.models import Run, Worker
from runs.status import Park
from runs.status import Status as RunStatus
from tests.approvals.conftest import ask, ours, pending
from tests.pages.screens import NARROWEST, everywhere, resize
from tests.support import standing as make
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
SHOTS = os.environ.get("SHOTS")
TASK = "5f0c1d2e-0000-4000-8000-0000000000aa"
REFUND = {"order_id": "10382", "amount_cents": 60000, "currency": "EUR"}


@pytest.fixture(autouse=True)
def quiet(monkeypatch) -> None:
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, **_: True)


@pytest.fixture
def ada(db: None) -> User:
    return person("Ada", "operator", "finance")


@pytest.fixture(autouse=True)
def workers(db: None) -> None:
    Worker.objects.create(name="w1@here", hostname="here", pid=1, agents={"refund_desk": "1.0"})
    day = 24 * 3600.0
    boxes.announce(
        "w1@here",
        (
            Known(name="payments.refund", kind=Kind.EFFECT, idempotency="provider", window=day),
            Known(name="mail.send", kind=Kind.EFFECT, idempotency="lookup", lookup=True),
        ),
    )


def effect(run: Run, tool: str, status: str, outcome: str = "", **fields: Any) -> Effect:
    name = uuid4().hex
    usual: dict[str, Any] = {
        "step": f"refund@{TASK}",
        "idempotency": "provider" if tool == "payments.refund" else "lookup",
        "args": {},
        "args_hash": name,
        "fence": 1,
        "attempts": 1,
        "provider_key": name,
        "first_started_at": make.ago(minutes=3),
        "idempotency_key": f"{run.pk}:refund@{TASK}:{tool}:{name}",
    }
    made = Effect.objects.create(run=run, tool=tool, status=status, **usual | fields)
    if outcome:
        EffectAttempt.objects.create(
            effect=made,
            number=1,
            outcome=outcome,
            provider_key=name,
            fence=1,
            holder=make.HOLDER,
            started_at=make.ago(minutes=3),
            timeout_at=make.ago(minutes=2),
            ended_at=make.ago(minutes=2),
        )
    return made


def all_sorts(run: Run) -> None:
    effect(run, "payments.refund", Status.SENT, provider_ref="re_1PqZ8u2eZvKYlo2C")
    effect(run, "payments.refund", Status.PENDING, Outcome.UNKNOWN)
    effect(run, "mail.send", Status.PENDING, Outcome.UNKNOWN)
    effect(run, "mail.send", Status.PENDING, Outcome.RETRYABLE, retry_at=make.soon(minutes=4))
    effect(run, "payments.refund", Status.FAILED)


def shoot(page: Page, name: str, where: str) -> None:
    if SHOTS:
        path = Path(SHOTS, f"{name}-{where.replace(' ', '-')}.png")
        page.screenshot(path=path, full_page=True)


def seen_everywhere(page: Page, name: str, fits: Any, accessible: Any) -> None:
    for where in everywhere(page):
        fits(page)
        accessible(page)
        shoot(page, name, where)
    resize(page, NARROWEST)
    fits(page)


@pytest.fixture
def asked(ada: User, settings) -> Request:
    settings.APPROVALS_POLICIES = []
    run = make.run("Refund order 10382", status=RunStatus.WAITING)
    make.lease(run, fence=1)
    made: Request = ask(
        run, pending(ours("Refund EUR 600.00 to Ada Marsh", args=REFUND, why="It is damaged."))
    )
    return made


def test_an_approver_reads_what_approving_touches_above_the_buttons(
    page, signed_in, ada, asked, assert_fits, assert_accessible
) -> None:
    effect(asked.run, "mail.send", Status.SENT, provider_ref="ml_7")
    signed_in(page, person("Ben", "finance"))
    page.goto(reverse("approvals:review", args=[asked.pk]))
    panel = page.get_by_role("region", name="What approving touches")
    expect(panel.get_by_role("term")).to_contain_text(["Will run", "Already done"])
    expect(panel).to_contain_text("payments.refundthis question")
    expect(panel).to_contain_text("mail.sendml_7")
    expect(panel).to_contain_text("Other calls that this step makes are not known beforehand.")
    above = panel.bounding_box()
    buttons = page.get_by_role("button", name="Approve").bounding_box()
    assert above is not None
    assert buttons is not None
    assert above["y"] < buttons["y"]
    seen_everywhere(page, "approve", assert_fits, assert_accessible)
    page.get_by_role("button", name="Approve").click()
    expect(panel).to_have_count(0)


def test_an_approver_is_told_of_what_was_done_before_and_of_a_stop(
    page, signed_in, ada, asked, assert_fits, assert_accessible
) -> None:
    step = "refund@an-earlier-task"
    effect(
        asked.run,
        "payments.refund",
        Status.SENT,
        step=step,
        provider_ref="re_9",
        args_hash=asked.args_hash,
        idempotency_key=f"{asked.run_id}:{step}:payments.refund:{asked.args_hash}",
    )
    signed_in(page, person("Ben", "finance"))
    page.goto(reverse("approvals:review", args=[asked.pk]))
    panel = page.get_by_role("region", name="What approving touches")
    expect(panel.get_by_role("term")).to_contain_text(["Done before"])
    expect(panel).to_contain_text("payments.refundre_9")
    page.set_viewport_size({"width": 360, "height": 740})
    warning = page.locator(".notice", has_text="Done before.")
    question = page.get_by_role("heading", name="What will happen")
    assert warning.bounding_box()["y"] < question.bounding_box()["y"]  # the buttons float below
    seen_everywhere(page, "approve-again", assert_fits, assert_accessible)
    Stop.objects.create(scope="everything", reason="Wrong amounts.", set_by="Ada")
    page.reload()
    expect(panel).to_contain_text("An emergency stop is on for everything, set by Ada")
    expect(panel.get_by_role("term")).to_contain_text(["Held back"])


@pytest.mark.parametrize("name", ["resume", "retry", "ask_again", "cancel"])
def test_an_operator_reads_it_before_intervening(
    page, signed_in, ada, assert_fits, assert_accessible, name
) -> None:
    run = make.parked(Park.BAD_ANSWER, "Refund order 10382")
    all_sorts(run)
    signed_in(page, ada)
    page.goto(reverse(f"runs:{name}", args=[run.pk]))
    heading = "What stays" if name == "cancel" else "What the next step touches"
    panel = page.get_by_role("region", name=heading)
    words = (
        ("Stays done", "Not performed", "May happen", "nothing happened")
        if name == "cancel"
        else ("Already done", "Same key again", "Asked first", "Tried again", "Refused")
    )
    for text in words:
        expect(panel).to_contain_text(text)
    above, button = panel.bounding_box(), page.locator("form .btn.danger").bounding_box()
    assert above is not None
    assert button is not None
    assert above["y"] < button["y"]
    if name in ("resume", "cancel"):
        seen_everywhere(page, name, assert_fits, assert_accessible)
    panel.get_by_role("link", name="payments.refund").first.click()
    expect(page).to_have_url(re.compile("/ledger/"))


def test_a_doubt_leads_to_where_it_is_settled(
    page, signed_in, ada, assert_fits, assert_accessible
) -> None:
    run = make.parked(Park.CRASH_LOOP, "Refund order 10382")
    all_sorts(run)
    doubtful = effect(run, "payments.refund", Status.IN_DOUBT, Outcome.UNKNOWN)
    signed_in(page, ada)
    page.goto(reverse("runs:resume", args=[run.pk]))
    panel = page.get_by_role("region", name="What the next step touches")
    expect(panel).to_contain_text("Until somebody settles it, nothing of this run is sent.")
    seen_everywhere(page, "doubt", assert_fits, assert_accessible)
    panel.get_by_role("link", name="Settle the effect").click()
    expect(page).to_have_url(re.compile(str(doubtful.uid)))
