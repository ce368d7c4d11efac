"""The pages of operations: exactly which runs, one reason, progress, and stopping."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from runs import patience
from runs.errors import SearchTooSlow
from runs.listing import finding
from runs.models import Operation, Run
from runs.operations import work
from runs.status import Park, Status
from tests.runs.operations.hands import asked, order, outcomes
from tests.support import standing as make
from tests.support.people import PASSWORD, person
from tests.support.posting import form_of
from tests.support.web import text_of

pytestmark = pytest.mark.django_db
NEW = "/runs/operations/new/"


@pytest.fixture
def ada(client: Client) -> User:
    """Signed in a moment ago."""
    user = person("Ada")
    client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
    return user


@pytest.fixture
def stale(client: Client) -> User:
    """Signed in long ago."""
    user = person("Ada")
    client.force_login(user)
    return user


def picking(*runs: Run, kind: str = "cancel") -> str:
    return f"{NEW}?{urlencode([('kind', kind), *(('pick', run.pk) for run in runs)])}"


def sent(response: Any, **typed: str) -> dict[str, Any]:
    """The form as the page holds it, filled in."""
    return form_of(response, form="") | {name: [value] for name, value in typed.items()}


# --- choosing -------------------------------------------------------------------------------------


def test_the_page_lists_exactly_those_that_were_chosen_and_changes_nothing(client, ada) -> None:
    chosen, other = make.run("Refund 1"), make.run("Refund 2")
    page = text_of(client.get(picking(chosen)))
    assert "Cancel 1 run?" in page
    assert "Refund 1" in page
    assert other.title not in page
    assert "nothing is undone" in page
    assert not Operation.objects.exists()


def test_what_it_cannot_be_done_to_is_told_and_left_out(client, ada) -> None:
    make.lease(alive := make.stalled("alive"), expires_at=make.soon(minutes=1))
    runs = [
        make.stuck("stuck"),
        alive,
        make.run("queued"),
        make.parked(Park.EMERGENCY_STOP, "stopped"),
        make.run("over", status=Status.SUCCEEDED),
    ]
    response = client.get(picking(*runs, kind="resume"))
    assert [row.run.title for row in response.context["chosen"].rows] == ["stuck"]
    why = {row.run.title: reason for row, reason in response.context["chosen"].others}
    assert why == {
        "alive": f"{make.HOLDER} holds its lease and renews it.",
        "queued": "A worker takes it by itself.",
        "stopped": "An emergency stop is on. When it is lifted, the run goes on by itself.",
        "over": "It has ended.",
    }
    assert all(str(reason) in text_of(response) for reason in why.values())


def test_nothing_to_do_is_said_without_a_form(client, ada) -> None:
    over = make.run(status=Status.SUCCEEDED)
    page = client.get(picking(over)).content.decode()
    assert "It cannot be done to any of these runs" in page
    assert "<textarea" not in page
    assert "No run is chosen" in text_of(client.get(f"{NEW}?kind=cancel"))
    assert "No run is chosen" in text_of(client.get(f"{NEW}?kind=cancel&pick=x&pick={uuid4()}"))
    assert "Nothing will happen" in text_of(client.get(f"{NEW}?kind=cancel"))


def test_that_no_run_meets_the_filters_any_more_is_not_called_a_missing_choice(client, ada) -> None:
    make.run("over", status=Status.SUCCEEDED)
    text = text_of(client.get(f"{NEW}?kind=resume&all=1&attention=1"))
    assert "No run meets the filters any more" in text
    assert "No run is chosen" not in text


@pytest.mark.parametrize("query", ["", "?kind=delete", "?pick=x"])
def test_without_saying_what_is_to_be_done_one_is_back_at_the_list(client, ada, query) -> None:
    response = client.get(f"{NEW}{query}", follow=True)
    assert "Choose some runs first" in text_of(response)


def test_all_that_match_a_filter(client, ada) -> None:
    make.parked(Park.CRASH_LOOP, "parked")
    make.run("over", status=Status.SUCCEEDED)
    make.run("elsewhere", agent="triage")
    response = client.get(f"{NEW}?kind=cancel&all=1&agent=refund_desk&owner=&size=50")
    assert [row.run.title for row in response.context["chosen"].rows] == ["parked"]
    assert "all that meet the filters now" in text_of(response)


def test_filters_that_say_nothing_or_nonsense_are_not_taken_for_all_runs(client, ada) -> None:
    make.run()
    for filters, said in (
        ("", "No filter is on"),
        ("&size=50", "No filter is on"),
        ("&status=asleep", "These filters cannot be used. Status: Select a valid choice."),
        ("&q=colour:red", "These filters cannot be used. Search: “colour” is neither"),
    ):
        response = client.get(f"{NEW}?kind=cancel&all=1{filters}")
        assert said in text_of(response)
        assert not response.context["chosen"].rows


def test_too_many_are_refused_before_anything_is_asked(client, ada, monkeypatch) -> None:
    runs = [make.run() for _ in range(3)]
    monkeypatch.setattr("runs.operations.selection.MOST_CHOSEN", 2)
    assert "one by one at most 2" in text_of(client.get(picking(*runs)))
    monkeypatch.setattr("runs.operations.selection.MOST", 2)
    page = text_of(client.get(f"{NEW}?kind=cancel&all=1&status=queued"))
    assert "More than 2 runs meet these filters" in page


@pytest.mark.parametrize("part", ["page", "runs"])
def test_a_search_that_takes_too_long_is_given_up_in_words(client, ada, monkeypatch, part) -> None:
    """Before anything is asked, and when all that is found would be dealt with."""
    make.run("Refund 1")
    path = f"{NEW}?kind=cancel&all=1&q=refund"
    typed = sent(client.get(path), reason="Done twice.")

    def sleep(*_: object, **__: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(5)")

    monkeypatch.setattr(finding.Scope, part, sleep)
    monkeypatch.setattr(patience, "SECONDS", 0.05)
    response = client.get(path) if part == "page" else client.post(NEW, typed)
    assert response.status_code == SearchTooSlow.http_status
    assert "Name an agent or a time as well" in text_of(response)
    assert not Operation.objects.exists()


@pytest.mark.parametrize("name", ["Ben", "Cy", "Dee"])
def test_who_may_not_gets_nowhere(client, name) -> None:
    client.force_login(person(name))
    run = make.run()
    assert client.get(picking(run)).status_code == 403
    given = {"asked": "kind=cancel", "meant": "x", "reason": "r", "token": "t"}
    assert client.post(NEW, given).status_code == 403
    page = client.get("/runs/")
    assert b"Cancel chosen" not in page.content
    assert b'name="pick"' not in page.content


# --- ordering -------------------------------------------------------------------------------------


def test_an_order_leads_to_its_page(client, ada) -> None:
    runs = [make.run("Refund 1"), make.run("Refund 2")]
    response = client.get(picking(*runs))
    done = client.post(NEW, sent(response, reason="Sent twice."), follow=True)
    made = Operation.objects.get()
    assert done.redirect_chain == [(f"/runs/operations/{made.pk}/", 302)]
    assert "0 of 2 reached" in text_of(done)
    work.work()
    assert all(map(asked, runs))
    page = text_of(client.get(f"/runs/operations/{made.pk}/"))
    assert "2 of 2 reached" in page
    assert "Sent twice." in page


def test_a_reason_is_needed_and_what_was_chosen_stays(client, ada) -> None:
    response = client.get(picking(make.run("Refund 1")))
    refused = client.post(NEW, sent(response, reason=" "))
    assert refused.status_code == 422
    assert "Refund 1" in text_of(refused)
    assert not Operation.objects.exists()
    again = client.post(NEW, sent(refused, reason="Because."))
    assert again.status_code == 302


def test_runs_that_come_to_meet_the_filters_later_are_no_part_of_it(client, ada) -> None:
    shown = make.run("shown")
    response = client.get(f"{NEW}?kind=cancel&all=1&status=queued")
    late = make.run("late")
    client.post(NEW, sent(response, reason="All of them."))
    made = Operation.objects.get()
    assert [item.run_id for item in made.items.all()] == [shown.pk]
    assert (made.query, made.matched) == ("status=queued", 2)
    work.work()
    assert not asked(late)
    page = text_of(client.get(f"/runs/operations/{made.pk}/"))
    assert "Status: Queued" in page
    assert "2 did when it was ordered" in page


def test_nobody_is_called_me_when_others_look(client, ada) -> None:
    make.run(by=ada)
    response = client.get(f"{NEW}?kind=cancel&all=1&owner=me")
    client.post(NEW, sent(response, reason="Mine."))
    assert Operation.objects.get().query == f"owner={ada.pk}"


def test_forcing_needs_the_number_of_runs(client, ada) -> None:
    response = client.get(picking(make.stuck(), make.stuck(), kind="resume"))
    assert "Type 2 to confirm" in text_of(response)
    wrong = client.post(NEW, sent(response, reason="Gone.", typed="3"))
    assert wrong.status_code == 422
    assert "This is not 2" in text_of(wrong)
    assert client.post(NEW, sent(wrong, reason="Gone.", typed=" 2 ")).status_code == 302
    assert Operation.objects.get().kind == "resume"


def test_after_a_while_one_proves_who_one_is_and_nothing_typed_is_lost(client, stale) -> None:
    run = make.stuck("Close tickets")
    response = client.get(picking(run, kind="resume"))
    assert "you will be asked to confirm that it is you" in text_of(response)
    asked_for = client.post(NEW, sent(response, reason="Gone.", typed="1"))
    assert asked_for.status_code == 302
    assert "reauthenticate" in asked_for["Location"]
    assert not Operation.objects.exists()
    client.post(asked_for["Location"], {"password": PASSWORD})
    back = client.get(NEW)
    assert "You have confirmed that it is you" in text_of(back)
    assert "Close tickets" in text_of(back)
    filled = sent(back, typed="1")
    assert filled["reason"] == ["Gone."]
    assert client.post(NEW, filled).status_code == 302


@pytest.mark.parametrize("meant", ["", "x", ".", "AAAA.under way", f"{'A' * 22}.{'x' * 81}"])
def test_a_form_that_was_tampered_with_does_nothing(client, ada, meant) -> None:
    response = client.get(picking(make.run()))
    answer = client.post(NEW, sent(response, reason="Because.", meant=meant))
    assert answer.status_code == 422
    assert not Operation.objects.exists()


# --- progress -------------------------------------------------------------------------------------


def test_the_progress_refreshes_itself_until_it_has_ended(client, ada) -> None:
    made = order(ada, [make.run()])
    url = f"/runs/operations/{made.pk}/"
    page = client.get(url).content.decode()
    assert 'data-live="2"' in page
    assert client.get(url, headers={"HX-Request": "true"}).status_code == 200
    work.work()
    last = client.get(url, headers={"HX-Request": "true"})
    assert last.status_code == 286
    assert "1 of 1 reached" in unescape(last.content.decode())
    assert 'data-live="2"' not in client.get(url).content.decode()


def test_outcomes_filter_the_runs_and_say_why(client, ada) -> None:
    gone, fine = make.run("gone"), make.run("fine")
    made = order(ada, [gone, fine])
    done = {"status": Status.SUCCEEDED, "ended_at": timezone.now()}
    Run.objects.filter(pk=gone.pk).update(**done)
    work.work()
    page = text_of(client.get(f"/runs/operations/{made.pk}/?outcome=skipped"))
    assert "is “Succeeded” now" in page
    assert "fine" not in page
    assert "No run has come to this" in text_of(
        client.get(f"/runs/operations/{made.pk}/?outcome=refused")
    )


def test_many_items_are_paged(client, ada, monkeypatch) -> None:
    monkeypatch.setattr("runs.operations.pages.SIZE", 2)
    made = order(ada, [make.run(f"run {number}") for number in range(3)])
    first = client.get(f"/runs/operations/{made.pk}/")
    assert "run 2" not in text_of(first)
    second = client.get(f"/runs/operations/{made.pk}/{first.context['older']}")
    assert "run 2" in text_of(second)
    assert "run 1" not in text_of(second)
    assert client.get(f"/runs/operations/{made.pk}/?after=zebra").status_code == 200


def test_stopping_from_the_page(client, ada) -> None:
    made = order(ada, [make.run()])
    url = f"/runs/operations/{made.pk}/"
    assert "Stop, and leave the rest alone" in text_of(client.get(url))
    assert client.get(f"{url}stop/").status_code == 405
    assert "left alone" in text_of(client.post(f"{url}stop/", follow=True))
    assert outcomes(made) == ["stopped"]
    page = client.post(f"{url}stop/", follow=True)
    assert "has ended" in text_of(page)
    assert "Stopped by Ada" in text_of(page)
    assert "Angehalten von Ada" in text_of(client.get(url, headers={"Accept-Language": "de"}))


def test_auditors_see_operations_and_stop_none(client) -> None:
    made = order(person("Ada"), [make.run("Refund 1")])
    client.force_login(person("Cy"))
    page = client.get(f"/runs/operations/{made.pk}/")
    assert "Refund 1" in text_of(page)
    assert b"Stop, and leave" not in page.content
    assert client.post(f"/runs/operations/{made.pk}/stop/").status_code == 403
    assert "Cancel 1 run" in text_of(client.get("/runs/operations/"))


def test_approvers_do_not_see_what_was_done_to_many(client) -> None:
    made = order(person("Ada"), [make.run()])
    client.force_login(person("Ben"))
    assert client.get("/runs/operations/").status_code == 403
    assert client.get(f"/runs/operations/{made.pk}/").status_code == 403


def test_the_list_of_operations_says_how_far_each_is(client, ada) -> None:
    assert "Nothing was done to many runs yet" in text_of(client.get("/runs/operations/"))
    order(ada, [make.run(), make.run()])
    order(ada, [make.stuck()], "resume", reason="<b>Gone</b>")
    page = client.get("/runs/operations/")
    assert "Cancel 2 runs" in text_of(page)
    assert "0 of 2 reached" in text_of(page)
    assert b"<b>Gone" not in page.content
    assert client.get(f"/runs/operations/{uuid4()}/").status_code == 404


def test_a_list_offers_what_one_may_do_to_those_that_go_on(client, ada) -> None:
    make.run("on")
    make.run("over", status=Status.SUCCEEDED)
    page = client.get("/runs/?agent=refund_desk").content.decode()
    assert len(re.findall('name="pick"', page)) == 1
    assert "Cancel chosen…" in page
    links = [unescape(each) for each in re.findall(r'href="(/runs/operations/new/[^"]*)"', page)]
    assert f"{NEW}?agent=refund_desk&kind=cancel&all=1" in links
    assert all(client.get(each).status_code == 200 for each in links)
    assert "all that match" not in client.get("/runs/").content.decode()


def test_an_operation_is_not_older_than_its_proof(ada) -> None:
    made = order(ada, [make.stuck()], "resume")
    assert made.authenticated_at is not None
    assert timezone.now() - made.authenticated_at < timedelta(minutes=1)


def test_values_that_filters_compared_are_shown_to_nobody_who_may_not_see_them(client, ada) -> None:
    hers = make.run("hers", input={"email": "jo@example.com"})
    made = order(ada, [hers], query="agent=refund_desk&q=email%3Ajo%40example.com")
    place = f"/runs/operations/{made.pk}/"
    assert "jo%40example.com" in client.get(place).text
    client.force_login(person("Cy"))
    assert "these filters" in text_of(client.get(place))
    for page in (place, "/audit/"):
        assert not re.search("jo(@|%40)example", client.get(page).text)
    assert "q=email:*" in text_of(client.get("/audit/"))


def test_a_nul_in_the_filters_of_a_form_is_refused_in_words(client, ada) -> None:
    response = client.post(NEW, {"asked": "kind=cancel&all=1&agent=%00", "reason": "Twice."})
    assert response.status_code == 422
    assert "These filters cannot be used" in text_of(response)


def test_operations_are_paged_there_and_back(client, ada, monkeypatch) -> None:
    monkeypatch.setattr("runs.operations.pages.LISTED", 2)
    made = [order(ada, [make.run()], reason=f"Reason {number}.") for number in range(5)]
    Operation.objects.filter(pk__in=[each.pk for each in made[1:4]]).update(
        created_at=made[2].created_at
    )
    seen, query = [], ""
    for _ in range(3):
        page = client.get(f"/runs/operations/{query}")
        seen.append([each.operation.reason for each in page.context["operations"]])
        query = page.context["older"]
    assert seen == [["Reason 4.", "Reason 3."], ["Reason 2.", "Reason 1."], ["Reason 0."]]
    assert query == ""
    back = client.get(f"/runs/operations/{page.context['newer']}")
    assert [each.operation.reason for each in back.context["operations"]] == seen[1]
    first = client.get(f"/runs/operations/{back.context['newer']}")
    assert [each.operation.reason for each in first.context["operations"]] == seen[0]
    assert first.context["newer"] == ""
    assert client.get("/runs/operations/?after=zebra").context["newer"] == ""
