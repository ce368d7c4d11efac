"""What happened to a run: the table of events and the lanes of its chart."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from runs import chain
from runs.models import Intervention
from runs.status import Outcome, Park, Status
from runs.timeline import journal, steps
from tests.support import standing as make
from tests.support.people import person
from tests.support.web import html_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db):
    return person("Ada")


def read(run, user, before: str = ""):
    return journal.read(make.again(run), user, now=timezone.now(), before=before)


def told(found) -> list[tuple[str, str]]:
    return [(event.state.label, event.text) for event in found.events]


@pytest.fixture
def refund(db):
    """Accepted ten minutes ago, taken, two steps saved, then asked."""
    run = make.run(created_at=make.ago(minutes=10), status=Status.WAITING)
    make.checkpoint(run, 0, at=make.ago(minutes=9), updated=["__start__"])
    make.checkpoint(run, 1, at=make.ago(minutes=9), updated=["branch:to:load"])
    make.checkpoint(run, 2, at=make.ago(minutes=8), updated=["branch:to:gate"])
    make.attempt(
        run,
        started_at=make.ago(minutes=9, seconds=5),
        ended_at=make.ago(minutes=7),
        outcome=Outcome.WAITED,
    )
    make.lease(run, fence=1)
    return run


def test_events_tell_the_run_in_order(refund, ada) -> None:
    assert told(read(refund, ada)) == [
        ("Accepted", "Started by api"),
        ("Taken", f"{make.HOLDER} took the lease"),
        ("Saved", "Input saved"),
        ("Saved", "load finished"),
        ("Asked a person", "Stopped at a question and gave the lease back."),
    ]


def test_a_saved_step_leads_to_its_checkpoint_and_says_how_long_it_took(refund, ada) -> None:
    (step,) = [event for event in read(refund, ada).events if event.text == "load finished"]
    assert step.url.endswith(f"/checkpoints/{chain.page(refund.pk).rows[-1].id}/")
    assert step.length == pytest.approx(timedelta(minutes=1), abs=timedelta(seconds=1))


def test_the_chart_has_a_row_for_the_lease_each_step_and_what_is_open(refund, ada) -> None:
    rows = read(refund, ada).chart.rows
    assert [row.label for row in rows] == ["Lease", "start", "load", "gate"]
    gate = rows[-1]
    assert ([box.tone for box in gate.waits], gate.diamonds) == (["human"], [])


def test_a_lane_leads_to_its_event(refund, ada) -> None:
    found = read(refund, ada)
    anchors = {event.anchor for event in found.events if event.anchor}
    leads = {row.href for row in found.chart.rows if row.href}
    assert leads
    assert leads <= {f"#{anchor}" for anchor in anchors}


def test_an_error_is_told_with_its_attempt(ada) -> None:
    run = make.run(status=Status.FAILED)
    make.attempt(run, outcome=Outcome.RAISED, error_class="Timeout", error="no answer")
    assert ("Raised an error", "Timeout: no answer") in told(read(run, ada))


def test_what_a_person_did_is_told_with_the_reason(refund, ada) -> None:
    Intervention.objects.create(
        run=refund, kind="retry", user=ada, label="Ada", reason="Provider is back."
    )
    (event,) = [event for event in read(refund, ada).events if event.state.label == "By hand"]
    assert event.text == "Retried now by Ada"
    assert event.note[0].text == "Provider is back."


def test_a_stuck_run_is_drawn_up_to_its_last_heartbeat(ada) -> None:
    run = make.stuck(created_at=make.ago(minutes=20))
    run.attempts.update(started_at=make.ago(minutes=20))
    (lane,) = [row for row in read(run, ada).chart.rows if row.label == steps.FIRST_STEP]
    assert [bar.tone for bar in lane.bars] == ["warn"]
    assert [box.label for box in lane.waits] == ["nobody drives: the worker was lost"]
    assert lane.crosses


def test_a_lost_attempt_is_drawn_up_to_the_last_thing_it_saved(ada) -> None:
    run = make.running(created_at=make.ago(minutes=20))
    run.attempts.update(fence=2, started_at=make.ago(minutes=5))
    make.attempt(
        run,
        1,
        started_at=make.ago(minutes=19),
        ended_at=make.ago(minutes=5),
        outcome=Outcome.LOST,
    )
    make.checkpoint(run, 0, at=make.ago(minutes=18), updated=["branch:to:a"], fence=1)
    (lane,) = [row for row in read(run, ada).chart.rows if row.label == "a"]
    assert lane.waited == pytest.approx(timedelta(minutes=13), abs=timedelta(seconds=2))
    assert lane.worked == pytest.approx(timedelta(minutes=5), abs=timedelta(seconds=2))


def test_a_finished_run_has_no_open_lane(refund, ada) -> None:
    make.again(refund)
    type(refund).objects.filter(pk=refund.pk).update(
        status=Status.SUCCEEDED, ended_at=make.ago(minutes=7)
    )
    assert [row.label for row in read(refund, ada).chart.rows] == ["Lease", "start", "load"]


def test_a_failed_run_shows_in_red_where_it_failed(refund, ada) -> None:
    refund.attempts.update(outcome=Outcome.RAISED)
    type(refund).objects.filter(pk=refund.pk).update(
        status=Status.FAILED, ended_at=make.ago(minutes=7)
    )
    assert [bar.tone for bar in read(refund, ada).chart.rows[-1].bars] == ["bad"]


def test_a_run_nobody_took_waits_in_the_queue(ada) -> None:
    rows = read(make.run(), ada).chart.rows
    assert [row.label for row in rows] == ["in the queue"]
    assert rows[0].worked == timedelta(0)


def test_steps_of_subgraphs_are_named_after_both(ada) -> None:
    run = make.running(created_at=make.ago(minutes=20))
    for number, node in enumerate("xy"):
        make.checkpoint(
            run,
            number,
            at=make.ago(minutes=9 - number),
            updated=[f"branch:to:{node}"],
            ns="child:0-1|deep:2-3",
        )
    assert ("Saved", "child / deep / x finished") in told(read(run, ada))


def test_older_pages_hold_what_happened_before_and_nothing_twice(ada, monkeypatch) -> None:
    run = make.parked(Park.CRASH_LOOP, created_at=make.ago(hours=1))
    run.attempts.update(started_at=make.ago(minutes=59), ended_at=make.ago(minutes=1))
    for number in range(9):
        make.checkpoint(
            run, number, at=make.ago(minutes=50 - number), updated=[f"branch:to:n{number}"]
        )
    monkeypatch.setattr(journal, "PAGE", 4)
    pages, before = [], ""
    while True:
        found = read(run, ada, before)
        pages.append(found)
        before = found.older
        if not before:
            break
    every = [event for found in reversed(pages) for event in told(found)]
    assert len(every) == len(set(every)) == 9 + 3  # checkpoints; accepted, taken, parked
    assert (pages[0].newest, pages[-1].newest) == (True, False)
    assert every[0] == ("Accepted", "Started by api")
    assert every[-1][0] == "Parked"


def test_of_a_run_with_very_many_attempts_the_newest_are_told(client, ada, monkeypatch) -> None:
    monkeypatch.setattr(journal, "MOST_ATTEMPTS", 3)
    run = make.run(created_at=make.ago(minutes=30))
    for fence in range(1, 6):
        at = {"started_at": make.ago(minutes=30 - fence), "ended_at": make.ago(minutes=29 - fence)}
        make.attempt(run, fence, holder=f"w{fence}", outcome=Outcome.RAISED, **at)
    make.lease(run, fence=5)
    found = read(run, ada)
    taken = [text for label, text in told(found) if label == "Taken"]
    assert taken == [f"w{fence} took the lease" for fence in (3, 4, 5)]
    assert (found.attempts_left_out, found.attempts_from) == (2, 3)
    assert found.chart.rows[0].waits[0].label == "earlier attempts, not shown here"
    client.force_login(ada)
    page = html_of(client.get(f"/runs/{run.pk}/"))
    assert "2 earlier attempts of this time are not shown here." in page
    (link,) = re.findall(r'href="([^"]*/attempts/\?before=3)"', page)
    older = client.get(link).context["page"]
    assert [row.fence for row in older.rows] == [2, 1]


def test_an_earlier_page_has_the_attempts_of_its_time(ada, monkeypatch) -> None:
    monkeypatch.setattr(journal, "MOST_ATTEMPTS", 3)
    monkeypatch.setattr(journal, "PAGE", 2)
    run = make.run(created_at=make.ago(minutes=30))
    for number in range(6):
        at = make.ago(minutes=20 - number)
        make.checkpoint(run, number, at=at, updated=["branch:to:n"], fence=number + 1)
        begun = at - timedelta(seconds=30)
        end = {"ended_at": at, "outcome": Outcome.RAISED}
        make.attempt(run, number + 1, holder=f"w{number + 1}", started_at=begun, **end)
    newest = read(run, ada)
    older = read(run, ada, newest.older)
    taken = [[text for label, text in told(page) if label == "Taken"] for page in (newest, older)]
    assert taken == [["w6 took the lease"], ["w4 took the lease", "w5 took the lease"]]
    assert newest.attempts_left_out == older.attempts_left_out == 0
