"""Lists of runs: filters, search, pages by key, counts, and a constant number of queries."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from ledger.models import Effect
from ledger.status import Status as EffectStatus
from runs import errors, queries
from runs.models import Run, Worker
from runs.queries import Filters
from runs.status import Outcome, Park, Status
from tests.support import standing as make
from tests.support.people import person

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db):
    return person("Ada")


def titles(found: queries.Page) -> list[str]:
    return [row.run.title for row in found.rows]


def effect(run: Run, status: str = EffectStatus.IN_DOUBT, tool: str = "payments.refund") -> Effect:
    key = uuid4().hex
    return Effect.objects.create(
        idempotency_key=key,
        run=run,
        step=f"node@{key}",
        tool=tool,
        idempotency="provider",
        args={},
        args_hash=key,
        status=status,
        provider_key=key,
        fence=1,
    )


# --- filters --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {"old", "new", "stuck", "parked"}),
        ({"status": "queued"}, {"old", "new"}),
        ({"status": "stuck"}, {"stuck"}),
        ({"attention": True}, {"stuck", "parked"}),
        ({"agent": "triage"}, {"new"}),
        ({"since": timedelta(hours=1)}, {"new", "stuck", "parked"}),
        ({"status": "queued", "since": timedelta(hours=1)}, {"new"}),
        ({"q": "OL"}, {"old"}),
        ({"q": "key-7"}, {"old"}),
        ({"q": "%"}, set()),
    ],
)
def test_filters_narrow_the_list(ada, filters, expected) -> None:
    make.run("old", created_at=make.ago(days=2), idempotency_key="key-7")
    make.run("new", agent="triage")
    make.stuck("stuck")
    make.parked(Park.CRASH_LOOP, "parked")
    assert set(titles(queries.page(Filters(**filters), user=ada))) == expected


def test_the_owner_is_who_started_it(ada) -> None:
    make.run("hers", by=ada)
    make.run("of the api")
    assert titles(queries.page(Filters(owner=str(ada.pk)), user=ada)) == ["hers"]


def test_an_id_is_found_whole_and_by_its_ends(ada) -> None:
    run, _ = make.run("this"), make.run("that")
    for text in (str(run.pk), run.pk.hex.upper(), str(run.pk)[-8:], str(run.pk)[:23]):
        assert titles(queries.page(Filters(q=text), user=ada)) == ["this"]


def test_a_run_with_an_effect_in_doubt_needs_attention_whatever_its_status(ada) -> None:
    effect(make.run("over", status=Status.SUCCEEDED))
    effect(make.run("fine", status=Status.SUCCEEDED), EffectStatus.CONFIRMED)
    found = queries.page(Filters(attention=True), user=ada)
    assert titles(found) == ["over"]
    assert [badge.state.value for badge in found.rows[0].standing.also] == ["in_doubt"]


# --- pages ----------------------------------------------------------------------------------------


@pytest.fixture
def nine(db) -> list[Run]:
    """Nine runs, newest first, three of them of one moment."""
    moment = make.ago(minutes=30)
    made = [make.run(f"{n}", created_at=make.ago(minutes=n + 40)) for n in range(6)]
    made += [make.run(f"same {n}", created_at=moment) for n in range(3)]
    return sorted(Run.objects.all(), key=lambda run: (run.created_at, run.pk), reverse=True)


def test_pages_by_key_show_every_run_once_in_both_directions(ada, nine) -> None:
    seen, after = [], None
    while True:
        page = queries.page(Filters(), user=ada, after=after, limit=2)
        seen += [row.run.pk for row in page.rows]
        if page.older is None:
            break
        after = page.older
    assert seen == [run.pk for run in nine]
    back, before = [seen[-1]], page.newer
    while before is not None:
        page = queries.page(Filters(), user=ada, before=before, limit=2)
        back = [row.run.pk for row in page.rows] + back
        before = page.newer
    assert back == seen


def test_a_new_run_does_not_move_the_older_pages(ada, nine) -> None:
    first = queries.page(Filters(), user=ada, limit=3)
    make.run("newest")
    second = queries.page(Filters(), user=ada, after=first.older, limit=3)
    assert [row.run.pk for row in second.rows] == [run.pk for run in nine[3:6]]


def test_the_first_page_leads_nowhere_newer_and_the_last_nowhere_older(ada, nine) -> None:
    page = queries.page(Filters(), user=ada, limit=9)
    assert (page.newer, page.older) == (None, None)


def test_a_list_that_refreshes_shows_no_run_that_came_later_but_counts_it(ada, nine) -> None:
    make.run("later", created_at=make.ago(seconds=1))
    page = queries.page(Filters(), user=ada, upto=nine[0].pk)
    assert [row.run.pk for row in page.rows] == [run.pk for run in nine]
    assert queries.count_newer(Filters(), nine[0].pk, ada) == 1
    assert queries.count_newer(Filters(status="parked"), nine[0].pk, ada) == 0


def test_an_unknown_cursor_shows_the_newest(ada, nine) -> None:
    page = queries.page(Filters(), user=ada, after=uuid4(), upto=uuid4())
    assert len(page.rows) == len(nine)


def test_one_run_is_read_by_its_id_or_refused(ada) -> None:
    run = make.run("this")
    assert queries.one(run.pk, ada).run == run
    with pytest.raises(errors.NoSuchRun):
        queries.one(uuid4(), ada)


# --- rows -----------------------------------------------------------------------------------------


def test_the_number_of_queries_does_not_depend_on_the_number_of_runs(ada) -> None:
    def fill(count: int) -> None:
        for _ in range(count):
            effect(make.running())
            make.stuck()
            make.run(due_at=make.soon(minutes=1))

    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            queries.page(Filters(), user=ada)
        return len(captured)

    fill(1)
    cost()  # the reader's permissions are asked for once
    few = cost()
    fill(12)
    assert cost() == few <= 15


def test_worked_is_the_sum_of_the_attempts(ada) -> None:
    run = make.run(status=Status.FAILED)
    for fence in (1, 2):
        make.attempt(
            run,
            fence,
            started_at=make.ago(hours=fence, minutes=2),
            ended_at=make.ago(hours=fence),
            outcome=Outcome.RAISED,
        )
    assert queries.one(run.pk, ada).worked == pytest.approx(
        timedelta(minutes=4), abs=timedelta(seconds=1)
    )


def test_a_worker_that_is_gone_worked_until_its_lease_ended(ada) -> None:
    run = make.stuck()
    run.attempts.update(started_at=make.ago(minutes=16))
    worked = queries.one(run.pk, ada).worked
    assert worked == pytest.approx(timedelta(minutes=10), abs=timedelta(seconds=2))


def test_a_run_that_never_started_has_not_worked(ada) -> None:
    assert queries.one(make.run().pk, ada).worked is None


def test_a_queued_run_is_told_when_no_live_worker_knows_its_agent(ada) -> None:
    run = make.run()
    assert queries.one(run.pk, ada).standing.reason[0].text == "no live worker knows this agent"
    Worker.objects.create(name="w", hostname="h", pid=1, agents={"refund_desk": "1.0"})
    assert queries.one(run.pk, ada).standing.reason[0].text == "queued "


def test_counts_tell_what_goes_on_and_what_failed_lately(ada) -> None:
    make.running()
    make.stuck()
    make.run()
    make.parked(Park.DEADLINE)
    make.run(status=Status.WAITING)
    make.run(status=Status.FAILED)
    make.run(status=Status.FAILED, created_at=make.ago(days=3))
    make.run(status=Status.SUCCEEDED)
    assert queries.counts(ada) == queries.Counts(
        attention=2, stuck=1, waiting=1, running=2, queued=1, parked=1, failed=1
    )


def test_nothing_at_all_counts_as_nothing(ada) -> None:
    assert queries.counts(ada) == queries.Counts(
        attention=0, stuck=0, waiting=0, running=0, queued=0, parked=0, failed=0
    )
