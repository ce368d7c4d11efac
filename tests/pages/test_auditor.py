"""An auditor with no other right, an order number, and a minute."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.actors import Actor
from approvals.models import Request
from audit import seal
from audit.exports import verify_export
from ledger.models import Effect
from runs import admission, checkpoints, dispatch, driver
from runs.heartbeat import Heart
from runs.models import Run
from tests.agents import fakepay_process
from tests.support import caches
from tests.support.people import person
from tests.support.posting import form_of
from tests.support.processes import until

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
ORDER = "10382"
SECRET = "whsec_of_this_test"


@pytest.fixture(autouse=True)
def provider(settings, monkeypatch, live_server, tmp_path) -> Iterator[fakepay_process.Fakepay]:
    """The example provider as a process of its own, which tells by webhook what it did."""
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, *, cause, to="": True)
    monkeypatch.setattr(Heart, "_ensure_thread", lambda _: None)
    monkeypatch.setenv("FAKEPAY_WEBHOOK_SECRET", SECRET)
    settings.LEDGER_HOOKS = {
        "fakepay": {"read": "ledger.confirmation.stripe.read", "tools": ["payments.*"]}
    }
    settings.LEDGER_HOOK_SECRETS = {"fakepay": [SECRET]}
    caches.forget()
    webhook = ("--webhook", f"{live_server.url}/hooks/fakepay/")
    with fakepay_process.running(tmp_path / "books.sqlite3", *webhook) as running:
        settings.FAKEPAY_URL = running.url
        yield running
    checkpoints.close()
    caches.forget()


@pytest.fixture
def refunded(provider) -> Run:
    """A refund that Ada started and Ben allowed, driven for real and confirmed by the provider."""
    given = {"order_id": ORDER}
    ada = Actor.person(person("Ada"), entry="page")
    run = admission.start("refund_desk", given, actor=ada)
    driver.drive(run.pk, holder="w1", cause="test")
    approve(Request.objects.get(run=run))
    driver.drive(run.pk, holder="w2", cause="test")
    until(lambda: Effect.objects.get(run=run, tool="payments.refund").status == "confirmed")
    for other in ("10377",):
        small = admission.start("refund_desk", {"order_id": other}, actor=ada)
        driver.drive(small.pk, holder="w1", cause="test")
    seal.seal()
    return run


def approve(request: Request) -> None:
    client = Client()
    client.force_login(person("Ben", "finance"))
    address = reverse("approvals:review", args=[request.pk])
    sent = form_of(client.get(address)) | {"verdict": "approved", "comment": "Seen the parcel."}
    assert client.post(address, sent).status_code == 302


def test_an_auditor_finds_out_all_about_a_refund_and_proves_it_to_others(
    open_page, signed_in, refunded, tmp_path
):
    one = Effect.objects.get(run=refunded, tool="payments.refund")
    page = signed_in(open_page(), person("Cy"))
    page.goto("/")
    started = time.monotonic()

    page.get_by_role("link", name="Ledger").click()
    page.get_by_label("Search").fill(ORDER)
    page.get_by_role("button", name="Show").click()
    page.get_by_role("row", name="payments.refund").get_by_role("link").first.click()

    expect(page.get_by_role("link", name=f"Refund order {ORDER}")).to_be_visible()  # which run
    ground = page.get_by_label("Allowed by", exact=True)
    expect(ground).to_contain_text("Ben")  # who allowed it
    expect(ground).to_contain_text("Seen the parcel.")
    ground.get_by_text("What was shown", exact=True).click()
    expect(ground).to_contain_text(ORDER)  # on what payload
    expect(ground).to_contain_text(str(Request.objects.get(run=refunded).digest)[-8:])
    log = page.get_by_label("In the audit log")
    expect(log.get_by_role("row", name="Confirmed")).to_be_visible()  # when it was confirmed
    expect(page.get_by_text(one.provider_ref).first).to_be_visible()

    page.get_by_role("link", name="Ledger").first.click()
    page.get_by_label("Search").fill(ORDER)
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="Export what is found…").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    assert time.monotonic() - started < 60

    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    check(page, path, one)


def check(page: Page, path: Path, one: Effect) -> None:
    """As a stranger does it who has the script, the file, and the key from the page."""
    page.goto("/audit/keys/")
    key = page.locator("main [data-copy]").first.get_attribute("data-copy")
    done = subprocess.run(  # noqa: S603 (our own script)
        [sys.executable, "-I", verify_export.__file__, str(path), str(key)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(path) as bundle:
        lines = bundle.read("ledger-effects.jsonl").splitlines()
    rows = {row["tool"]: row for row in map(json.loads, lines)}
    assert set(rows) == {"payments.refund", "mail.send"}
    refund = rows["payments.refund"]
    assert (refund["effect"], refund["status"]) == (str(one.uid), "confirmed")
    assert (refund["allowed_by"], refund["started_by"]) == ("Ben", "Ada")
    assert refund["provider_ref"] == one.provider_ref
    assert "@" not in json.dumps(rows["mail.send"]["args"])


def test_an_auditor_reads_run_and_request_but_decides_and_changes_nothing(
    open_page, signed_in, refunded
):
    page = signed_in(open_page(), person("Cy"))
    request = Request.objects.get(run=refunded)
    for address in (
        reverse("approvals:review", args=[request.pk]),
        reverse("runs:run", args=[refunded.pk]),
        reverse("runs:state", args=[refunded.pk]),
        reverse("ledger:effect", args=[Effect.objects.get(run=refunded, tool="mail.send").uid]),
    ):
        response = page.goto(address)
        assert response is not None
        assert response.status == 200
        assert page.locator("main form[method=post]").count() == 0
        assert "ada.marsh@" not in page.content()
    expect(page.get_by_label("Arguments").get_by_text("hidden (email)").first).to_be_visible()
    refused = page.goto(f"{reverse('runs:state', args=[refunded.pk])}?reveal=1")
    assert refused is not None
    assert refused.status == 403
