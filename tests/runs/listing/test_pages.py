"""The list of runs as a page: what it answers, to whom, and that it holds still."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext

from accounts.models import SavedView
from runs import queries
from runs.listing import counts, finding, forms
from runs.models import Run
from runs.status import Park, Status
from tests.support import standing as make
from tests.support.people import person
from tests.support.web import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(client):
    user = person("Ada", last_name="Marsh")
    client.force_login(user)
    return user


def fragment(client, url: str):
    return client.get(url, headers={"HX-Request": "true"})


def titles(response: Any) -> list[str]:
    """As they stand on the page, or in a fragment, whose context is not kept."""
    return re.findall(r'<a class="open"[^>]*>([^<]*)</a>', response.content.decode())


def unfit(response: Any) -> list[str]:
    """The titles of those that do not fit any more."""
    rows = re.findall(r'<a class="open"[^>]*>([^<]*)</a>(.*?)</td>', response.content.decode())
    return [title for title, rest in rows if "does not fit the filters any more" in rest]


def fresh(response: Any) -> tuple[int, str]:
    """How many are new, and where they are shown."""
    found = re.search(
        r'href="([^"]*)" data-key="[.]">.*?(\d+) new: show', response.content.decode()
    )
    return (int(found[2]), html.unescape(found[1])) if found else (0, "")


def test_every_run_is_listed_with_its_reason(client, ada) -> None:
    make.stuck("Close tickets")
    make.run("Refund", status=Status.FAILED, error_class="Timeout", error="no answer")
    page = text_of(client.get("/runs/"))
    assert "Close tickets" in page
    assert "lease ended" in page
    assert "Timeout: no answer" in page


def test_text_of_strangers_is_escaped(client, ada) -> None:
    make.run("<script>x</script>", starter="<b>api</b>")
    page = client.get("/runs/?col=owner").content
    assert b"<script>x" not in page
    assert b"<b>api" not in page


# --- filters --------------------------------------------------------------------------------------


def test_every_filter_is_in_the_address_and_shown_in_the_form(client, ada) -> None:
    make.run("hers", by=ada)
    make.run("other", agent="triage")
    response = client.get("/runs/?status=queued&agent=refund_desk&q=h&since=24h&owner=me")
    assert titles(response) == ["hers"]
    form = response.context["form"]
    assert {name: form[name].value() for name in ("status", "agent", "q", "since", "owner")} == {
        "status": "queued",
        "agent": "refund_desk",
        "q": "h",
        "since": "24h",
        "owner": "me",
    }


def test_each_filter_that_is_on_can_be_taken_away_by_itself(client, ada) -> None:
    make.run()
    response = client.get("/runs/?status=queued&version=1.0&q=refund")
    on = {each.label: each.without.urlencode() for each in response.context["filters"]}
    assert on == {
        "Search": "status=queued&version=1.0",
        "Status": "version=1.0&q=refund",
        "Version": "status=queued&q=refund",
    }


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("status=asleep", "is not one of the available choices"),
        (
            "q=colour:red",
            "“colour” is neither one of id:, key:, agent:, version:, error: nor a field",
        ),
        ("q=input.colour=red", "nor a field of any run's input"),
        ("q=order_id:", "Write a value behind"),
        ("q=http://example.com", "put it into quotation marks"),
        ("started_from=soon", "Write a day and a time"),
        ("size=7", "is not one of the available choices"),
    ],
)
def test_what_cannot_be_understood_is_said_not_ignored(client, ada, query, said) -> None:
    make.run()
    response = client.get(f"/runs/?{query}")
    assert response.status_code == 200
    assert said in text_of(response)
    assert not response.context["rows"]


def test_a_field_is_known_by_the_schema_and_by_the_runs(client, ada) -> None:
    make.run("odd", input={"colour": "red"})
    assert titles(client.get("/runs/?q=colour:red")) == ["odd"]
    assert "No run for these filters" in text_of(client.get("/runs/?q=order_id:9"))


@pytest.mark.parametrize("typed", ["email:jo@example.com", "order_id:jo@example.com"])
def test_hidden_values_are_not_compared_for_who_may_not_see_them(client, typed) -> None:
    make.run("hers", input={"email": "jo@example.com", "order_id": "jo@example.com"})
    client.force_login(person("Cy"))
    response = client.get(f"/runs/?q={typed}")
    assert "are hidden from you" in text_of(response)
    assert not response.context["rows"]
    client.force_login(person("Ada"))
    assert titles(client.get(f"/runs/?q={typed}")) == ["hers"]


def test_a_search_that_takes_too_long_is_given_up_and_says_so(client, ada, monkeypatch) -> None:
    def slow(*_: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 10; SELECT pg_sleep(5)")

    monkeypatch.setattr(finding, "of", slow)
    assert "This takes too long" in text_of(client.get("/runs/?q=refund"))


def test_another_error_of_the_database_is_not_taken_for_slowness(client, ada, monkeypatch) -> None:
    def broken(*_: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(finding, "of", broken)
    with pytest.raises(OperationalError):
        client.get("/runs/")


def test_somebody_elses_runs_are_found_by_their_owner(client, ada) -> None:
    ben = person("Ben")
    make.run("his", by=ben)
    make.run("hers", by=ada)
    response = client.get(f"/runs/?owner={ben.pk}")
    assert titles(response) == ["his"]
    assert ben.label in text_of(response)


def test_an_agent_that_is_no_longer_declared_can_still_be_filtered(client, ada) -> None:
    make.run("old", agent="retired")
    assert titles(client.get("/runs/?agent=retired")) == ["old"]


def test_filters_are_saved_and_come_back(client, ada) -> None:
    make.run("Refund")
    response = client.get("/runs/?status=queued&size=75")
    saved = {"name": "Mine", "path": "/runs/", "query": response.context["query"]}
    client.post("/me/views/save/", saved)
    assert SavedView.objects.get().url == "/runs/?status=queued&size=75"
    assert "Saved views (1)" in text_of(client.get("/runs/"))


def test_columns_are_shown_where_the_address_asks_for_them(client, ada) -> None:
    make.run(by=ada, agent_version="7.7", status=Status.SUCCEEDED)
    plain, full = (
        client.get("/runs/"),
        client.get("/runs/?col=owner&col=version&col=attempts&col=ended"),
    )
    assert "7.7" not in text_of(plain)
    assert "7.7" in text_of(full)
    table = full.content.decode().partition("<table")[2]
    assert table.count("<th ") == 8
    assert "Ada Marsh" in table


# --- empty ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "No runs yet"),
        ("?q=nothing&status=failed", "Search: nothing · Status: Failed"),
        ("?q=nothing", "Last 7 days"),
        ("?attention=1", "No run needs an operator"),
        ("?attention=1&agent=triage", "No run for these filters"),
        ("?status=nonsense", "These filters cannot be used Status: Select a valid choice."),
        ("?size=7", "The list cannot be shown like this Rows on a page: Select a valid choice."),
        ("?after=2020-01-01T00:00%2B00:00~" + "0" * 32, "The list ends before this place"),
    ],
)
def test_an_empty_list_says_what_that_means(client, ada, query, said) -> None:
    assert said in text_of(client.get(f"/runs/{query}"))


# --- counts ---------------------------------------------------------------------------------------


def chips(response: Any) -> dict[str, Any]:
    return {chip.state.value: chip for chip in response.context["chips"]}


def test_chips_keep_the_capitals_of_other_languages(client, ada) -> None:
    make.run(status=Status.WAITING)
    page = client.get("/runs/", headers={"accept-language": "de"})
    assert "Wartet auf Freigabe" in chips(page)["waiting"].label


def test_chips_count_what_meets_the_other_filters(client, ada) -> None:
    make.stuck("Refund")
    make.run("Refund 2")
    make.run("Digest", agent="triage")
    shown = chips(client.get("/runs/?q=refund"))
    assert shown["attention"].label == "1 needs an operator"
    assert shown["queued"].label == "1 queued"
    assert shown["queued"].url == "?q=refund&status=queued"
    on = chips(client.get("/runs/?status=queued&agent=triage"))
    assert [chip.label for chip in on.values() if chip.on] == ["1 queued"]
    assert on["queued"].url == "?agent=triage"
    assert on["attention"].label == "0 need an operator"
    assert on["attention"].url == "?agent=triage&attention=1"


def test_a_count_goes_no_further_than_it_says(client, ada, monkeypatch) -> None:
    monkeypatch.setattr(counts, "MOST", 2)
    for _ in range(3):
        make.run()
    assert chips(client.get("/runs/"))["queued"].label == "2+ queued"


@pytest.mark.parametrize("few", [False, True], ids=["of many runs", "of few runs"])
def test_values_that_may_be_hidden_are_counted_where_one_page_has_room(
    client, ada, monkeypatch, few
) -> None:
    """Whoever sees everything gets all counts."""
    monkeypatch.setattr(finding, "FEW", 10 if few else 0)
    ben = person("Ben")
    for status in (Status.QUEUED, Status.QUEUED, Status.WAITING):
        make.run(by=ben, status=status, input={"how": "small"})
    make.run(by=ben, input={"how": "large"})
    client.force_login(ben)
    labels = {each: chip.label for each, chip in chips(client.get("/runs/?q=how:small")).items()}
    assert labels["queued"] == "2 queued"
    assert labels["waiting"] == "1 waiting for approval"
    monkeypatch.setattr(queries, "PAGE", 2)
    page = client.get("/runs/?q=how:small")
    assert (len(page.context["rows"]), chips(page)) == (2, {})
    client.force_login(ada)
    assert chips(client.get("/runs/?q=how:small"))["queued"].label == "2 queued"


def test_a_count_of_nothing_wears_no_colour(client, ada) -> None:
    page = client.get("/runs/").content.decode()
    shown = page[page.index('aria-label="Counts"') : page.index("</nav>", page.index("Counts"))]
    assert "tone-neutral" in shown
    assert not re.search("tone-(warn|bad|human|info|ok)", shown)
    make.running()
    assert "tone-info" in client.get("/runs/").content.decode()


# --- pages and polls ------------------------------------------------------------------------------


def test_pages_lead_to_each_other_and_keep_the_filters(client, ada) -> None:
    for number in range(60):
        make.run(f"run {number}", created_at=make.ago(minutes=number))
    first = client.get("/runs/?status=queued")
    assert len(first.context["rows"]) == 50
    older = client.get(f"/runs/{first.context['page'].older}")
    assert len(older.context["rows"]) == 10
    assert "status=queued" in older.context["page"].newer
    back = client.get(f"/runs/{older.context['page'].newer}")
    assert titles(back) == titles(first)


def test_an_unknown_cursor_shows_the_newest(client, ada) -> None:
    make.run("one")
    assert titles(client.get("/runs/?after=nonsense&before=2026-11-29~x")) == ["one"]


def test_a_poll_answers_with_the_list_alone(client, ada) -> None:
    make.run("Refund")
    response = fragment(client, client.get("/runs/").context["live_url"])
    assert b"<html" not in response.content
    assert b"Refund" in response.content
    assert "HX-Request" in response.headers["Vary"]


def test_a_poll_counts_new_runs_and_does_not_move_the_list(client, ada) -> None:
    make.run("first", created_at=make.ago(minutes=2))
    live_url = client.get("/runs/").context["live_url"]
    make.run("second", created_at=make.ago(minutes=1))
    response = fragment(client, live_url)
    assert titles(response) == ["first"]
    new, url = fresh(response)
    assert new == 1
    shown = client.get(f"/runs/{url}")
    assert titles(shown) == ["second", "first"]
    assert fresh(fragment(client, shown.context["live_url"])) == (0, "")


def test_a_poll_of_an_empty_list_counts_what_has_come(client, ada) -> None:
    live_url = client.get("/runs/").context["live_url"]
    make.run()
    assert b"1 new: show" in fragment(client, live_url).content


def test_a_run_that_does_not_fit_any_more_stays_where_it_is_and_says_so(client, ada) -> None:
    runs = [make.run(f"run {number}", created_at=make.ago(minutes=number)) for number in (1, 2, 3)]
    make.parked(Park.DRIFT, "parked", created_at=make.ago(minutes=2, seconds=30))
    live_url = client.get("/runs/?status=queued").context["live_url"]
    done = {"status": Status.SUCCEEDED, "ended_at": make.ago(seconds=1)}
    Run.objects.filter(pk=runs[1].pk).update(**done)
    Run.objects.filter(title="parked").update(status=Status.QUEUED, park_reason="")
    response = fragment(client, live_url)
    assert titles(response) == ["run 1", "run 2", "run 3"]
    assert unfit(response) == ["run 2"]
    assert fresh(response)[0] == 1


def test_a_full_page_does_not_take_older_runs_for_new_ones(client, ada) -> None:
    for number in range(55):
        make.run(created_at=make.ago(minutes=number))
    first = client.get("/runs/")
    assert fresh(fragment(client, first.context["live_url"])) == (0, "")
    second = client.get(f"/runs/{first.context['page'].older}")
    assert fresh(fragment(client, second.context["live_url"])) == (0, "")


def test_a_poll_shows_nobody_what_they_may_not_see(client, ada) -> None:
    make.run("secret")
    live_url = client.get("/runs/").context["live_url"]
    client.force_login(person("Ben"))
    assert titles(fragment(client, live_url)) == []


def test_an_unchanged_poll_is_answered_without_a_body(client, ada) -> None:
    make.run("Refund", status=Status.SUCCEEDED, created_at=make.ago(days=3))
    live_url = client.get("/runs/").context["live_url"]
    first = fragment(client, live_url)
    again = client.get(
        live_url, headers={"HX-Request": "true", "If-None-Match": first.headers["ETag"]}
    )
    assert again.status_code == 304


@pytest.mark.parametrize("shown", ["", "x", "A" * 21, "%ff", "AAAA" * 2000])
def test_a_poll_for_nonsense_shows_nothing(client, ada, shown) -> None:
    assert titles(fragment(client, f"/runs/?shown={shown}")) == []


# --- what it costs --------------------------------------------------------------------------------


def test_the_longest_page_is_light_and_its_poll_has_an_address(client, ada) -> None:
    for number in range(80):
        error = "TimeoutError" if number % 3 else ""
        status = Status.FAILED if error else Status.QUEUED
        make.run(f"Refund order {10_000 + number}", status=status, error_class=error)
    every = "&".join(f"col={name}" for name, _ in forms.COLUMNS)
    response = client.get(f"/runs/?size={forms.SIZES[-1]}&{every}")
    assert len(response.context["rows"]) == forms.SIZES[-1]
    assert len(response.content) < 100_000
    poll = {"HX-Request": "true"}
    first = client.get(response.context["live_url"], headers=poll)
    again = client.get(
        response.context["live_url"], headers={**poll, "If-None-Match": first.headers["ETag"]}
    )
    assert again.status_code == 304
    assert len(response.context["live_url"]) < 2_000


def test_the_number_of_queries_does_not_depend_on_the_number_of_runs(client, ada) -> None:
    def fill(count: int) -> None:
        for _ in range(count):
            make.running()
            make.stuck()
            make.run(due_at=make.soon(minutes=1))

    def cost(url: str) -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(url)
        return len(captured)

    def costs() -> list[int]:
        live_url = client.get("/runs/").context["live_url"]
        return [cost("/runs/"), cost("/runs/?q=stuck order_id:1"), cost(live_url)]

    fill(1)
    costs()
    few = costs()
    fill(9)
    assert costs() == few


def test_every_count_and_page_is_asked_of_an_index(client, ada) -> None:
    make.run()
    with CaptureQueriesContext(connection) as captured:
        client.get("/runs/?status=failed&error=E")
    asked = [
        each["sql"] for each in captured if "runs_run" in each["sql"] and "LIMIT" in each["sql"]
    ]
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
        for sql in asked:
            cursor.execute(f"EXPLAIN {sql}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
            assert "Seq Scan on runs_run" not in plan, plan


def test_since_when_a_list_goes_is_counted_by_the_database(client, ada) -> None:
    make.run("old", created_at=make.ago(hours=2))
    make.run("new", created_at=make.ago(minutes=30))
    assert titles(client.get("/runs/?since=1h")) == ["new"]


@pytest.mark.parametrize(
    ("who", "query", "limited"),
    [("Ada", "", False), ("Ada", "?q=refund", True), ("Ben", "", True)],
    ids=["all of them", "a search", "some of them"],
)
def test_what_may_have_to_be_looked_for_is_given_up_if_that_takes_long(
    client, who, query, limited
) -> None:
    """The newest of all runs are where their index begins."""
    client.force_login(person(who))
    with CaptureQueriesContext(connection) as seen:
        assert client.get(f"/runs/{query}").status_code == 200
    assert any("statement_timeout" in each["sql"] for each in seen.captured_queries) is limited
