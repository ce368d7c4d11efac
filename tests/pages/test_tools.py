"""The inventory of tools in a real browser: findings, counts, and every width."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import uuid4

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from ledger.inventory import boxes
from ledger.inventory.known import Kind, Known
from ledger.models import Effect, Stop
from ledger.status import Status
from runs.models import Worker
from runs.status import Status as RunStatus
from tests.pages.screens import NARROWEST, everywhere, resize
from tests.support import standing as make
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
SHOTS = os.environ.get("SHOTS")
DAY = 24 * 3600.0
TOOLS = (
    Known(
        name="payments.refund",
        kind=Kind.EFFECT,
        does="Pay the money back to the card that the order was paid with.",
        idempotency="provider",
        window=DAY,
        lookup=True,
        timeout=45,
        permit="sometimes",
        agents=("refund_desk", "refund_workflow"),
    ),
    Known(
        name="mail.send",
        kind=Kind.EFFECT,
        does="Write to the customer.",
        idempotency="lookup",
        lookup=True,
        timeout=10,
        visibility=30,
        agents=("refund_desk",),
    ),
    Known(
        name="carrier.collect", kind=Kind.EFFECT, does="Have it collected.", idempotency="ledger"
    ),
    Known(name="orders.load", kind=Kind.READS, does="Load an order.", agents=("refund_desk",)),
    Known(name="refund", kind=Kind.THROUGH, does="Refund.", through=("payments.refund",)),
    Known(
        name="wipe_table",
        kind=Kind.UNDECLARED,
        does="Delete every row of a table.",
        place="agents.cleaner.tools.wipe_table",
        agents=("cleaner",),
    ),
)


def effects(tool: str, *states: str) -> None:
    run = make.run(status=RunStatus.SUCCEEDED)
    for status in states:
        key = uuid4().hex
        Effect.objects.create(
            run=run,
            tool=tool,
            status=status,
            idempotency="provider",
            args={},
            fence=1,
            **dict.fromkeys(("idempotency_key", "provider_key", "args_hash", "step"), key),
        )


def test_auditors_read_what_tools_do_and_what_is_wrong_with_them(
    page, signed_in, assert_fits, assert_accessible
) -> None:
    Worker.objects.create(name="w1@here", hostname="here", pid=1, agents={"refund_desk": "1.0"})
    boxes.announce("w1@here", TOOLS)
    effects("payments.refund", *([Status.SENT] * 19), Status.FAILED, Status.IN_DOUBT)
    effects("mail.send", *([Status.CONFIRMED] * 3))
    effects("crm.update", Status.PENDING)
    Stop.objects.create(scope="tool", name="mail.send", reason="Wrong text.", set_by="Ada")
    signed_in(page, person("Cy", "auditor"))
    page.goto(reverse("ledger:list"))
    page.get_by_role("link", name="Tools").click()
    found = page.get_by_role("region", name="Findings")
    expect(found).to_contain_text("The tool wipe_table of cleaner declares neither")
    expect(found).to_contain_text("The ledger has effects of crm.update")
    row = page.get_by_role("row", name="payments.refund").first
    expect(row).to_contain_text("5 %")
    for where in everywhere(page):
        assert_fits(page)
        assert_accessible(page)
        if SHOTS:
            path = Path(SHOTS, f"tools-{where.replace(' ', '-')}.png")
            page.screenshot(path=path, full_page=True)
    resize(page, NARROWEST)
    assert_fits(page)
    page.get_by_role("link", name="a month").click()
    expect(page.locator("[aria-current=true]", has_text="a month")).to_be_visible()
    page.get_by_role("link", name="1 in doubt").click()
    expect(page.get_by_role("heading", name="Ledger")).to_be_visible()
