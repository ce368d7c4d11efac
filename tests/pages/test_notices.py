"""What people are told, who looks at a request, and the outbox, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import transaction
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.models import User
from approvals.models import NoticeChoice, Request
from audit.models import ClockTimestamp
from ledger import outbox
from ledger.models import Message
from runs.models import Lease, Run
from tests.approvals.conftest import ask, ours, pending
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
SignedIn = Callable[[Page, User], Page]


@pytest.fixture
def ada() -> User:
    return person("Ada", "finance", "approver")


@pytest.fixture
def ben() -> User:
    return person("Ben", "finance")


@pytest.fixture
def eve() -> User:
    return person("Eve", "finance", "approver")


@pytest.fixture
def question(settings, ada: User) -> Request:
    """An open request of a run of Ada's."""
    settings.APPROVALS_POLICIES = []
    settings.APPROVALS_DEFAULT = {
        "name": "default",
        "group": "finance",
        "deadline": timedelta(hours=1),
    }
    run = Run.objects.create(
        agent="refund_desk",
        agent_version="1",
        title="Refund",
        input={},
        status="waiting",
        started_by=ada,
        starter=ada.label,
    )
    Lease.objects.create(run=run, fence=1)
    request: Request = ask(run, pending(ours()))
    return request


@pytest.fixture
def dead() -> Message:
    with transaction.atomic():
        for n in range(2):
            outbox.add("crm", {"order": n}, dedupe=str(n))
        outbox.add("mail", {"order": 9}, dedupe="9")
    Message.objects.filter(destination="crm").update(
        status="dead", closed_at=ClockTimestamp(), tries=12, error="HTTP 503"
    )
    Message.objects.filter(destination="mail").update(
        tries=1, error="away", due_at=ClockTimestamp() + timedelta(hours=1)
    )
    return Message.objects.filter(destination="crm").latest("seq")


def test_a_person_chooses_what_they_are_told_by_keyboard(
    page: Page, ben: User, signed_in: SignedIn
) -> None:
    signed_in(page, ben).goto("/me/")
    page.get_by_role("link", name="choose which, and when").click()
    page.get_by_label("A run went on with a decision").focus()
    page.keyboard.press("Space")
    page.get_by_label("How often").select_option(label="Every hour")
    page.get_by_label("Quiet from").fill("22:00")
    page.get_by_label("Quiet until").fill("07:00")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_label("Quiet until")).to_have_value("07:00")
    choice = NoticeChoice.objects.get(user=ben)
    assert (choice.muted, choice.gather) == (["took_effect"], 60)


@pytest.mark.parametrize("scripts", [True, False])
def test_who_looks_at_a_request_is_seen_by_others_and_keeps_nobody_from_deciding(
    open_page,
    ben: User,
    eve: User,
    question: Request,
    signed_in: SignedIn,
    scripts: bool,
) -> None:
    address = reverse("approvals:review", args=[question.pk])
    hers = signed_in(open_page(java_script_enabled=scripts), eve)
    his = signed_in(open_page(java_script_enabled=scripts), ben)
    hers.goto(address)
    hers.get_by_role("button", name="I am looking at this").click()
    expect(hers.get_by_text("Others see that you are looking at this.")).to_be_visible()
    his.goto(address)
    expect(his.get_by_text("Eve is looking at this")).to_be_visible()
    his.goto("/approvals/")
    expect(his.get_by_text("Eve is looking at this")).to_be_visible()
    his.goto(address)
    his.get_by_role("button", name="Approve").click()
    expect(his.get_by_text("You approved this")).to_be_visible()
    expect(his.get_by_text("is looking at this")).to_have_count(0)
    question.refresh_from_db()
    assert question.status == "approved"


def test_an_operator_sends_a_dead_message_again(
    page: Page, ada: User, dead: Message, signed_in: SignedIn
) -> None:
    signed_in(page, ada).goto("/ledger/")
    page.get_by_role("link", name="Outbox").click()
    page.get_by_role("link", name="Given up").click()
    page.get_by_role("link", name="Send again").first.click()
    page.get_by_label("Reason").fill("It is back.")
    page.get_by_role("button", name="Send again").click()
    expect(page.get_by_text("1 message is queued again.")).to_be_visible()
    dead.refresh_from_db()
    assert dead.status == "pending"
