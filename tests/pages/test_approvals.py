"""Deciding in a real browser: with and without scripts, twice, too late, by keyboard, by phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from accounts.models import User
from approvals.models import Decision, Request, Vote
from runs import dispatch
from runs.models import Lease, Run
from tests.approvals.conftest import ask, due_in, now, ours, pending, reject
from tests.pages.screens import everywhere
from tests.support.people import PASSWORD, person

pytestmark = [pytest.mark.page, pytest.mark.django_db(transaction=True)]

REFUND = {"order_id": "10382", "amount_cents": 60000, "currency": "EUR"}
HOSTILE = (
    '<img src=x onerror="alert(1)"></script><script>alert(1)</script>'
    '<b hx-get="/approve" hx-trigger="load" data-hx-post="/approve">bold</b>'
    "[x](javascript:alert(1)) \u202eelbisivni\u202c zero\u200bwidth" + " " * 90 + "far away"
)


@pytest.fixture(autouse=True)
def policies(settings, monkeypatch) -> None:
    """Finance decides within an hour; nobody is rung for."""
    settings.APPROVALS_POLICIES = []
    settings.APPROVALS_DEFAULT = {
        "name": "refunds",
        "group": "finance",
        "deadline": timedelta(hours=1),
    }
    monkeypatch.setattr(dispatch, "ring_now", lambda run_id, *, cause, to="": True)


@pytest.fixture
def ada(db: None) -> User:
    return person("Ada")


@pytest.fixture
def ben(db: None) -> User:
    return person("Ben", "finance")


@pytest.fixture
def eve(db: None) -> User:
    return person("Eve", "finance", "approver")


def refund(question: str = "Refund EUR 600.00 to Ada Marsh", **parts: object) -> dict[str, object]:
    return ours(question, **{"args": REFUND, "why": "It arrived damaged (2 photos)."} | parts)


@pytest.fixture
def asked(ada: User) -> Callable[..., Request]:
    """An open request of a run of Ada's."""

    def asked(payload: object = None, *, title: str = "Refund order 10382") -> Request:
        run = Run.objects.create(
            agent="refund_desk",
            agent_version="1",
            title=title,
            input={},
            status="waiting",
            started_by=ada,
            starter=ada.label,
        )
        Lease.objects.create(run=run, fence=1)
        request: Request = ask(run, pending(refund() if payload is None else payload))
        return request

    return asked


@pytest.fixture
def look(open_page, signed_in) -> Callable[..., Page]:
    """The page of a request, as somebody sees it in a browser of their own."""

    def look(user: User, request: Request, **options: object) -> Page:
        page: Page = signed_in(open_page(**options), user)
        page.goto(address(request))
        return page

    return look


def address(request: Request) -> str:
    return reverse("approvals:review", args=[request.pk])


def button(page: Page, name: str):
    return page.get_by_role("button", name=name)


# --- deciding -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scripts", [True, False])
def test_approving_takes_one_click_and_shows_what_became_of_it(look, ben, asked, scripts):
    request, other = asked(), asked(refund("Refund EUR 600.00 to Wen Li"))
    page = look(ben, request, java_script_enabled=scripts)
    button(page, "Approve €600.00").click()
    expect(page.get_by_text("You approved this")).to_be_visible()
    expect(page.get_by_label("What became of the decision")).to_contain_text("Recorded")
    assert page.url.endswith(address(request))
    assert Decision.objects.get().decided_by == ben
    page.get_by_role("link", name="Next for you").click()
    assert page.url.endswith(address(other))


def test_rejecting_asks_for_a_comment_and_keeps_what_was_typed(look, ben, asked):
    request = asked()
    page = look(ben, request, java_script_enabled=False)
    button(page, "Reject…").click()
    expect(page.get_by_text("A rejection needs a comment")).to_be_visible()
    comment = page.get_by_label("Comment")
    expect(comment).to_be_focused()
    expect(comment).to_have_attribute("aria-invalid", "true")
    comment.fill("Out of the window.")
    button(page, "Reject…").click()
    expect(page.get_by_text("You rejected this")).to_be_visible()
    expect(page.get_by_text("Out of the window.")).to_be_visible()
    assert Decision.objects.get().comment == "Out of the window."


