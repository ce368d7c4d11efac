"""The menu: what a person may see, where they are, what waits for them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from approvals import queries
from signalbox import context
from tests.support.people import person

pytestmark = pytest.mark.django_db


def labels(user: User, path: str = "/") -> list[str]:
    return [str(link.label) for link in context.menu(user, path)]


def test_people_see_the_places_that_they_may_open() -> None:
    assert labels(person("Dee")) == ["Overview"]
    assert labels(person("Ada")) == ["Overview", "Runs", "Approvals", "Ledger", "Workers"]
    assert labels(person("Cy"))[-1] == "Audit"


def test_one_place_is_current() -> None:
    ada = person("Ada")
    for path, current in (("/", "Overview"), ("/runs/1/", "Runs"), ("/workers/", "Workers")):
        assert [link.label for link in context.menu(ada, path) if link.current] == [current]


def test_what_waits_for_a_person_is_counted_beside_approvals(client, monkeypatch) -> None:
    monkeypatch.setattr(queries, "waiting_for", lambda user: 3)
    client.force_login(person("Ben"))
    assert '<span class="count">3<span class="vh"> waiting for you</span></span>' in (
        client.get("/me/waiting/").text
    )


def test_the_menu_is_worked_out_only_when_it_is_shown(rf, django_assert_num_queries) -> None:
    request = rf.get("/")
    request.user, request.session = person("Ada"), {}
    with django_assert_num_queries(0):
        context.chrome(request)


def test_nobody_signed_in_has_no_menu(rf) -> None:
    request = rf.get("/")
    request.user = AnonymousUser()
    assert not context.chrome(request)["nav"]
    assert not context.chrome(rf.get("/"))["nav"]
