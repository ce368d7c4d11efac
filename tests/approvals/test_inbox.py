"""The inbox, as a browser without scripts sends and gets it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from accounts import clock
from approvals import queries
from approvals.inbox import lines
from approvals.models import Request
from runs.models import Run
from tests.approvals.at_the_page import page_of, refund
from tests.approvals.conftest import approve, due_in, reject
from tests.support.people import person
from tests.support.web import html_of, link, text_of

OLDEST = "2020-01-01T00:00:00%2B00:00~00000000-0000-0000-0000-000000000000"


def test_the_inbox_shows_what_needs_me_the_nearest_deadline_first(as_ben, asked):
    later, sooner = asked(refund("Later")), asked(refund("Sooner"))
    due_in(sooner, timedelta(minutes=3))
    text = text_of(as_ben.get("/approvals/"))
    assert text.index("Sooner") < text.index("Later")
    assert "Waiting for Finance" in text
    assert later.status == "pending"


def test_a_row_says_once_who_is_asked(as_ben, asked, rule):
    person("Eve", "finance", "approver")
    asked(refund())
    assert "<small>not who started the run</small>" in html_of(as_ben.get("/approvals/"))
    rule(quorum=2)
    assert "<small>2 people, not who started the run</small>" in html_of(as_ben.get("/approvals/"))


def test_a_near_deadline_is_marked_and_a_far_one_is_not(as_ben, asked):
    due_in(asked(refund("Near")), timedelta(minutes=3))
    Request.objects.update(created_at=clock.now() - timedelta(hours=1))
    asked(refund("Far"))
    html = html_of(as_ben.get("/approvals/"))
    rows = dict(zip(("near", "far"), html.split("<tr id=")[1:], strict=True))
    assert "tone-warn" in rows["near"]
    assert "tone-warn" not in rows["far"]


def test_what_somebody_else_must_decide_is_good_news(client, ada, asked):
    client.force_login(ada)  # who started the run
    asked(refund())
    text = text_of(client.get("/approvals/"))
    assert "Nothing needs you" in text
    assert "1 request waits for somebody else" in text
    assert "Refund EUR 600.00" in text_of(client.get("/approvals/?view=pending"))


def test_a_request_that_nobody_could_approve_is_shown_as_such(client, ada, asked):
    client.force_login(ada)
    request = asked(refund())  # of finance there is only Ada, who started the run
    assert "Nobody can approve" in text_of(client.get("/approvals/?view=pending"))
    assert "Nobody can approve this." in text_of(client.get(page_of(request)))
    person("Ben", "finance")
    assert "Nobody can approve" not in text_of(client.get("/approvals/?view=pending"))


def test_a_quorum_larger_than_the_group_is_shown_as_such(as_ben, asked, rule):
    rule(quorum=2)
    asked(refund())
    assert "Nobody can approve" in text_of(as_ben.get("/approvals/"))


def test_rows_stay_while_the_list_refreshes_and_newer_ones_are_counted(as_ben, asked, eve):
    first = asked(refund("First"))
    live = link(as_ben.get("/approvals/"), r'hx-get="([^"]+as_of[^"]+)"')
    reject(first, eve)
    asked(refund("Second"))
    fragment = as_ben.get(live, headers={"HX-Request": "true"})
    html = html_of(fragment)
    assert "<html" not in html
    assert "First" in html
    assert "Rejected" in html
    assert "Second" not in html
    assert "1 new: show" in html
    assert "HX-Request" in fragment["Vary"]


def test_decided_requests_tell_who_when_why_and_whether_it_arrived(as_ben, asked, eve):
    reject(asked(refund()), eve, comment="Out of the window.")
    text = text_of(as_ben.get("/approvals/?view=decided"))
    assert "Rejected by Eve Out of the window. Recorded" in text


def test_decided_requests_come_in_pages_by_key(as_ben, asked, eve, monkeypatch):
    monkeypatch.setattr("approvals.queries.PAGE", 2)
    for name in ("One", "Two", "Three"):
        reject(asked(refund(name)), eve)
    first = as_ben.get("/approvals/?view=decided")
    assert "Three" in text_of(first)
    assert "One" not in text_of(first)
    older = link(first, r'href="([^"]+)" rel="next"')
    second = text_of(as_ben.get("/approvals/" + older))
    assert "One" in second
    assert "Two" not in second


def test_what_one_decided_oneself_is_found_among_all(as_ben, asked, ben, eve, monkeypatch):
    monkeypatch.setattr("approvals.queries.PAGE", 1)
    for who, name in ((ben, "One"), (eve, "Two"), (ben, "Three")):
        reject(asked(refund(name)), who)
    first = as_ben.get("/approvals/?view=decided&by=me")
    assert ("Three" in text_of(first), "Two" in text_of(first)) == (True, False)
    second = text_of(as_ben.get("/approvals/" + link(first, r'href="([^"]+)" rel="next"')))
    assert ("One" in second, "Two" in second) == (True, False)


def test_a_half_of_a_quorum_counts_as_ones_own_word(as_ben, asked, ben, eve, rule):
    rule(quorum=2)
    request = asked(refund("One"))
    approve(request, ben)
    reject(request, eve)
    assert "One" in text_of(as_ben.get("/approvals/?view=decided&by=me"))


def test_the_inbox_asks_the_database_as_often_for_many_as_for_one(
    as_ben, asked, eve, django_assert_max_num_queries
):
    asked(refund())
    with django_assert_max_num_queries(60) as one:
        as_ben.get("/approvals/?view=pending")
    for _ in range(8):
        asked(refund())
    with django_assert_max_num_queries(len(one)):
        as_ben.get("/approvals/?view=pending")


@pytest.mark.parametrize("address", ["/approvals/", "/approvals/policies/"])
def test_who_may_see_nothing_is_told_which_permission_is_missing(client, db, address):
    client.force_login(person("Dee"))
    response = client.get(address)
    assert response.status_code == 403
    assert "approvals.view_request" in text_of(response)


def test_requests_of_other_groups_do_not_exist_for_an_approver(client, asked):
    request = asked(refund())
    client.force_login(person("Ben"))  # an approver who is not of finance
    assert client.get(page_of(request)).status_code == 404
    assert "Refund" not in text_of(client.get("/approvals/?view=pending"))


def test_a_long_inbox_is_shown_in_parts_and_keeps_its_length(as_ben, asked, monkeypatch):
    monkeypatch.setattr(lines, "SIZE", 2)
    for number in range(4):
        asked(refund(f"Refund {number}"))
    page = as_ben.get("/approvals/?view=mine")
    assert "Show more: 2 are left" in text_of(page)
    assert "Refund 3" not in text_of(page)
    further = link(page, r'href="(\?view=mine&amp;most=[^"]+)"').replace("&amp;", "&")
    whole = as_ben.get(f"/approvals/{further}")
    assert "Refund 3" in text_of(whole)
    assert "most=" in link(whole, r'hx-get="([^"]+as_of[^"]+)"')


def test_more_than_ninety_nine_are_not_counted(ben, asked, monkeypatch):
    monkeypatch.setattr(queries, "MOST_TOLD", 2)
    for _ in range(2):
        asked()
    assert queries.waiting_for(ben) == 2
    for _ in range(3):
        asked()
    assert queries.waiting_for(ben) == 3


def test_decided_requests_are_found_by_words_and_by_when(as_ben, asked, eve):
    for title, days in (("Refund order 7", 1), ("Refund order 8", 40), ("Close tickets", 1)):
        request = asked()
        reject(request, eve)
        closed = Request.objects.filter(pk=request.pk)
        closed.update(title=title, closed_at=clock.now() - timedelta(days=days))
    Run.objects.update(title="A run")

    def found(**query: str) -> list[str]:
        response = as_ben.get("/approvals/", {"view": "decided"} | query)
        return [line.row.request.title for line in response.context["lines"]]

    assert found(q="order refund") == ["Refund order 7", "Refund order 8"]
    month_ago = f"{clock.now() - timedelta(days=30):%Y-%m-%dT%H:%M}"
    assert found(q="refund", start=month_ago) == ["Refund order 7"]
    assert found(end=month_ago) == ["Refund order 8"]
    assert found(q="refund", by="me") == found(q="nothing like it") == []
    assert found(start="yesterday") == []
    page = text_of(as_ben.get("/approvals/?view=decided&q=zebra"))
    assert "No decision for these filters" in page
    page = text_of(as_ben.get("/approvals/?view=decided&start=yesterday"))
    assert "These filters cannot be used From: Write a day" in page
    page = text_of(as_ben.get(f"/approvals/?view=decided&after={OLDEST}"))
    assert "The list ends before this place" in page


def test_pages_of_what_was_decided_keep_the_filters(as_ben, asked, eve, monkeypatch):
    monkeypatch.setattr(queries, "PAGE", 1)
    for _ in range(2):
        reject(asked(), eve)
    title = Request.objects.values_list("title", flat=True)[0]
    first = as_ben.get("/approvals/", {"view": "decided", "q": title})
    assert "q=" in first.context["older"]
    second = as_ben.get(f"/approvals/{first.context['older']}")
    assert len(second.context["lines"]) == 1
    assert second.context["older"] == ""
