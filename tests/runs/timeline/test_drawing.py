"""What a chart draws of lanes and drives: numbers only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from runs.story import Mark, Span, Stage
from runs.timeline.drawing import MOST_ROWS, NARROWEST, draw
from runs.timeline.drives import Drive
from runs.timeline.lanes import Lane
from runs.timeline.scale import FOLD, WIDTH

START = datetime(2026, 11, 29, 15, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def drive(start: float, end: float, **more) -> Drive:
    expired = more.pop("expired", None)
    more["expired"] = None if expired is None else at(expired)
    return Drive(start=at(start), end=at(end), **more)


def lane(label: str, start: float, end: float, **more) -> Lane:
    return Lane(label=label, start=at(start), end=at(end), **more)


def chart(lanes, drives, *, end: float):
    return draw(lanes, drives, start=START, end=at(end))


def rows(lanes, drives, *, end: float):
    """Without that of the lease."""
    return chart(lanes, drives, end=end).rows[1:]


def test_work_is_drawn_where_and_as_long_as_it_happened() -> None:
    drawn = rows([lane("a", 0, 25), lane("b", 25, 100)], [drive(0, 100)], end=100)
    first, second = (row.bars[0] for row in drawn)
    assert (first.x, first.width) == (0, pytest.approx(25))
    assert (second.x, second.width) == (pytest.approx(25), pytest.approx(75))
    assert [row.worked for row in drawn] == [timedelta(seconds=25), timedelta(seconds=75)]


def test_a_step_ends_in_a_diamond_only_if_it_was_saved() -> None:
    one, two = rows([lane("a", 0, 50), lane("b", 50, 100, saved=False)], [drive(0, 100)], end=100)
    assert [point.x for point in one.diamonds] == [50]
    assert two.diamonds == []


def test_waiting_between_two_drives_is_a_box_in_the_tone_of_what_is_waited_for() -> None:
    drives = [drive(0, 40, rest="human", why="waits for a person"), drive(60, 100)]
    (row,) = rows([lane("gate", 0, 100)], drives, end=100)
    assert [(box.tone, box.label) for box in row.waits] == [("human", "waits for a person")]
    assert (row.worked, row.waited) == (timedelta(seconds=80), timedelta(seconds=20))
    assert row.waits[0].x == pytest.approx(row.bars[0].end)


def test_a_wait_is_folded_the_same_in_every_row() -> None:
    drives = [drive(0, 60), drive(86_400, 86_460)]
    drawn = chart([lane("gate", 0, 86_460)], drives, end=86_460)
    first, second = drawn.rows[1].bars
    assert first.width == pytest.approx((WIDTH - FOLD) / 2)
    assert second.x == pytest.approx(drawn.folds[0].end)
    assert [bar.x for bar in drawn.rows[0].bars] == [first.x, second.x]


def test_a_drive_that_raised_is_bad_only_in_the_step_it_left_unfinished() -> None:
    drives = [drive(0, 50, tone="bad"), drive(60, 100)]
    done, retried = rows([lane("a", 0, 30), lane("b", 30, 100)], drives, end=100)
    assert [bar.tone for bar in done.bars] == ["ok"]
    assert [bar.tone for bar in retried.bars] == ["bad", "ok"]


def test_the_lease_of_a_lost_worker_keeps_others_away_until_it_has_run_out() -> None:
    lost = drive(0, 20, tone="warn", rest="warn", why="lost", lost=True, expired=50, outcome="lost")
    (lease,) = chart([], [lost, drive(80, 100)], end=100).rows
    assert [(box.label, box.width) for box in lease.waits] == [
        ("no sign of the worker, whose lease has not run out yet", pytest.approx(30 * FOLD / 60)),
        ("lost", pytest.approx(30 * FOLD / 60)),
    ]
    assert [point.x for point in lease.crosses] == [pytest.approx(lease.bars[0].end)]


def test_the_lease_names_fence_and_worker_where_there_is_room() -> None:
    holds = {"holder": "w@a:1", "outcome": "finished"}
    (lease,) = chart(
        [], [drive(0, 2, fence=1, **holds), drive(2, 100, fence=2, **holds)], end=100
    ).rows
    assert [bar.short for bar in lease.bars] == ["", "Fence 2, w@a:1"]
    assert lease.bars[0].label == "Fence 1, w@a:1: Finished"


def test_a_run_that_nobody_took_has_no_lease_to_show() -> None:
    (row,) = chart([lane("queue", 0, 10, saved=False)], [], end=10).rows
    assert [box.label for box in row.waits] == ["waits for a worker"]


def test_nothing_is_too_narrow_to_see_or_beyond_the_edge() -> None:
    lanes = [lane("a", 0, 0.001), lane("b", 0.001, 1000), lane("c", 1000, 1000)]
    first, _second, last = rows(lanes, [drive(0, 1000)], end=1000)
    assert first.bars[0].width == NARROWEST
    assert last.bars[0].end <= WIDTH


def test_a_span_is_drawn_by_its_own_stages_whoever_drove() -> None:
    stages = (
        Stage(start=at(10), end=at(30), tone="warn", label="Unknown"),
        Stage(start=at(30), end=None, tone="warn", label="nobody knows", idle=True),
    )
    marks = (Mark(at=at(60), tone="ok", label="told"), Mark(at=at(500), tone="ok", label="later"))
    span = Span(title="pay", kind="effects", stages=stages, marks=marks, url="/ledger/1/")
    (row,) = rows([lane("pay", 10, 100, span=span)], [drive(0, 20)], end=100)
    assert (row.kind, row.href) == ("effects", "/ledger/1/")
    assert [bar.tone for bar in row.bars] == ["warn"]
    assert row.waited == timedelta(seconds=70)
    assert [dot.label for dot in row.dots] == ["told"]


def test_what_stands_below_a_step_is_deeper() -> None:
    tree = lane("a", 0, 9, below=[lane("b", 0, 5, below=[lane("c", 1, 2)]), lane("d", 5, 9)])
    found = [(row.label, row.depth) for row in rows([tree], [drive(0, 9)], end=9)]
    assert found == [("a", 0), ("b", 1), ("c", 2), ("d", 1)]


def test_many_steps_are_grouped_by_name_with_their_number() -> None:
    many = MOST_ROWS + 2
    lanes = [lane("model" if n % 2 else "tools", n, n + 1) for n in range(many)]
    drawn = rows(lanes, [drive(0, many)], end=many)
    assert [row.label for row in drawn] == [
        f"{name} \N{MULTIPLICATION SIGN}{many // 2}" for name in ("tools", "model")
    ]
    assert all(len(row.bars) == many // 2 and not row.diamonds for row in drawn)


def test_few_steps_keep_a_row_each_although_they_share_a_name() -> None:
    assert len(rows([lane("a", 0, 1), lane("a", 1, 2)], [drive(0, 2)], end=2)) == 2


def test_what_is_too_much_even_when_grouped_is_left_out_and_counted() -> None:
    lanes = [lane(f"n{n}", n, n + 1) for n in range(MOST_ROWS + 9)]
    drawn = chart(lanes, [drive(0, 100)], end=100)
    assert (len(drawn.rows), drawn.left_out) == (MOST_ROWS, 10)


def test_boxes_that_nobody_could_tell_apart_are_one() -> None:
    many = 3000
    lanes = [lane("a", n, n + 0.5) for n in range(many)]
    (row,) = rows(lanes, [drive(0, many)], end=many)
    assert len(row.bars) < 300
    assert row.bars[-1].end == pytest.approx(WIDTH, abs=0.5)


def test_a_run_without_any_time_is_drawn() -> None:
    (row,) = rows([lane("a", 0, 0)], [drive(0, 0)], end=0)
    assert row.bars[0].width == NARROWEST
