"""Polls of open pages: 304 without asking while nothing changed, and never a word too late."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import reverse

from accounts.actors import Actor
from audit import trail
from runs.models import Lease, Run, Worker
from runs.status import Park
from signalbox import polls, stamps
from tests.support import polling
from tests.support import standing as make
from tests.support.people import person
from tests.support.polling import Region, flush

pytestmark = pytest.mark.django_db(transaction=True)
PAGES = ("overview", "runs:list", "approvals:inbox", "waiting")


@pytest.fixture(autouse=True)
def remembered(settings, monkeypatch) -> Iterator[None]:
    with polling.remembered(settings, monkeypatch):
        yield


@pytest.fixture
def ada(client: Client) -> Client:
    client.force_login(person("Ada"))
    return client


@pytest.mark.parametrize("page", PAGES)
def test_an_unchanged_poll_asks_for_the_stamp_alone(ada: Client, page: str) -> None:
    make.parked(Park.CRASH_LOOP)
    region = Region(ada, reverse(page)).settle()
    assert region.poll() == 304
    assert region.asked == 1


def test_while_the_stamp_is_fresh_nothing_is_asked_at_all(ada: Client, monkeypatch) -> None:
    monkeypatch.setattr(stamps, "FRESH", 60)
    region = Region(ada, reverse("overview")).settle()
    assert region.poll() == 304
    assert region.asked == 0


def run_changes(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(title="Another title")


def run_appears(run: Run) -> None:
    make.parked(Park.CRASH_LOOP, "A new one")


def lease_runs_out(run: Run) -> None:
    Lease.objects.filter(pk=run.pk).update(holder="w", expires_at=make.ago(seconds=1))


def worker_falls_silent(run: Run) -> None:
    Worker.objects.update(seen_at=make.ago(hours=1))


def somebody_notes_something(run: Run) -> None:
    trail.record(
        "run.cancel_asked", actor=Actor.system("test"), target=("run", str(run.pk)), run_id=run.pk
    )


CHANGES = (
    run_changes,
    run_appears,
    lease_runs_out,
    worker_falls_silent,
    somebody_notes_something,
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_whatever_changes_lets_the_page_be_made_anew(ada: Client, change) -> None:
    run = make.parked(Park.CRASH_LOOP)
    Worker.objects.create(name="w1@here", hostname="here", pid=1, agents={})
    region = Region(ada, reverse("runs:list")).settle()
    assert region.poll() == 304
    change(run)
    flush()
    region.poll()
    assert region.asked > 1


def test_another_language_or_answer_is_not_taken_for_the_same(ada: Client) -> None:
    make.parked(Park.CRASH_LOOP)
    region = Region(ada, reverse("runs:list")).settle()
    assert region.poll(**{"If-None-Match": 'W/"of-another-time"'}) == 200
    region.settle()
    region.poll(**{"Accept-Language": "de"})
    assert region.asked > 1


def test_another_person_is_not_taken_for_the_same(ada: Client) -> None:
    make.parked(Park.CRASH_LOOP)
    other = Client()
    other.force_login(person("Dee"))  # before, because it is written down, and so lets all ask anew
    region = Region(ada, reverse("runs:list")).settle()
    assert region.poll() == 304
    theirs = Region(other, region.url)
    theirs.etag = region.etag
    assert theirs.poll() == 403


def test_a_session_that_was_ended_is_asked_to_sign_in(ada: Client) -> None:
    region = Region(ada, reverse("runs:list")).settle()
    assert region.poll() == 304
    Session.objects.all().delete()
    flush()
    assert region.poll() == 401


def test_the_page_of_all_beats_is_always_made_anew(ada: Client) -> None:
    region = Region(ada, reverse("runs:workers")).settle()
    region.poll()
    assert region.asked > 1


def test_the_page_of_a_run_follows_the_beats_of_its_own_lease(ada: Client) -> None:
    run, other = make.parked(Park.CRASH_LOOP), make.parked(Park.CRASH_LOOP)
    region = Region(ada, reverse("runs:run", args=[run.pk])).settle()
    Lease.objects.filter(pk=other.pk).update(renewed_at=make.ago(seconds=1))
    assert region.poll() == 304
    assert region.asked == 2
    Lease.objects.filter(pk=run.pk).update(renewed_at=make.ago(seconds=1))
    region.poll()
    assert region.asked > 2


def test_the_page_of_a_run_is_not_made_anew_for_another(ada: Client) -> None:
    run, other = make.parked(Park.CRASH_LOOP), make.parked(Park.CRASH_LOOP)
    region = Region(ada, reverse("runs:run", args=[run.pk])).settle()
    run_changes(other)
    somebody_notes_something(other)
    flush()
    assert region.poll() == 304
    assert region.asked == 2
    run_changes(run)
    assert region.poll() == 200


def held(run: Run, **since: float) -> None:
    """A lease that runs for a while; its holder was last heard so long ago."""
    ends = make.soon(minutes=5)
    Lease.objects.filter(pk=run.pk).update(
        holder="w", expires_at=ends, renewed_at=make.ago(**since), progress_at=make.ago(**since)
    )


def test_the_list_of_runs_follows_the_beats_of_all_leases(ada: Client) -> None:
    """It says when a lease ends and what its holder does."""
    run = make.parked(Park.CRASH_LOOP)
    held(run, seconds=9)
    region = Region(ada, reverse("runs:list")).settle()
    assert region.poll() == 304
    assert region.asked == 1
    held(run, seconds=1)
    region.poll()
    assert region.asked > 1


def test_the_overview_is_not_made_anew_for_a_lease_that_goes_on(ada: Client) -> None:
    run = make.running()
    held(run, seconds=9)
    region = Region(ada, reverse("overview")).settle()
    held(run, seconds=1)
    assert region.poll() == 304
    assert region.asked == 1


@pytest.mark.parametrize("goes_on", [False, True], ids=["stalls", "goes on"])
def test_the_overview_tells_that_a_run_stalls_and_that_it_goes_on(
    ada: Client, settings, goes_on: bool
) -> None:
    """By time alone, and by nothing but the beat of a lease."""
    run = make.running("A run that rests")
    held(run, minutes=1)
    run.attempts.update(started_at=make.ago(minutes=9))
    short, long = timedelta(seconds=30), timedelta(minutes=5)
    settings.RUNS_STALL_AFTER = short if goes_on else long
    region = Region(ada, reverse("overview")).settle()
    assert ("A run that rests" in region.whole()) is goes_on
    if goes_on:
        held(run, seconds=1)
    else:
        settings.RUNS_STALL_AFTER = short  # as if that much time had passed
    assert region.poll() == 200
    assert ("A run that rests" in region.answer.text) is not goes_on


def test_what_shows_no_lease_follows_none(ada: Client) -> None:
    run = make.parked(Park.CRASH_LOOP)
    region = Region(ada, reverse("approvals:inbox")).settle()
    held(run, seconds=1)
    assert region.poll() == 304


def test_an_answer_is_made_anew_after_a_while_in_any_case(ada: Client, monkeypatch) -> None:
    monkeypatch.setattr(polls, "LONGEST", 0)
    region = Region(ada, reverse("runs:list")).settle()
    region.poll()
    assert region.asked > 1


def test_without_a_database_no_answer_is_remembered(ada: Client, monkeypatch) -> None:
    monkeypatch.setattr(stamps, "_read", lambda: None)
    region = Region(ada, reverse("runs:list")).settle()
    region.poll()
    assert region.asked > 1


def test_tables_that_beat_exist() -> None:
    assert set(stamps.BEATING) <= set(connection.introspection.table_names())
