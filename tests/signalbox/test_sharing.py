"""Shared answers: given to who sees the same, and to nobody who may not see it any more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.test import Client
from django.urls import reverse

from accounts import groups
from accounts.models import User
from approvals.models import Request
from runs import visible
from runs.listing import pages as listing
from runs.models import Run
from runs.status import Park, Status
from signalbox import inquiries, sharing, stamps, views
from tests.support import polling, scenes
from tests.support import standing as make
from tests.support.people import person
from tests.support.polling import Region, change, flush

pytestmark = pytest.mark.django_db(transaction=True)
SHARED = 2
"""Queries: the stamps, and who sits there."""
PATHS = stamps.ALL_RUNS
USUALLY = inquiries.SECONDS


@pytest.fixture(autouse=True)
def remembered(settings, monkeypatch) -> Iterator[None]:
    monkeypatch.setattr(inquiries, "SECONDS", 60)
    with polling.remembered(settings, monkeypatch):
        yield


@pytest.fixture
def run() -> Run:
    return make.parked(Park.CRASH_LOOP, "As it was")


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def opened(user: User, path: str) -> Region:
    """A page that somebody opened, and that has asked once."""
    client = browser(user)
    client.get(path)
    region = Region(client, path)
    region.poll()
    return region


def two(path: str, *, first: User | None = None, other: User | None = None) -> tuple[Region, ...]:
    """Two people have it open; sign-ins are written down before."""
    first = first or person("Ada")
    other = other or person("Eve", groups.OPERATOR)
    both = opened(first, path), opened(other, path)
    flush()
    for region in (*both, *both):
        region.poll()
    polling.forget_what_is_shared()
    return both


@pytest.mark.parametrize("path", PATHS)
def test_who_sees_the_same_gets_the_answer_that_was_made(run: Run, path: str) -> None:
    ada, eve = two(path)
    change(run)
    assert ada.poll() == 200
    assert ada.asked > SHARED
    assert eve.poll() == 200
    assert eve.asked == SHARED
    assert eve.answer.content == ada.answer.content
    assert "As it is" in eve.answer.text


@pytest.mark.parametrize("path", PATHS)
def test_that_nothing_on_it_has_changed_is_shared_too(run: Run, path: str) -> None:
    ada, eve = two(path)
    Run.objects.filter(pk=run.pk).update(park_detail=run.park_detail)
    flush()
    assert ada.poll() == 304
    assert ada.asked > SHARED
    assert eve.poll() == 304
    assert eve.asked == SHARED


@pytest.mark.parametrize("path", PATHS)
def test_after_its_time_an_answer_is_made_anew(run: Run, path: str, monkeypatch) -> None:
    monkeypatch.setattr(inquiries, "SECONDS", 0)
    ada, eve = two(path)
    change(run)
    ada.poll()
    change(run, "Later still")
    assert eve.poll() == 200
    assert "Later still" in eve.answer.text


def test_nothing_that_a_page_shows_goes_back() -> None:
    """A shared answer is younger than what the browser has."""
    assert min(views.EVERY, listing.EVERY) > USUALLY


@pytest.mark.parametrize("path", PATHS)
def test_a_shared_answer_does_not_stand_for_what_came_later(run: Run, path: str) -> None:
    """It is remembered with the stamp that was read before it was made."""
    ada, eve = two(path)
    change(run)
    ada.poll()
    change(run, "Later still")
    eve.poll()
    polling.forget_what_is_shared()
    assert eve.poll() == 200
    assert "Later still" in eve.answer.text


def test_answers_do_not_gather_though_each_page_asks_for_other_rows(run: Run, monkeypatch) -> None:
    """Nobody asks again for one that is over, and a whole answer is large."""
    told: Any = caches["told"]  # Any: LocMemCache, whose insides are looked at
    polls: Any = caches["polls"]
    assert told._max_entries <= 200
    monkeypatch.setattr(told, "_max_entries", 6)
    ada = browser(person("Ada"))
    ada.get("/runs/")
    for number in range(12):
        ada.get(f"/runs/?version={number}", headers={"HX-Request": "true"})
    assert 0 < len(told._cache) <= 6
    sizes = [len(each) for each in polls._cache.values()]
    assert max(sizes) < 1_000


# --- what is not the same -------------------------------------------------------------------------


@pytest.mark.parametrize("group", [groups.APPROVER, groups.AUDITOR, groups.ADMIN])
@pytest.mark.parametrize("path", PATHS)
def test_who_may_other_things_gets_an_answer_of_their_own(run: Run, path: str, group: str) -> None:
    ada, other = two(path, other=person("Olu", group))
    change(run)
    ada.poll()
    other.poll()
    assert other.asked > SHARED


def speaks_german(user: User) -> None:
    User.objects.filter(pk=user.pk).update(language="de")


def lives_elsewhere(user: User) -> None:
    User.objects.filter(pk=user.pk).update(time_zone="Asia/Tokyo")


def reads_dates(user: User) -> None:
    User.objects.filter(pk=user.pk).update(times="absolute")


def is_asked(user: User) -> None:
    """Somebody who sees everything, and has to answer besides."""
    user.groups.add(Group.objects.get_or_create(name="finance")[0])
    may = Permission.objects.get(codename="decide_request")
    user.user_permissions.add(may)
    scenes.question(make.run(status=Status.WAITING), scenes.Clock(hours=1), "t", 0)


OTHERWISE = (speaks_german, lives_elsewhere, reads_dates, is_asked)


@pytest.mark.parametrize("otherwise", OTHERWISE, ids=lambda each: each.__name__)
@pytest.mark.parametrize("before", [True, False], ids=["since ever", "since a moment ago"])
def test_who_reads_otherwise_gets_an_answer_of_their_own(run: Run, otherwise, before: bool) -> None:
    other = person("Eve", groups.OPERATOR)
    if before:
        otherwise(other)
    ada, eve = two("/", other=other)
    change(run)
    ada.poll()
    if not before:
        otherwise(other)
        flush()
        ada.poll()
    eve.poll()
    assert eve.asked > SHARED


def test_another_address_is_another_answer(run: Run) -> None:
    ada, eve = two("/runs/")
    change(run)
    ada.poll()
    eve.url = "/runs/?status=failed"
    eve.poll()
    assert "As it is" not in eve.answer.text


def test_who_reads_packed_answers_gets_none_that_is_not(run: Run) -> None:
    ada, eve = two("/runs/")
    change(run)
    ada.poll()
    eve.poll(**{"Accept-Encoding": "gzip"})
    assert eve.asked > SHARED


def test_a_search_of_somebody_from_whom_fields_are_hidden_is_not_shared(run: Run) -> None:
    cy, nat = two("/runs/?q=order_id:1", first=person("Cy"), other=person("Nat", groups.AUDITOR))
    change(run)
    cy.poll()
    nat.poll()
    assert nat.asked > SHARED


def test_the_list_of_ones_own_runs_is_not_shared() -> None:
    ada, eve = person("Ada"), person("Eve", groups.OPERATOR)
    run = make.run("As it was", by=ada)
    both = two("/runs/?owner=me", first=ada, other=eve)
    change(run)
    for region in both:
        region.poll()
    assert "As it is" in both[0].answer.text
    assert "As it is" not in both[1].answer.text


def test_auditors_share_what_is_hidden_from_none_of_them(run: Run) -> None:
    cy, nat = two("/runs/", first=person("Cy"), other=person("Nat", groups.AUDITOR))
    change(run)
    cy.poll()
    assert nat.poll() == 200
    assert nat.asked == SHARED


def test_the_page_of_a_run_is_never_shared(run: Run) -> None:
    ada, eve = two(reverse("runs:run", args=[run.pk]))
    change(run)
    ada.poll()
    assert eve.poll() == 200
    assert eve.asked > SHARED


def test_a_page_as_it_is_opened_is_never_shared(run: Run) -> None:
    ada, eve = two("/runs/")
    change(run)
    ada.poll()
    change(run, "Later still")
    assert "Later still" in eve.client.get("/runs/").text


# --- who may not see it any more ------------------------------------------------------------------


def loses_the_group(user: User) -> None:
    user.groups.clear()


def group_loses_the_right(user: User) -> None:
    group = Group.objects.get(name=groups.OPERATOR)
    group.permissions.remove(Permission.objects.get(codename="view_run"))


def may_not_sign_in(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def is_signed_out(user: User) -> None:
    Session.objects.all().delete()


def session_runs_out(user: User) -> None:
    Session.objects.update(expire_date=make.ago(seconds=1))


LOSSES = (loses_the_group, group_loses_the_right, may_not_sign_in, is_signed_out, session_runs_out)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_who_may_not_see_it_any_more_is_told_nothing(run: Run, loss, monkeypatch) -> None:
    """At once, although PostgreSQL has not counted it and nobody has told the audit log."""
    ada, eve = two("/runs/")
    change(run)
    ada.poll()
    stamp = stamps._read()
    monkeypatch.setattr(stamps, "_read", lambda: stamp)
    loss(User.objects.get(first_name="Eve"))
    assert eve.poll() in (401, 403)
    assert "As it is" not in eve.answer.text


def test_who_signs_in_after_somebody_else_in_one_browser_gets_their_own(run: Run) -> None:
    ada, eve = two("/runs/")
    change(run)
    ada.poll()
    eve.client.force_login(person("Dee"))
    assert eve.poll() == 403


# --- sights ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_people_who_are_said_to_see_the_same_are_told_the_same(run: Run, path, monkeypatch) -> None:
    """Of everybody: whoever has the same sight gets the same answer, made for themselves."""
    monkeypatch.setattr(sharing, "find", lambda request, poll, now: None)
    started = person("Mia", groups.APPROVER)
    make.run("Of Mia", by=started)
    scenes.question(make.run("Asked", status=Status.WAITING), scenes.Clock(hours=1), "t", 0)
    everybody = [
        started,
        *(person(f"{group}{number}", group) for group in groups.ALL for number in (1, 2)),
        *(person(f"finance{number}", groups.APPROVER, "finance") for number in (1, 2)),
        *(person(f"both{number}", groups.ADMIN, "finance") for number in (1, 2)),
        person("zone", groups.OPERATOR, time_zone="Asia/Tokyo"),
    ]
    told: list[tuple[str, str]] = []
    for client in [browser(user) for user in everybody]:  # signing in changes what is told
        answer = client.get(path, headers={"HX-Request": "true"})
        assert answer.status_code == 200
        told.append((answer.wsgi_request.META[visible.SIGHT], answer["ETag"]))
    same = [(one, two) for one, two in combinations(told, 2) if one[0] == two[0]]
    assert len(same) >= 2
    assert all(one[1] == two[1] for one, two in same)


def test_requests_that_wait_for_somebody_are_theirs(run: Run) -> None:
    """A new one is on their page at once, whatever was shared meanwhile."""
    rut, uma = (person(name, groups.ADMIN, "finance") for name in ("Rut", "Uma"))
    both = two("/", first=rut, other=uma)
    scenes.question(make.run(status=Status.WAITING), scenes.Clock(hours=1), "t", 0)
    flush()
    for region in both:
        assert region.poll() == 200
        assert Request.objects.get().title in region.answer.text
