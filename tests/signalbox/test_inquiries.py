"""Inquiries: nothing is asked twice for open lists, and so nobody learns what another may see."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts import groups
from accounts.models import User
from approvals.models import Request
from runs.models import Run
from runs.status import Park, Status
from signalbox import inquiries, sharing, stamps
from tests.support import polling, scenes
from tests.support import standing as make
from tests.support.people import person
from tests.support.polling import Region, change, flush

pytestmark = pytest.mark.django_db(transaction=True)
PATHS = stamps.ALL_RUNS
OF_ALL = ('FROM "effects" WHERE "effects"."status"', "SELECT clock_timestamp()")
"""In questions that both lists ask, whoever reads them."""


@pytest.fixture(autouse=True)
def remembered(settings, monkeypatch) -> Iterator[None]:
    monkeypatch.setattr(inquiries, "SECONDS", 60.0)
    with polling.remembered(settings, monkeypatch):
        yield


@pytest.fixture
def run() -> Run:
    return make.parked(Park.CRASH_LOOP, "As it was")


def opened(path: str, *people: User) -> list[Region]:
    """A page that each of them has open, and asked for once."""
    regions = []
    for user in people:
        client = Client()
        client.force_login(user)
        client.get(path)
        regions.append(Region(client, path))
    for region in regions:
        region.settle()
    polling.forget_what_is_shared()
    return regions


# --- what is asked once ---------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_what_does_not_depend_on_who_reads_is_asked_once(run: Run, path: str) -> None:
    ada, cy = opened(path, person("Ada"), person("Cy"))
    change(run)
    assert ada.poll() == cy.poll() == 200
    assert "As it is" in ada.answer.text
    assert "As it is" in cy.answer.text
    assert all(part in ada.questions for part in OF_ALL)
    assert not any(part in cy.questions for part in OF_ALL)
    assert cy.asked < ada.asked / 2


def test_one_list_asks_nothing_that_the_other_has_asked(run: Run) -> None:
    ada, eve = person("Ada"), person("Eve", groups.OPERATOR)
    overview, listed = *opened("/", ada), *opened("/runs/", eve)
    change(run)
    assert overview.poll() == listed.poll() == 200
    assert not any(part in listed.questions for part in OF_ALL)


@pytest.mark.parametrize("path", PATHS)
def test_what_is_made_in_an_inquiry_does_not_stand_for_what_came_after_it_began(
    run: Run, path: str
) -> None:
    ada, cy = opened(path, person("Ada"), person("Cy"))
    change(run)
    ada.poll()
    change(run, "Later still")
    assert cy.poll() == 200
    assert "As it is" in cy.answer.text
    polling.forget_what_is_shared()  # the inquiry is over
    assert cy.poll() == 200
    assert "Later still" in cy.answer.text


def test_a_page_as_it_is_opened_asks_everything(run: Run) -> None:
    (ada,) = opened("/", person("Ada"))
    change(run)
    ada.poll()
    change(run, "Later still")
    with CaptureQueriesContext(connection) as seen:
        assert "Later still" in ada.client.get("/").text
    asked = "\n".join(each["sql"] for each in seen.captured_queries)
    assert all(part in asked for part in OF_ALL)


def test_a_new_question_begins_another_inquiry(run: Run) -> None:
    ada, cy = opened("/", person("Ada"), person("Cy"))
    change(run)
    ada.poll()
    scenes.question(make.run(status=Status.WAITING), scenes.Clock(hours=1), "t", 0)
    flush()
    assert cy.poll() == 200
    assert Request.objects.get().title in cy.answer.text


def test_browsers_that_asked_lately_are_looked_up_together(run: Run, monkeypatch) -> None:
    ada, eve = opened("/runs/", person("Ada"), person("Eve", groups.OPERATOR))
    change(run)
    monkeypatch.setattr(stamps, "FRESH", 60)
    assert ada.poll() == 200
    assert eve.poll() == 200
    assert eve.asked == 0
    assert "As it is" in eve.answer.text


@pytest.mark.parametrize(
    ("limit", "value", "kept"),
    [("LATELY", 0.0, 0), ("MOST", 1, 1)],
    ids=["ask no more", "are too many"],
)
def test_the_browsers_that_are_looked_up_do_not_gather(
    run: Run, limit: str, value: float, kept: int, monkeypatch
) -> None:
    """The one that asks is the last to be left out."""
    people = person("Ada"), person("Eve", groups.OPERATOR)
    regions = opened("/runs/", *people)
    monkeypatch.setattr(sharing, limit, value)
    for turn in range(4):
        change(run, f"Changed {turn} times")
        assert regions[turn % 2].poll() in (200, 304)
        assert [user for _, user in sharing._asking] == [people[turn % 2].pk][:kept]


def test_who_is_the_same_in_the_database_is_not_read_again(run: Run, monkeypatch) -> None:
    monkeypatch.setattr(inquiries, "SECONDS", 0.0)
    (ada,) = opened("/runs/", person("Ada"))
    for title, reads in (("Once", True), ("Twice", False)):
        change(run, title)
        assert ada.poll() == 200
        assert ('FROM "accounts_user" WHERE' in ada.questions) is reads
        assert ('FROM "auth_group"' in ada.questions) is reads


# --- what is not the same -------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_nobody_learns_from_an_inquiry_of_the_runs_of_others(path: str) -> None:
    mia, max_ = person("Mia", groups.APPROVER), person("Max", groups.APPROVER)
    runs = {each: make.parked(Park.CRASH_LOOP, f"Of {each}", by=each) for each in (mia, max_)}
    every = opened(path, person("Ada"), mia, max_)
    for each, run in runs.items():
        change(run, f"Still of {each}")
    for region in every:
        region.poll()
    whole, hers, his = (region.answer.text for region in every)
    assert ("Still of Mia" in whole, "Still of Max" in whole) == (True, True)
    assert ("Still of Mia" in hers, "Still of Max" in hers) == (True, False)
    assert ("Still of Mia" in his, "Still of Max" in his) == (False, True)


def loses_the_group(eve: User) -> None:
    eve.groups.clear()


def group_loses_the_right(eve: User) -> None:
    group = Group.objects.get(name=groups.OPERATOR)
    group.permissions.remove(Permission.objects.get(codename="view_run"))


def may_not_sign_in(eve: User) -> None:
    User.objects.filter(pk=eve.pk).update(is_active=False)


LOSSES = (loses_the_group, group_loses_the_right, may_not_sign_in)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_who_has_asked_and_may_not_see_it_any_more_is_told_nothing(
    run: Run, loss, monkeypatch
) -> None:
    """In the same inquiry, before PostgreSQL has counted it, and not told in the audit log."""
    eve = person("Eve", groups.OPERATOR)
    (listed,) = opened("/runs/", eve)
    overview = Region(listed.client, "/").settle()
    polling.forget_what_is_shared()
    change(run)
    assert overview.poll() == 200
    now = stamps.now()
    monkeypatch.setattr(stamps, "_read", lambda: now)
    loss(eve)
    assert listed.poll() in (401, 403)
    assert "As it is" not in listed.answer.text


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_nor_is_somebody_who_was_read_before_they_lost_it(run: Run, loss, monkeypatch) -> None:
    monkeypatch.setattr(inquiries, "SECONDS", 0.0)
    eve = person("Eve", groups.OPERATOR)
    (listed,) = opened("/runs/", eve)
    change(run)
    assert listed.poll() == 200
    loss(eve)
    change(run, "Later still")
    assert listed.poll() in (401, 403)
    assert "Later still" not in listed.answer.text


# --- questions ------------------------------------------------------------------------------------


def ask(sql: str, params: Any = None) -> object:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchone()[0]


@pytest.fixture
def inquiry() -> inquiries.Inquiry:
    now = stamps.now()
    assert now is not None
    return inquiries.current(now)


@pytest.mark.parametrize(
    ("sql", "anew"),
    [
        ("SELECT random()", False),
        ("WITH a AS (SELECT random() AS b) SELECT b FROM a", False),
        ("SELECT random(), set_config('work_mem', '4MB', true)", True),
        ("SELECT random() FROM runs_run LIMIT 1 FOR UPDATE", True),
        ("SELECT random(), pg_advisory_xact_lock(1)", True),
        ("WITH a AS (UPDATE runs_run SET title = 'x' RETURNING 1) SELECT random()", True),
    ],
)
def test_what_reads_is_asked_once_and_what_acts_each_time(run: Run, inquiry, sql, anew) -> None:
    with inquiry.asks_once():
        try:
            connection.set_autocommit(False)
            assert (ask(sql) != ask(sql)) is anew
            connection.rollback()
        finally:
            connection.set_autocommit(True)
    assert ask("SELECT random()") != ask("SELECT random()")


def test_other_values_are_another_question(inquiry) -> None:
    with inquiry.asks_once():
        for value in ("1", "2", 1, 2, None):
            assert ask("SELECT %s", [value]) == value


def test_nobody_gets_the_very_object_that_another_has(inquiry) -> None:
    with inquiry.asks_once():
        first, again = (ask("SELECT ARRAY['finance']") for _ in range(2))
        assert isinstance(first, list)
        first.append("legal")
        assert again == ask("SELECT ARRAY['finance']") == ["finance"]


def test_an_answer_is_read_as_the_database_gives_it(inquiry) -> None:
    with inquiry.asks_once():
        for _ in range(2):
            with connection.cursor() as cursor:
                cursor.execute("SELECT n AS number FROM generate_series(1, 5) AS n")
                assert cursor.rowcount == 5
                assert [column[0] for column in cursor.description] == ["number"]
                assert cursor.fetchone() == (1,)
                assert cursor.fetchmany(2) == [(2,), (3,)]
                assert [*cursor] == [(4,), (5,)]
                assert cursor.fetchall() == []
                assert cursor.fetchone() is None
