"""The geometry of the timeline: numbers only."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.timeline import drawing
from runs.timeline.drawing import FOLD, LEFT, MOST_LANES, NARROWEST, RIGHT, Drive, Lane, Mark, draw

START = datetime(2026, 11, 29, 15, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def drive(start: float, end: float, **more) -> Drive:
    return Drive(start=at(start), end=at(end), **more)


def lane(label: str, start: float, end: float, **more) -> Lane:
    return Lane(label=label, start=at(start), end=at(end), **more)


def chart(lanes, drives, marks=(), *, end: float, zero: float = 0):
    return draw(lanes, drives, marks, start=START, end=at(end), zero=at(zero))


def test_work_is_drawn_where_and_as_long_as_it_happened() -> None:
    drawn = chart([lane("a", 0, 25), lane("b", 25, 100)], [drive(0, 100)], end=100)
    first, second = (row.bars[0] for row in drawn.rows)
    whole = RIGHT - LEFT
    assert (first.x, first.width) == (LEFT, pytest.approx(whole / 4))
    assert (second.x, second.width) == (
        pytest.approx(LEFT + whole / 4),
        pytest.approx(whole * 0.75),
    )
    assert [row.worked for row in drawn.rows] == [timedelta(seconds=25), timedelta(seconds=75)]


def test_a_step_ends_in_a_diamond_only_if_it_was_saved() -> None:
    drawn = chart([lane("a", 0, 50), lane("b", 50, 100, saved=False)], [drive(0, 100)], end=100)
    assert [point.x for point in drawn.rows[0].diamonds] == [LEFT + (RIGHT - LEFT) / 2]
    assert drawn.rows[1].diamonds == []


def test_waiting_between_two_drives_is_a_box_in_the_tone_of_what_is_waited_for() -> None:
    drives = [drive(0, 40, rest="human", why="waits for a person"), drive(60, 100)]
    row = chart([lane("gate", 0, 100)], drives, end=100).rows[0]
    assert [(box.tone, box.label) for box in row.waits] == [("human", "waits for a person")]
    assert row.worked == timedelta(seconds=80)
    assert row.waited == timedelta(seconds=20)
    assert row.waits[0].x == pytest.approx(row.bars[0].x + row.bars[0].width)


def test_time_before_the_first_drive_waits_for_a_worker() -> None:
    row = chart([lane("queue", 0, 10, saved=False)], [drive(10, 100)], end=100).rows[0]
    assert [box.label for box in row.waits] == ["waits for a worker"]


def test_a_long_wait_is_folded_and_says_how_long_it_was() -> None:
    drives = [drive(0, 60), drive(86_400, 86_460)]
    drawn = chart([lane("gate", 0, 86_460)], drives, end=86_460)
    assert [fold.length for fold in drawn.folds] == [timedelta(seconds=86_340)]
    assert drawn.folds[0].width == FOLD
    first, second = drawn.rows[0].bars
    assert first.width == pytest.approx((RIGHT - LEFT - FOLD) / 2)
    assert second.x == pytest.approx(drawn.folds[0].x + FOLD)


def test_a_short_wait_is_not_folded() -> None:
    assert chart([], [drive(0, 80), drive(100, 180)], end=180).folds == []


def test_waiting_that_folding_another_made_wide_is_folded_as_well() -> None:
    # 35 s of 10 000 s are nothing, but much of the 125 s that are left.
    drives = [drive(0, 30), drive(65, 95), drive(10_000, 10_030)]
    assert len(chart([], drives, end=10_030).folds) == 2


def test_a_run_that_only_waits_is_not_folded_away() -> None:
    drawn = chart([lane("queue", 0, 900, saved=False)], [], end=900)
    assert drawn.folds == []
    assert drawn.rows[0].waits[0].width == pytest.approx(RIGHT - LEFT)


def test_a_drive_that_raised_is_bad_only_in_the_step_it_left_unfinished() -> None:
    drives = [drive(0, 50, tone="bad"), drive(60, 100)]
    done, retried = chart([lane("a", 0, 30), lane("b", 30, 100)], drives, end=100).rows
    assert [bar.tone for bar in done.bars] == ["ok"]
    assert [bar.tone for bar in retried.bars] == ["bad", "ok"]


def test_a_lost_worker_is_marked_where_it_gave_its_last_sign() -> None:
    drives = [drive(0, 40, lost=True, rest="warn"), drive(70, 100)]
    row = chart([lane("a", 0, 100)], drives, end=100).rows[0]
    assert [point.x for point in row.crosses] == [pytest.approx(row.bars[0].x + row.bars[0].width)]


def test_nothing_is_too_narrow_to_see() -> None:
    row = chart([lane("a", 0, 0.001), lane("b", 0.001, 1000)], [drive(0, 1000)], end=1000).rows[0]
    assert row.bars[0].width == NARROWEST


def test_marks_are_put_on_the_step_that_was_under_way() -> None:
    marks = [Mark(at=at(75), tone="ok", label="refund"), Mark(at=at(500), tone="ok", label="late")]
    drawn = chart([lane("a", 0, 50), lane("b", 50, 100)], [drive(0, 100)], marks, end=100)
    assert drawn.rows[0].dots == []
    assert [dot.label for dot in drawn.rows[1].dots] == ["refund"]


def test_many_steps_are_grouped_by_name_with_their_number() -> None:
    lanes = [lane("model" if n % 2 else "tools", n, n + 1) for n in range(MOST_LANES + 2)]
    drawn = chart(lanes, [drive(0, MOST_LANES + 2)], end=MOST_LANES + 2)
    half = (MOST_LANES + 2) // 2
    assert {row.label for row in drawn.rows} == {
        f"{name} \N{MULTIPLICATION SIGN}{half}" for name in ("model", "tools")
    }
    assert all(len(row.bars) == half and not row.diamonds for row in drawn.rows)


def test_few_steps_keep_a_row_each_although_they_share_a_name() -> None:
    assert len(chart([lane("a", 0, 1), lane("a", 1, 2)], [drive(0, 2)], end=2).rows) == 2


def test_ticks_are_round_and_apart_and_count_from_zero() -> None:
    ticks = chart([], [drive(0, 134)], end=134).ticks
    assert [tick.after.total_seconds() for tick in ticks][:3] == [0, 15, 30]
    assert all(b.x - a.x > 50 for a, b in pairwise(ticks))
    later = chart([], [drive(0, 100)], end=100, zero=-3600).ticks
    assert later[0].after >= timedelta(hours=1)


def test_no_tick_hides_the_length_of_a_fold() -> None:
    drawn = chart([], [drive(0, 60), drive(9000, 9060)], end=9060)
    (fold,) = drawn.folds
    assert all(tick.x < fold.x or tick.x > fold.x + fold.width for tick in drawn.ticks)


@pytest.mark.parametrize(
    ("after", "step", "label"),
    [
        (0, 15, "0 s"),
        (5, 5, "5 s"),
        (0.5, 0.5, "0.5 s"),
        (12.4, 0.2, "12.4 s"),
        (0.002, 0.002, "0.002 s"),
        (60, 15, "1m 00s"),
        (62.4, 0.2, "1m 02.4s"),
        (119.99, 5, "2m 00s"),
        (3600, 600, "1h 00m"),
        (3785, 5, "1h 03m 05s"),
        (90000, 3600, "1d 1h"),
        (90060, 60, "1d 1h 01m"),
    ],
)
def test_a_tick_says_as_much_as_its_step_needs(after, step, label) -> None:
    assert drawing._label(timedelta(seconds=after), step) == label


@pytest.mark.parametrize("length", [0.4, 3, 14, 41, 134, 4000, 100_000])
def test_no_two_ticks_say_the_same(length) -> None:
    gap = [drive(0, length / 9), drive(length * 0.9, length)]
    for drives in ([drive(0, length)], gap):
        labels = [tick.label for tick in chart([], drives, end=length).ticks]
        assert len(labels) == len(set(labels))
        assert all(labels)


moments = st.floats(min_value=0, max_value=1e6, allow_nan=False)


@given(st.lists(st.tuples(moments, moments).map(sorted), max_size=8), moments, moments)
def test_time_never_runs_backwards_and_stays_in_the_plot(spans, one, other) -> None:
    drives = [drive(*span, rest="human") for span in spans]
    scale = drawing._scale(drawing._idle(drives, START, at(1e6)), START, at(1e6))
    early, late = sorted((one, other))
    assert LEFT - 0.01 <= scale.x(at(early)) <= scale.x(at(late)) + 0.01 <= RIGHT + 0.02


def test_a_run_without_any_time_is_drawn() -> None:
    assert chart([lane("a", 0, 0)], [drive(0, 0)], end=0).rows[0].bars[0].width == NARROWEST