@pytest.mark.parametrize("scripts", [True, False])
def test_a_double_click_counts_once(look, ben, asked, scripts):
    page = look(ben, asked(), java_script_enabled=scripts)
    button(page, "Approve €600.00").dblclick()
    expect(page.get_by_text("You approved this")).to_be_visible()
    assert Vote.objects.count() == Decision.objects.count() == 1


def send_twice(page: Page, *verdicts: str) -> list[httpx.Response]:
    """Send the form of this page with each verdict, all at the same moment."""
    cookies = {each["name"]: each["value"] for each in page.context.cookies()}
    hidden = page.locator("form input[type=hidden]").all()
    form = {str(one.get_attribute("name")): one.get_attribute("value") for one in hidden}
    url = page.url

    def post(verdict: str) -> httpx.Response:
        sent = form | {"verdict": verdict, "comment": "At once."}
        return httpx.post(url, data=sent, cookies=cookies, headers={"Referer": url}, timeout=30)

    with ThreadPoolExecutor(len(verdicts)) as pool:
        return list(pool.map(post, verdicts))


def test_the_same_form_sent_twice_in_parallel_counts_once(look, ben, asked):
    request = asked()
    page = look(ben, request, java_script_enabled=False)
    answers = send_twice(page, "approved", "approved")
    assert [answer.status_code for answer in answers] == [302, 302]
    assert Vote.objects.count() == Decision.objects.count() == 1
    assert now(request).status == "approved"


def test_both_buttons_at_once_give_one_verdict(look, ben, asked):
    request = asked()
    page = look(ben, request, java_script_enabled=False)
    answers = send_twice(page, "approved", "rejected")
    assert [answer.status_code for answer in answers] == [302, 302]
    vote = Vote.objects.get()
    assert Decision.objects.get().verdict == vote.verdict == now(request).status


def test_a_second_tab_is_told_what_the_first_one_did(look, ben, asked):
    request = asked()
    first = look(ben, request)
    second = first.context.new_page()
    second.goto(address(request))
    button(first, "Approve €600.00").click()
    expect(first.get_by_text("You approved this")).to_be_visible()
    second.get_by_label("Comment").fill("No, wait.")
    button(second, "Reject…").click()
    expect(second.get_by_role("alert")).to_contain_text("You approved this")
    expect(second.get_by_label("Your comment")).to_have_value("No, wait.")
    assert now(request).status == "approved"


def test_of_two_people_the_second_learns_who_was_first(look, ben, eve, asked):
    request = asked()
    hers, his = look(eve, request), look(ben, request)
    hers.get_by_label("Comment").fill("Not this customer.")
    button(hers, "Reject…").click()
    expect(hers.get_by_text("You rejected this")).to_be_visible()
    his.get_by_label("Comment").fill("Looks fine.")
    button(his, "Approve €600.00").click()
    expect(his.get_by_role("alert")).to_contain_text("Eve rejected this")
    expect(his.get_by_role("alert")).to_contain_text("did not count")
    expect(his.get_by_label("Your comment")).to_have_value("Looks fine.")
    expect(button(his, "Approve €600.00")).to_have_count(0)


def test_a_question_that_changed_meanwhile_is_asked_anew(look, ben, asked):
    old = asked()
    page = look(ben, old)
    page.get_by_label("Comment").fill("Fine for 600.")
    new = ask(old.run, pending(refund(args=REFUND | {"amount_cents": 64900})))
    button(page, "Approve €600.00").click()
    expect(page.get_by_role("alert")).to_contain_text("The question has changed")
    expect(page.get_by_role("heading", name="What changed")).to_be_visible()
    expect(page.get_by_label("Comment")).to_have_value("Fine for 600.")
    assert not Vote.objects.exists()
    button(page, "Approve €649.00").click()
    expect(page.get_by_text("You approved this")).to_be_visible()
    assert page.url.endswith(address(new))
    assert now(new).status == "approved"


