"""The tree of steps, branches, graphs within and what they touched; of real drives, too."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import clock
from approvals.models import Request
from runs.timeline import journal, steps
from runs.timeline.drawing import Row
from tests.runs.conftest import answer
from tests.support import scenes
from tests.support import standing as make
from tests.support.people import person


@pytest.fixture
def ada(db):
    return person("Ada")


def rows(run, user) -> list[Row]:
    return journal.read(make.again(run), user, now=timezone.now()).chart.rows


def tree(run, user) -> list[tuple[int, str]]:
    """Depth and label of each row below that of the lease."""
    return [(row.depth, row.label) for row in rows(run, user)[1:]]


def row(run, user, label: str):
    (found,) = [row for row in rows(run, user) if row.label == label]
    return found


# --- made from rows -------------------------------------------------------------------------------


@pytest.mark.django_db
def test_graphs_within_stand_below_the_task_that_called_them(ada) -> None:
    assert tree(scenes.nested(ada), ada) == [
        (0, "start"),
        (0, "intake"),
        (0, "research"),
        (1, "plan"),
        (1, "crawl"),
        (2, "fetch"),
        (2, "parse"),
        (1, "summarise"),
        (0, "check, score, screen"),
        (1, "check"),
        (1, "score"),
        (2, "credit.ask"),
        (1, "screen"),
    ]


@pytest.mark.django_db
def test_a_branch_ends_when_its_result_was_saved_and_the_others_go_on(ada) -> None:
    run = scenes.nested(ada)
    check, score = row(run, ada, "check"), row(run, ada, "score")
    assert check.worked == pytest.approx(timedelta(seconds=23), abs=timedelta(milliseconds=10))
    assert score.worked > timedelta(seconds=58)
    assert (check.current, score.current) == (False, True)
    assert ([bar.tone for bar in check.bars], [bar.tone for bar in score.bars]) == (
        ["ok"],
        ["info"],
    )


@pytest.mark.django_db
def test_every_task_that_was_sent_is_a_branch_under_its_number(ada) -> None:
    run = scenes.branches(ada)
    found = tree(run, ada)
    assert (0, "reconcile \N{MULTIPLICATION SIGN}30") in found
    assert [label for depth, label in found if depth == 1] == [
        f"reconcile {number}" for number in range(1, 31)
    ]
    after = found.index((1, "reconcile 27"))
    assert found[after + 1] == (2, "ledger.post")


@pytest.mark.django_db
def test_a_node_with_a_question_waits_although_others_of_it_work(ada) -> None:
    run = make.again(scenes.branches(ada))
    assert journal.read(run, ada, now=timezone.now()).at == {("reconcile",): "human"}


@pytest.mark.django_db
def test_a_killed_worker_its_doubt_and_what_cleared_it_share_one_axis(ada) -> None:
    run = scenes.killed(ada)
    lease, refund = rows(run, ada)[0], row(run, ada, "payments.refund")
    assert [(bar.tone, bar.label.partition(",")[0]) for bar in lease.bars] == [
        ("warn", "Fence 1"),
        ("neutral", "Fence 2"),
        ("neutral", "Fence 3"),
    ]
    assert [wait.label for wait in refund.waits] == ["nobody knows whether it happened"]
    assert [(dot.tone, dot.label) for dot in refund.dots] == [
        ("ok", "fakepay told by webhook: Confirmed")
    ]
    assert refund.dots[0].x == pytest.approx(refund.waits[0].end, abs=0.02)


@pytest.mark.django_db
def test_a_question_is_open_from_when_it_was_asked_until_it_was_decided(ada) -> None:
    run = scenes.killed(ada)
    asked = row(run, ada, "Asked finance")
    assert [box.tone for box in asked.waits] == ["human"]
    assert asked.waited == pytest.approx(timedelta(seconds=4180 - 153), abs=timedelta(seconds=0.1))
    assert [dot.label for dot in asked.dots] == ["Approved by Ben Ortiz"]


@pytest.mark.django_db
def test_a_page_of_a_run_of_any_length_costs_the_same(ada, django_assert_max_num_queries) -> None:
    run = make.again(scenes.long(ada, steps=130))
    with django_assert_max_num_queries(24):
        found = journal.read(run, ada, now=clock.page())
    assert len(found.events) <= journal.MOST_EVENTS
    assert found.older


@pytest.mark.django_db
def test_the_page_of_a_run_that_rests_stays_the_same_for_a_minute(ada) -> None:
    run, now = scenes.waiting(ada), timezone.now().replace(second=20)
    one, other = (journal.read(run, ada, now=now + timedelta(seconds=s)).chart for s in (0, 30))
    assert one == other
    assert one != journal.read(run, ada, now=now + timedelta(seconds=90)).chart


# --- driven ---------------------------------------------------------------------------------------


def test_parallel_branches_of_a_driven_run_end_where_they_ended(
    start, drive, ada, monkeypatch
) -> None:
    monkeypatch.setattr(steps, "SLOW", timedelta.max)
    run = start("parallel")
    drive(run)
    assert tree(run, ada) == [
        (0, "left, quiet, right"),
        (1, "left"),
        (2, "Asked approver"),
        (1, "quiet"),
        (1, "right"),
        (2, "Asked approver"),
    ]
    quiet, left = row(run, ada, "quiet"), row(run, ada, "left")
    assert (bool(quiet.diamonds), bool(left.diamonds)) == (True, False)
    assert (quiet.current, left.current) == (False, True)


def test_sent_tasks_of_a_driven_run_are_counted_and_called_by_their_node(start, drive, ada) -> None:
    run = start("fan", {"items": ["a", "b", "c"]})
    drive(run)
    assert (0, "worker \N{MULTIPLICATION SIGN}3") in tree(run, ada)
    branches = [label for depth, label in tree(run, ada) if depth == 1]
    assert branches == ["worker 1", "worker 2", "worker 3"]


def test_a_graph_within_a_driven_run_is_nested_and_its_question_below_its_node(
    start, drive, ada, monkeypatch
) -> None:
    monkeypatch.setattr(steps, "SLOW", timedelta.max)
    run = start("nested")
    drive(run)
    assert tree(run, ada) == [
        (0, "before"),
        (0, "child"),
        (1, "inner"),
        (1, "gate"),
        (2, "Asked approver"),
    ]


def test_tasks_that_a_function_called_stand_below_it(start, drive, ada, monkeypatch) -> None:
    monkeypatch.setattr(steps, "SLOW", timedelta.max)
    run = start("functional", {"number": 2})
    drive(run)
    answer(run, 4, 1)
    drive(run)
    found = tree(run, ada)
    assert found[0] == (0, "functional")
    assert (1, "task 1") in found
    assert Request.objects.filter(run=run).count() == 2
