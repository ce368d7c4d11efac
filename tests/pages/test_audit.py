"""The audit log in a real browser."""

from __future__ import annotations

import uuid

import pytest
from playwright.sync_api import expect

from accounts.actors import Actor
from accounts.models import User
from audit import seal, signing, trail
from audit.exports import verify_export
from audit.verbs import VERBS
from tests.support.people import person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
HOSTILE = '<img src=x onerror="alert(1)"><b hx-get="/x" hx-trigger="load">\u202e' + "y" * 200


@pytest.fixture
def cy(db: None) -> User:
    return person("Cy")


@pytest.fixture
def log(cy: User) -> None:
    """One entry of every kind, and one from a stranger."""
    actor = Actor.person(cy, entry="page")
    for verb in VERBS:
        kind = verb.partition(".")[0]
        trail.record(verb, actor=actor, target=(kind, str(uuid.uuid4())), run_id=uuid.uuid4())
    seal.seal()
    trail.record(
        "decision.refused",
        actor=actor,
        target=("thing", HOSTILE),
        allowed=False,
        reason=HOSTILE,
        data={HOSTILE: {"a": {"b": {"c": HOSTILE}}}},
    )


def test_the_log_is_filtered_and_its_details_are_opened(open_page, signed_in, cy, log):
    page = signed_in(open_page(), cy)
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    page.goto("/audit/")
    page.get_by_label("Result").select_option("refused")
    page.get_by_role("button", name="Show").click()
    row = page.get_by_role("row", name="Decision refused")
    row.get_by_text("Details", exact=True).click()
    expect(row.get_by_text("not sealed yet")).to_be_visible()
    expect(row.get_by_text("<img src=x").first).to_be_visible()
    assert page.locator("main img, main b[hx-get]").count() == 0
    page.get_by_role("link", name="Clear filters").click()
    expect(page.get_by_role("row", name="Policy added")).to_be_visible()


def test_what_the_filters_show_is_downloaded_and_passes_the_check(
    open_page, signed_in, cy, log, tmp_path
):
    page = signed_in(open_page(), cy)
    page.goto("/audit/?result=refused")
    with page.expect_download() as started:
        page.get_by_role("button", name="JSON Lines").click()
    path = tmp_path / started.value.suggested_filename
    started.value.save_as(path)
    manifest = verify_export.check(str(path), [signing.own().text])
    assert manifest["file"]["rows"] == 1
    assert manifest["filters"] == {"allowed": False}