def test_a_click_after_the_deadline_is_called_late(look, ben, asked):
    request = asked()
    page = look(ben, request)
    due_in(request, timedelta(seconds=-1))
    button(page, "Approve €600.00").click()
    expect(page.get_by_role("alert")).to_contain_text("Too late")
    expect(page.locator("main .tone-ok")).to_have_count(0)
    assert now(request).status == "expired"


def test_everything_is_done_with_the_keyboard_alone(look, ben, asked):
    request = asked()
    page = look(ben, request)
    reach(page, lambda: focused(page) == "id_comment")
    page.keyboard.type("Checked.")
    reach(page, lambda: "Approve" in page.evaluate("document.activeElement.textContent"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("You approved this")).to_be_visible()
    assert Decision.objects.get().comment == "Checked."


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


def reach(page: Page, there: Callable[[], bool]) -> None:
    for _ in range(40):
        page.keyboard.press("Tab")
        if there():
            return
    raise AssertionError("not reached with the Tab key")


def test_a_policy_may_ask_who_it_is_and_nothing_is_decided_on_the_way(look, ben, asked, settings):
    settings.APPROVALS_DEFAULT = settings.APPROVALS_DEFAULT | {
        "reauthenticate_within": timedelta(minutes=5)
    }
    request = asked()
    page = look(ben, request)
    page.get_by_label("Comment").fill("Checked twice.")
    button(page, "Approve €600.00").click()
    page.get_by_label("Password").fill(PASSWORD)
    button(page, "Confirm").click()
    expect(page.get_by_text("Nothing is decided yet")).to_be_visible()
    expect(page.get_by_label("Comment")).to_have_value("Checked twice.")
    assert now(request).status == "pending"
    button(page, "Approve €600.00").click()
    expect(page.get_by_text("You approved this")).to_be_visible()


# --- what changes by itself -----------------------------------------------------------------------


def refresh(page: Page, region: str) -> None:
    """Let a live region look now instead of in some seconds."""
    with page.expect_response(lambda response: "HX-Request" in response.headers.get("vary", "")):
        page.evaluate(f"htmx.trigger('#{region}', 'live')")


def test_buttons_switch_off_when_somebody_else_has_decided(look, ben, eve, asked):
    request = asked()
    page = look(ben, request)
    page.get_by_label("Comment").fill("I am still typing")
    refresh(page, "progress")
    expect(button(page, "Approve €600.00")).to_be_enabled()
    reject(request, eve)
    refresh(page, "progress")
    expect(button(page, "Reject…")).to_be_disabled()
    expect(button(page, "Approve €600.00")).to_have_count(0)
    expect(page.locator("#announce")).to_contain_text("Rejected by Eve")
    expect(page.locator(".head").get_by_text("Rejected", exact=True)).to_be_visible()
    expect(page).to_have_title(re.compile(" · Rejected · Signalbox$"))
    expect(page.get_by_label("Comment")).to_have_value("I am still typing")
    page.get_by_role("link", name="Show how it stands").click()
    expect(page.get_by_text("Eve rejected this")).to_be_visible()


def test_the_way_of_the_decision_is_followed_and_then_left_alone(look, ben, asked):
    page = look(ben, asked())
    button(page, "Approve €600.00").click()
    way = page.get_by_label("What became of the decision")
    expect(way.locator("[aria-current=step]")).to_have_text("Recorded")
    Decision.objects.update(delivery="delivering")
    expect(way.locator("[aria-current=step]")).to_have_text("Delivering")
    Decision.objects.update(delivery="took_effect")
    expect(way.locator("[aria-current=step]")).to_have_text("Took effect")
    expect(page.locator("#announce")).to_contain_text("Took effect")
    expect(page.locator("#progress")).not_to_have_attribute("data-live", re.compile(".*"))


def test_the_inbox_keeps_its_rows_and_counts_new_ones(open_page, signed_in, ben, eve, asked):
    first = asked(refund("First"))
    page = signed_in(open_page(), ben)
    page.goto("/approvals/")
    reject(first, eve)
    asked(refund("Second"))
    refresh(page, "requests")
    expect(page.get_by_role("link", name="1 new: show")).to_be_visible()
    expect(page.get_by_role("row", name="First")).to_contain_text("Rejected")
    expect(page.get_by_text("Second")).to_have_count(0)
    page.get_by_role("link", name="1 new: show").click()
    expect(page.get_by_role("row", name="Second")).to_be_visible()


# --- strangers' text ------------------------------------------------------------------------------


def test_hostile_text_stays_text_and_asks_for_nothing(open_page, signed_in, ben, asked):
    evil = refund(HOSTILE, why=HOSTILE, facts={HOSTILE: HOSTILE}, args=REFUND | {"memo": HOSTILE})
    request = asked(evil, title=HOSTILE)
    page = signed_in(open_page(), ben)
    requests: list[str] = []
    page.on("request", lambda sent: requests.append(sent.url))
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    for place in (address(request), "/approvals/", "/approvals/?view=pending"):
        page.goto(place)
        page.wait_for_load_state("networkidle")
        expect(page.locator("main")).to_contain_text("<img src=x")
        expect(page.locator("main mark.odd").first).to_be_visible()
        assert (
            page.locator("main img, main script, main b[hx-get], main [data-hx-post]").count() == 0
        )
    assert not [url for url in requests if "/approve" in url.replace("/approvals", "")]
    assert now(request).status == "pending"


LONG = HOSTILE[:90] + "Averylongwordwithoutanyspaceinit" * 6


def test_long_words_of_strangers_stay_inside_a_phone(open_page, signed_in, ben, asked, assert_fits):
    evil = refund(LONG, why=LONG, facts={LONG: LONG}, args=REFUND | {"memo": LONG, LONG: 1})
    request = asked(evil, title=LONG)
    page = signed_in(open_page(viewport={"width": 360, "height": 760}), ben)
    for place in (address(request), "/approvals/"):
        page.goto(place)
        assert_fits(page)
        cut = "main table, main dl, main section"
        for each in page.locator(cut).all():
            assert each.evaluate("element => element.scrollWidth - element.clientWidth") <= 0


def test_a_missing_reason_to_reject_is_told_at_the_list_of_reasons(look, ben, asked, settings):
    settings.APPROVALS_DEFAULT = settings.APPROVALS_DEFAULT | {"reject_reasons": ["Fraud"]}
    page = look(ben, asked())
    page.get_by_label("Comment").fill("No.")
    button(page, "Reject…").click()
    reason = page.get_by_label("Reason")
    expect(reason).to_be_focused()
    expect(reason).to_have_accessible_description(re.compile("Choose the reason"))
    expect(page.get_by_label("Comment")).not_to_have_attribute("aria-invalid", "true")
    reason.select_option("Fraud")
    button(page, "Reject…").click()
    expect(page.get_by_text("You rejected this")).to_be_visible()


def test_a_payload_is_kept_nowhere_in_the_browser(look, ben, asked):
    page = look(ben, asked(refund("A secret refund")))
    page.goto("/approvals/?view=decided")
    page.go_back()
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert "secret" not in kept


# --- how it looks ---------------------------------------------------------------------------------


def test_everybody_is_told_what_a_verdict_lacks(
    open_page, signed_in, ben, asked, assert_accessible, assert_fits
):
    page = signed_in(open_page(), ben)
    page.goto(address(asked("Shall I go on?")))
    button(page, "Reject…").click()
    expect(page.get_by_role("alert")).to_be_visible()
    for _ in everywhere(page):
        assert_accessible(page)
        assert_fits(page)


def test_on_a_phone_both_buttons_are_always_within_reach(look, ben, asked):
    page = look(ben, asked(), viewport={"width": 360, "height": 640}, has_touch=True)
    for name in ("Reject…", "Approve €600.00"):
        box = button(page, name).bounding_box()
        assert box["height"] >= 44
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 640
    comment = page.get_by_label("Comment")
    comment.focus()
    field, bar = comment.bounding_box(), page.locator(".decide").bounding_box()
    assert field["y"] + field["height"] <= bar["y"], "the field is covered while it has the focus"


def test_a_decision_needs_little_to_be_loaded(look, ben, asked):
    page = look(ben, asked(), java_script_enabled=False)
    assert len(page.content().encode()) < 60_000
