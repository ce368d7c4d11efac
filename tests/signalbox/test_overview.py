"""The first page: what needs the reader, what is stuck, how the last day went."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import groups
from approvals.models import Request
from approvals.policy import Policy
from ledger.models import Effect, Message
from runs.models import Run
from runs.status import Park, Status
from signalbox import outcomes
from tests.approvals.conftest import ours
from tests.support import standing as make
from tests.support.fleet import well
from tests.support.people import person

pytestmark = pytest.mark.django_db


def request(title: str = "Refund?", group: str = "finance", **fields: Any) -> Request:
    usual: dict[str, Any] = {
        "run": make.run(title, status=Status.WAITING),
        "interrupt_id": uuid4().hex,
        "checkpoint_id": "c1",
        "askers": [],
        "shape": "ours",
        "payload": ours(title),
        "digest": "0" * 64,
        "policy": Policy(name="p", group=group).stored(),
        "group": group,
        "groups": [group],
        "deadline": make.soon(hours=1),
        "fence": 1,
    }
    return Request.objects.create(title=title, **usual | fields)


def effect(run: Run) -> None:
    key = uuid4().hex
    names = ("idempotency_key", "provider_key", "args_hash", "step")
    Effect.objects.create(
        run=run,
        tool="payments.refund",
        idempotency="provider",
        args={},
        status="in_doubt",
        fence=1,
        **dict.fromkeys(names, key),
    )


@pytest.fixture
def ada(client):
    user = person("Ada")
    client.force_login(user)
    return user


def read(client: Any) -> Any:
    response = client.get("/")
    assert response.status_code == 200
    return response


def numbers(response: Any) -> dict[str, int]:
    return {number.label: number.count for number in response.context["page"].numbers}


def test_four_numbers_lead_to_what_they_count(client, ada) -> None:
    make.running()
    make.stuck()
    make.stalled()
    make.parked(Park.DEADLINE)
    effect(make.run(status=Status.SUCCEEDED))
    response = read(client)
    assert numbers(response) == {
        "Waiting for approval": 0,
        "Needs an operator": 4,
        "Effects in doubt": 1,
        "Running now": 2,
    }
    listed = {"Waiting for approval": "lines"}
    for number in response.context["page"].numbers:
        found = client.get(number.url).context[listed.get(number.label, "rows")]
        assert len(found) == number.count, number.label


def test_the_number_of_runs_that_need_an_operator_is_that_of_their_list(client, ada) -> None:
    make.parked(Park.EMERGENCY_STOP)
    response = read(client)
    assert numbers(response)["Needs an operator"] == len(response.context["page"].troubled) == 1


def test_messages_that_were_given_up_are_counted_for_who_can_look_at_them(client, ada) -> None:
    Message.objects.create(
        destination="crm", payload={}, dedupe="1", status="dead", closed_at=make.ago(minutes=1)
    )
    response = read(client)
    assert numbers(response)["Messages given up"] == 1
    assert client.get(response.context["page"].numbers[-1].url).status_code == 200
    client.force_login(person("Ben"))
    assert "Messages given up" not in numbers(read(client))


def test_what_waits_for_the_reader_comes_first_and_the_oldest_first(client) -> None:
    ben = person("Ben", "finance")
    client.force_login(ben)
    request("newer", created_at=make.ago(minutes=1))
    request("older", created_at=make.ago(hours=5))
    request("of others", group="legal")
    response = read(client)
    assert numbers(response)["Needs you"] == 2
    assert [each.title for each in response.context["page"].waiting] == ["older", "newer"]
    assert b"Waits for you" in response.content


def test_who_decides_nothing_sees_what_waits_for_others(client, ada) -> None:
    request("Refund 7?")
    page = read(client).content.decode()
    assert "Waits for approval" in page
    assert "Refund 7?" in page


def test_stuck_runs_come_before_others_that_need_an_operator(client, ada) -> None:
    make.parked(Park.DEADLINE, "parked", created_at=make.ago(days=1))
    make.stalled("stalled")
    make.stuck("stuck")
    rows = read(client).context["page"].troubled
    assert [each.row.run.title for each in rows] == ["stuck", "stalled", "parked"]


def test_a_run_that_a_stop_parked_leads_to_the_stops(client, ada) -> None:
    make.parked(Park.EMERGENCY_STOP)
    (trouble,) = read(client).context["page"].troubled
    assert (trouble.step.action, trouble.step.url) == ("Emergency stops", "/ledger/stops/")


def test_long_lists_are_cut_and_say_how_many_are_left(client, ada) -> None:
    for _ in range(7):
        make.parked(Park.DEADLINE)
    response = read(client)
    assert len(response.context["page"].troubled) == 5
    assert b"2 more" in response.content


def test_when_nothing_happens_all_is_quiet(client, ada) -> None:
    well()
    make.run(status=Status.SUCCEEDED)
    page = read(client).content.decode()
    assert "All quiet" in page
    assert "The last run finished" in page


@pytest.mark.parametrize("name", ["Ada", "Ben", "Cy", "Rut"])
def test_everybody_in_a_group_has_an_overview(client, name) -> None:
    client.force_login(person(name))
    assert len(read(client).context["page"].numbers) == 4


def test_who_may_see_nothing_is_told_how_that_can_change(client) -> None:
    make.stuck("Secret")
    client.force_login(person("Dee"))
    page = read(client).content.decode()
    assert "You may see nothing yet" in page
    assert "Secret" not in page


def test_missing_workers_and_a_quiet_sweeper_are_shown(client, ada) -> None:
    page = read(client).content.decode()
    assert "none alive" in page
    assert "has never run" in page
    assert "All quiet" not in page


@pytest.mark.parametrize("who", ["Ada", "Ben", "Cy", "Eve"])
def test_whoever_looks_the_database_is_asked_few_questions(client, who) -> None:
    group = {"Eve": (groups.ADMIN, "finance")}.get(who, ("finance",) if who == "Ben" else ())
    client.force_login(person(who, *group))
    make.stuck()
    effect(make.parked(Park.EFFECT_IN_DOUBT))
    request()
    read(client)  # requests that have not changed are read once
    with CaptureQueriesContext(connection) as captured:
        read(client)
    assert len(captured) < 25


def test_the_number_of_queries_does_not_grow_with_the_runs(client, ada) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as captured:
            read(client)
        return len(captured)

    make.stuck()
    request()
    few = cost()
    for _ in range(6):
        make.stuck()
        make.running()
        request()
    assert cost() <= few + 1


def test_a_poll_answers_with_the_numbers_alone(client, ada) -> None:
    response = client.get("/", headers={"HX-Request": "true"})
    assert b"<html" not in response.content
    assert b"Waiting for approval" in response.content


# --- the chart ------------------------------------------------------------------------------------


def test_runs_are_counted_by_the_hour_in_which_they_ended() -> None:
    now = timezone.now()
    hour = now.replace(minute=0, second=0, microsecond=0)
    for ended, status in (
        (hour, Status.SUCCEEDED),
        (hour - timedelta(minutes=1), Status.SUCCEEDED),
        (hour - timedelta(minutes=2), Status.FAILED),
        (hour - timedelta(hours=23), Status.CANCELLED),
        (hour - timedelta(hours=23, minutes=1), Status.SUCCEEDED),
    ):
        make.run(status=status, ended_at=ended, created_at=make.ago(days=3))
    chart = outcomes.last_day(now, Run.objects.all())
    assert [state.value for state in chart.states] == ["failed", "cancelled", "succeeded"]
    assert chart.totals == (1, 1, 2)
    assert [bar.counts for bar in chart.bars if bar.total] == [(0, 1, 0), (1, 0, 1), (0, 0, 1)]
    assert chart.bars[-1].counts == (0, 0, 1)


def test_hours_are_those_of_the_readers_clock() -> None:
    make.run(status=Status.SUCCEEDED, ended_at=make.ago(minutes=5))
    with timezone.override(ZoneInfo("Asia/Kolkata")):  # half an hour off everybody else
        chart = outcomes.last_day(timezone.now(), Run.objects.all())
    assert chart.total == 1
    assert chart.bars[0].hour.utcoffset() == timedelta(hours=5, minutes=30)


HOUR = datetime(2026, 11, 29, 15, tzinfo=UTC)


def draw(*rows: tuple[int, int, int]) -> outcomes.Chart:
    """Failed, cancelled, succeeded for each hour."""
    hours = [HOUR + timedelta(hours=number) for number in range(len(rows))]
    counts = {
        (hour.timestamp(), status.value): count
        for hour, row in zip(hours, rows, strict=True)
        for status, count in zip(outcomes.ORDER, row, strict=True)
    }
    return outcomes.draw(counts, hours)


def test_the_busiest_hour_is_as_high_as_the_chart_and_others_in_proportion() -> None:
    chart = draw((0, 0, 8), (0, 0, 2), (0, 0, 0))
    assert chart.most == 8
    assert [sum(block.height for block in bar.blocks) for bar in chart.bars] == pytest.approx(
        [outcomes.BASE, outcomes.BASE / 4, 0], abs=0.1
    )


def test_what_failed_stands_on_the_base_line() -> None:
    (bar,) = draw((1, 1, 2)).bars
    failed, cancelled, succeeded = bar.blocks
    assert failed.y + failed.height == pytest.approx(outcomes.BASE)
    assert cancelled.y + cancelled.height == pytest.approx(failed.y)
    assert succeeded.y + succeeded.height == pytest.approx(cancelled.y)


def test_one_failure_among_many_can_be_seen() -> None:
    (bar,) = draw((1, 0, 5000)).bars
    assert bar.blocks[0].height == outcomes.LOWEST


def test_an_empty_day_is_drawn_empty() -> None:
    chart = draw((0, 0, 0), (0, 0, 0))
    assert (chart.total, chart.most, [bar.blocks for bar in chart.bars]) == (0, 0, [(), ()])
