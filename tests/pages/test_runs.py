"""The operators' pages in a real browser: their main tasks, by mouse and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from approvals.models import Request
from approvals.policy import Policy
from ledger.models import Effect, EffectAttempt
from runs import checkpoints, dispatch, registry
from runs.models import Intervention, Pulse, Run, Worker
from runs.status import Outcome, Park, Status
from tests.pages.conftest import WIDTHS
from tests.pages.screens import NARROWEST, resize
from tests.support import scenes
from tests.support import standing as make
from tests.support.fleet import well
from tests.support.people import PASSWORD, person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]
STEPS = ("load_order", "assess", "lookup_policy", "draft_refund", "approval_gate")
AGENT = {
    "name": "refund_desk",
    "label": "Refund desk",
    "graph": "x.y",
    "version": "1.0",
    "title": "Refund order {order_id}",
    "input_schema": {
        "type": "object",
        "required": ["order_id"],
        "properties": {"order_id": {"type": "string", "examples": ["10382"]}},
    },
}


@pytest.fixture(autouse=True)
def agents(settings, monkeypatch) -> None:
    settings.RUNS_AGENTS = [AGENT, {**AGENT, "name": "triage", "label": "Triage"}]
    registry.declarations.cache_clear()
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, **_: True)


@pytest.fixture(scope="session", autouse=True)
def pools_end(django_db_setup: None) -> Iterator[None]:
    """Let go of the connections with which checkpoints were read, or the database stays in use."""
    yield
    checkpoints.close()


@pytest.fixture
def ada(page, signed_in):
    user = person("Ada", last_name="Marsh")
    signed_in(page, user)
    return user


def waiting(title: str = "Refund order 10382", *, by=None) -> Run:
    """A run that has worked through its steps, lost a worker on the way, and asked finance."""
    run = make.run(
        title,
        by=by,
        status=Status.WAITING,
        created_at=make.ago(hours=3),
        first_started_at=make.ago(hours=3),
        input={"order_id": "10382", "email": "jo@example.com"},
    )
    for number, step in enumerate(STEPS):
        make.checkpoint(
            run,
            number,
            at=make.ago(hours=2, minutes=59 - number),
            updated=[f"branch:to:{step}"],
            values={"step": step, "email": f"{step}@example.com"},
            fence=1 + (number > 1),
        )
    lost = {"started_at": make.ago(hours=3), "ended_at": make.ago(hours=2, minutes=57)}
    make.attempt(run, 1, outcome=Outcome.LOST, **lost)
    asked = {"started_at": make.ago(hours=2, minutes=57), "ended_at": make.ago(hours=2)}
    make.attempt(run, 2, outcome=Outcome.WAITED, **asked)
    make.lease(run, fence=2)
    policy = Policy(name="refunds", group="finance").stored()
    Request.objects.create(
        run=run,
        title="Send refund of €120.00 to Jo Finch",
        interrupt_id=uuid4().hex,
        checkpoint_id="c1",
        askers=[],
        shape="ours",
        payload=scenes.ASKED | {"question": "Send refund of €120.00 to Jo Finch"},
        digest="0" * 64,
        policy=policy,
        group="finance",
        groups=["finance"],
        deadline=make.soon(hours=1),
        fence=2,
    )
    effect(run, "confirmed")
    return run


def effect(run: Run, status: str) -> None:
    key = uuid4().hex
    made = Effect.objects.create(
        run=run,
        tool="payments.refund",
        idempotency="provider",
        args={},
        status=status,
        fence=1,
        provider_ref="re_1",
        **dict.fromkeys(("idempotency_key", "provider_key", "args_hash", "step"), key),
    )
    EffectAttempt.objects.create(
        effect=made,
        number=1,
        provider_key=key,
        fence=1,
        holder=make.HOLDER,
        started_at=make.ago(hours=2, minutes=30),
        ended_at=make.ago(hours=2, minutes=29),
        timeout_at=make.ago(hours=2),
        outcome="succeeded" if status == "confirmed" else "unknown",
    )


# --- every page, every width, both themes ---------------------------------------------------------


def everything() -> dict[str, str]:
    """Something of every kind, and the address of every page that shows it."""
    main, stuck = waiting(), make.stuck("Close stale tickets")
    make.stalled("Reconcile invoices " + "and so on " * 12)
    doubtful = make.parked(Park.EFFECT_IN_DOUBT, "Refund order 10371")
    effect(doubtful, "in_doubt")
    bad = make.parked(Park.BAD_ANSWER, "Refund order 10340", park_detail="ValueError: " + "x" * 90)
    make.run("Queued")
    make.run("Retry", due_at=make.soon(minutes=1))
    failed = make.run("Failed", status=Status.FAILED, error_class="Timeout", error="no answer")
    make.running("Cancelling", cancel_asked_at=make.ago(seconds=1), read_only=True)
    Worker.objects.create(name="worker@alpha", hostname="alpha", pid=1, agents={"triage": "1"})
    Worker.objects.create(
        name="worker@beta", hostname="beta", pid=1, agents={}, seen_at=make.ago(hours=1)
    )
    Pulse.objects.create(name="sweeper", note={"rang": 1, "failed": []})
    run = f"/runs/{main.pk}/"
    return {
        "overview": "/",
        "list": "/runs/",
        "filtered": "/runs/?q=nothing",
        "attention": "/runs/?attention=1",
        "start": "/runs/new/",
        "timeline": run,
        "stuck": f"/runs/{stuck.pk}/",
        "doubtful": f"/runs/{doubtful.pk}/",
        "failed": f"/runs/{failed.pk}/",
        "effects": f"{run}effects/",
        "approvals": f"{run}approvals/",
        "state": f"{run}state/",
        "audit": f"{run}audit/",
        "checkpoint": f"{run}checkpoints/1f000002-0000-6000-8000-000000000000/",
        "cancel": f"{run}cancel/",
        "retry": f"/runs/{bad.pk}/retry/",
        "ask again": f"/runs/{bad.pk}/ask-again/",
        "resume": f"/runs/{stuck.pk}/resume/",
        "workers": "/workers/",
    }


def test_every_page_can_be_read_and_used_without_a_script(open_page, signed_in) -> None:
    page = open_page(java_script_enabled=False)
    signed_in(page, person("Ada"))
    run = make.running("Digest")
    page.goto("/runs/")
    page.get_by_label("Search").fill("Dig")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("link", name="Digest").click()
    page.get_by_role("link", name="Cancel…").click()
    page.get_by_label("Reason").fill("Not needed.")
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.get_by_text("Asked to cancel.")).to_be_visible()
    assert Run.objects.get(pk=run.pk).cancel_reason == "Not needed."


# --- finding --------------------------------------------------------------------------------------


def test_an_operator_finds_what_is_stuck_from_the_first_page(page, ada) -> None:
    make.stuck("Close stale tickets")
    make.running("Fine")
    page.goto("/")
    page.get_by_role("link", name="1 Needs an operator").click()
    expect(page.get_by_role("link", name="Close stale tickets")).to_be_visible()
    expect(page.get_by_text("Fine")).to_have_count(0)
    page.get_by_role("link", name="Close stale tickets").click()
    expect(page.get_by_role("heading", name="Close stale tickets")).to_be_visible()
    expect(page.get_by_text("its lease has expired")).to_be_visible()


def test_chips_filter_and_the_address_says_so(page, ada) -> None:
    make.stuck("Close stale tickets")
    make.run("Queued")
    page.goto("/runs/")
    page.get_by_role("link", name="1 needs an operator").click()
    expect(page).to_have_url(re.compile(r"attention=1"))
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("link", name="Clear filters").click()
    expect(page.get_by_role("row")).to_have_count(3)


def test_the_list_is_used_with_the_keyboard_alone(page, ada) -> None:
    make.run("Refund order 7")
    make.run("Refund order 8")
    page.goto("/runs/")
    page.get_by_label("Search").focus()
    page.keyboard.type("order 7")
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="Refund order 7")
    expect(page.get_by_text("Refund order 8")).to_have_count(0)
    link.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Refund order 7")).to_be_visible()


def test_new_runs_wait_behind_a_link_and_the_list_stays(page, ada) -> None:
    make.run("First", created_at=make.ago(minutes=5))
    page.goto("/runs/")
    make.run("Second")
    page.evaluate("htmx.trigger(document.getElementById('runs'), 'live')")
    link = page.get_by_role("link", name="1 new: show")
    expect(link).to_be_visible()
    expect(page.get_by_role("link", name="Second")).to_have_count(0)
    link.click()
    expect(page.get_by_role("link", name="Second")).to_be_visible()


def test_a_run_page_shows_what_happens_while_it_is_open(page, ada) -> None:
    run = make.running("Digest")
    page.goto(f"/runs/{run.pk}/")
    expect(page.get_by_text("Running", exact=True)).to_be_visible()
    Run.objects.filter(pk=run.pk).update(status=Status.SUCCEEDED, ended_at=make.ago(seconds=1))
    page.evaluate("htmx.trigger(document.getElementById('run'), 'live')")
    expect(page.get_by_text("Succeeded", exact=True)).to_be_visible()
    expect(page).to_have_title("Digest · Succeeded · Signalbox")


@pytest.mark.parametrize("width", [WIDTHS["phone"], NARROWEST])
def test_on_a_phone_the_menu_and_the_tabs_are_whole(page, signed_in, width) -> None:
    signed_in(page, person("Rut"))
    run = make.running()
    resize(page, width)
    page.goto(f"/runs/{run.pk}/")
    expect(page.get_by_role("link", name="Overview")).to_be_visible()
    for cut in (".top nav", ".tabs"):
        over = page.locator(cut).evaluate("element => element.scrollWidth - element.clientWidth")
        assert over <= 0, cut


# --- starting -------------------------------------------------------------------------------------


def test_an_operator_starts_a_run_after_correcting_the_input(page, ada) -> None:
    page.goto("/runs/")
    page.get_by_role("link", name="Start a run").first.click()
    given = page.get_by_label("Input")
    expect(given).to_have_value(re.compile("10382"))
    given.fill('{"order_id": 7}')
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_text("order_id must be text")).to_be_visible()
    expect(given).to_have_value('{"order_id": 7}')
    given.fill('{"order_id": "7"}')
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_role("heading", name="Refund order 7")).to_be_visible()
    assert Run.objects.get().started_by == ada


# --- looking --------------------------------------------------------------------------------------


def test_the_timeline_leads_to_the_event_and_to_the_checkpoint(page, ada) -> None:
    run = waiting()
    page.goto(f"/runs/{run.pk}/")
    page.get_by_role("link", name="assess", exact=True).click()
    expect(page).to_have_url(re.compile(r"#at-1f0"))
    page.get_by_role("link", name="assess finished").click()
    expect(page.get_by_role("heading", name="Checkpoint 1")).to_be_visible()
    expect(page.get_by_role("heading", name="Changed since checkpoint 0")).to_be_visible()
    page.get_by_role("link", name="After").click()
    expect(page.get_by_role("heading", name="Checkpoint 2")).to_be_visible()


def test_tabs_show_what_was_done_and_asked(page, ada) -> None:
    run = waiting()
    page.goto(f"/runs/{run.pk}/")
    tabs = page.get_by_role("navigation", name="Run")
    tabs.get_by_role("link", name="Effects 1").click()
    expect(page.get_by_role("link", name="payments.refund")).to_be_visible()
    tabs.get_by_role("link", name="Approvals 1").click()
    expect(page.get_by_role("table").get_by_text("Send refund of €120.00")).to_be_visible()
    expect(tabs.get_by_role("link", name="Approvals 1")).to_have_attribute("aria-current", "page")


def test_hidden_values_are_shown_when_asked_for(page, ada) -> None:
    run = waiting()
    page.goto(f"/runs/{run.pk}/state/")
    expect(page.get_by_text("jo@example.com")).to_have_count(0)
    page.get_by_role("link", name="Show hidden values").click()
    expect(page.get_by_text("jo@example.com")).to_be_visible()
    page.get_by_role("link", name="Hide them").click()
    expect(page.get_by_text("jo@example.com")).to_have_count(0)


def test_an_auditor_reads_and_is_offered_nothing(page, signed_in) -> None:
    signed_in(page, person("Cy"))
    run = make.stuck("Close stale tickets")
    page.goto(f"/runs/{run.pk}/")
    expect(page.get_by_role("heading", name="Close stale tickets")).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("…$"))).to_have_count(0)


# --- acting ---------------------------------------------------------------------------------------


def test_a_stuck_run_is_resumed_after_proof_with_the_reason_kept(page, ada) -> None:
    well()
    run = make.stuck("Close stale tickets")
    page.goto("/workers/")
    page.get_by_role("link", name="Force resume… Close stale tickets").click()
    expect(page.get_by_text("may still be alive")).to_be_visible()
    page.get_by_label("Reason").fill("The machine is gone.")
    page.get_by_label(re.compile("^Type")).fill(str(run.pk)[-4:])
    page.get_by_role("button", name="Force resume").click()

    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Confirm").click()

    expect(page.get_by_label("Reason")).to_have_value("The machine is gone.")
    assert not Intervention.objects.exists()
    page.get_by_label(re.compile("^Type")).fill(str(run.pk)[-4:])
    page.get_by_role("button", name="Force resume").click()
    expect(page.get_by_text("Resumed by hand.")).to_be_visible()
    assert Intervention.objects.get().reason == "The machine is gone."


def test_a_wrong_suffix_stops_the_hand(page, ada) -> None:
    run = make.stuck()
    page.goto(f"/runs/{run.pk}/resume/")
    page.get_by_label("Reason").fill("The machine is gone.")
    page.get_by_label(re.compile("^Type")).fill("nope")
    page.get_by_role("button", name="Force resume").click()
    expect(page.get_by_text("Is it the right run?")).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value("The machine is gone.")


def test_a_run_is_cancelled_with_the_keyboard_alone(page, ada) -> None:
    run = make.running("Digest")
    page.goto(f"/runs/{run.pk}/")
    page.get_by_role("link", name="Cancel…").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Reason").focus()
    page.keyboard.type("Not needed.")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Cancel the run")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Ada Marsh asked to cancel")).to_be_visible()


def test_the_safe_way_out_changes_nothing(page, ada) -> None:
    run = make.parked(Park.BAD_ANSWER, "Refund order 10340")
    page.goto(f"/runs/{run.pk}/")
    page.get_by_role("link", name="Ask again…").first.click()
    page.get_by_role("link", name="Leave it as it is").click()
    expect(page.get_by_role("heading", name="Refund order 10340")).to_be_visible()
    assert not Intervention.objects.exists()


def test_keyboard_focus_survives_an_update(page, ada) -> None:
    make.run("Refund order 7")
    page.goto("/runs/")
    link = page.get_by_role("link", name="Refund order 7")
    link.focus()
    with page.expect_response(re.compile(r"/runs/\?.*shown=")):
        page.evaluate("htmx.trigger(document.getElementById('runs'), 'live')")
    expect(link).to_be_focused()
