"""What a text typed into the palette means, for one reader."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from signalbox.palette import destinations, finding
from tests.support import standing as make
from tests.support.people import person

pytestmark = pytest.mark.django_db


def labels(user, text: str) -> list[str]:
    return [str(answer.label) for answer in finding.find(user, text).answers]


def test_a_page_is_found_by_the_beginnings_of_its_words() -> None:
    ada = person("Ada")
    assert labels(ada, "led") == ["Ledger"]
    assert labels(ada, "OPER run") == ["Runs that need an operator"]
    assert labels(ada, "edger") == []


@pytest.mark.parametrize("word", ["theme", "language", "time zone", "passkey", "password", "sess"])
def test_settings_are_found_by_what_is_set_there(word) -> None:
    assert len(labels(person("Dee"), word)) == 1


def test_nobody_is_offered_what_they_may_not_open() -> None:
    ben, dee = person("Ben"), person("Dee")
    assert "Start a run" in labels(person("Ada"), "start")
    assert labels(ben, "start a") == []
    assert not {"Runs", "Approvals", "Ledger", "Audit"} & set(labels(dee, ""))
    assert "Sign out" in labels(dee, "sign out")


def test_every_destination_answers_whom_it_is_offered(client) -> None:
    for name in ("Ada", "Ben", "Cy", "Rut", "Dee"):
        user = person(name)
        client.force_login(user)
        for one in destinations.open_to(user):
            response = client.get(one.url.partition("#")[0])
            assert response.status_code == 200, (name, one.url)


def test_a_run_is_found_by_title_by_id_and_by_the_end_of_its_id() -> None:
    ada = person("Ada")
    run, other = make.run("Refund order 10382"), make.run("Collect order 7")
    for text in ("order 10382", str(run.pk), str(run.pk)[-8:]):
        assert [answer.label for answer in finding.find(ada, text).answers] == [run.title], text
    assert finding.find(ada, f" {str(other.pk).upper()} ").exactly.endswith(f"/runs/{other.pk}/")
    assert finding.find(ada, "order 10382").exactly == ""


def test_a_run_that_somebody_may_not_see_is_not_found_by_its_id() -> None:
    run = make.run("Refund order 10382")
    for text in ("order 10382", str(run.pk), str(run.pk)[-8:]):
        assert finding.find(person(f"Ben{text[:2]}", "approver"), text).answers == ()


def test_answers_and_queries_are_bounded(django_assert_max_num_queries) -> None:
    ada = person("Ada")
    for number in range(finding.MOST_RUNS + 3):
        make.run(f"Start number {number}")
    ada.has_perm("runs.view_run")  # permissions are read once for each request
    for text in ("", "st", "start", "x" * 5000, str(make.run().pk), "%_\\'"):
        with django_assert_max_num_queries(6):  # two, and those around them that bound their time
            found = finding.find(ada, text)
        assert len(found.answers) <= finding.MOST
        assert len(found.text) <= finding.LONGEST
    assert len(labels(ada, "start number")) == finding.MOST_RUNS


def test_the_page_leads_to_a_run_at_once_and_the_dialog_does_not(client) -> None:
    client.force_login(person("Ada"))
    run = make.run("Refund order 10382")
    there = reverse("runs:run", args=(run.pk,))
    assert client.get("/go/", {"q": str(run.pk)}).url == there
    answers = client.get(
        "/go/", {"q": str(run.pk)}, headers={"HX-Request": "true", "HX-Target": "go-answers"}
    )
    assert f'href="{there}"' in answers.text
    assert "<html" not in answers.text


def test_hostile_titles_stay_text(client) -> None:
    client.force_login(person("Ada"))
    make.run("<img src=x onerror=alert(1)> \u202eno")
    page = client.get("/go/", {"q": "<img"}).text
    assert "<img" not in page
    assert "202E" in page


def test_nobody_asks_without_signing_in(client) -> None:
    assert client.get("/go/", {"q": "runs"}).status_code == 302
    assert not AnonymousUser().is_authenticated
