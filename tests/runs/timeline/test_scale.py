"""Where moments are drawn, and which times the chart names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from runs.timeline import scale, ticks
from runs.timeline.scale import FOLD, WIDTH, Idle

START = datetime(2026, 11, 29, 15, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def made(end: float, *gaps: tuple[float, float]) -> scale.Scale:
    idle = [Idle(start=at(a), end=at(b), tone="human", why="waits") for a, b in gaps]
    return scale.make(idle, START, at(end))


def test_time_runs_from_nothing_to_the_whole_width() -> None:
    found = made(100)
    assert [found.x(at(s)) for s in (0, 25, 100)] == [0, pytest.approx(25), pytest.approx(WIDTH)]


def test_a_long_wait_is_folded_and_says_how_long_it_was() -> None:
    found = made(86_460, (60, 86_400))
    (fold,) = found.folds
    assert (fold.length, fold.width) == (timedelta(seconds=86_340), FOLD)
    assert fold.x == pytest.approx((WIDTH - FOLD) / 2)
    assert found.x(at(86_430)) == pytest.approx(fold.x + FOLD + (WIDTH - FOLD) / 4, abs=0.01)


def test_a_short_wait_is_not_folded() -> None:
    assert made(180, (80, 100)).folds == []


def test_waiting_that_folding_another_made_wide_is_folded_as_well() -> None:
    # 35 s of 10 000 s are nothing, but much of the 125 s that are left.
    assert len(made(10_030, (30, 65), (95, 10_000)).folds) == 2


def test_of_folds_that_are_close_the_longer_one_says_how_long_it_was() -> None:
    first, second, third = made(30_030, (10, 9_000), (9_003, 20_000), (20_020, 30_000)).folds
    assert (first.named, second.named, third.named) == (False, True, True)
    assert (first.major, second.major, third.major) == (False, True, third.x - second.x >= 45)


def test_a_run_that_only_waits_is_not_folded_away() -> None:
    assert made(900, (0, 900)).folds == []


def test_moments_outside_are_drawn_at_the_edges() -> None:
    found = made(10)
    assert [found.x(at(-5)), found.x(at(99))] == [0, pytest.approx(WIDTH)]


moments = st.floats(min_value=0, max_value=1e6, allow_nan=False)


@given(st.lists(moments, max_size=12, unique=True), moments, moments)
def test_time_never_runs_backwards_and_stays_in_the_plot(edges, one, other) -> None:
    ordered = sorted(edges)
    gaps = list(zip(ordered[::2], ordered[1::2], strict=False))
    found = made(1e6, *gaps)
    early, late = sorted((one, other))
    assert -0.001 <= found.x(at(early)) <= found.x(at(late)) + 0.001 <= WIDTH + 0.002


# --- ticks ----------------------------------------------------------------------------------------


def test_ticks_are_round_and_apart_and_count_from_zero() -> None:
    found = ticks.make(made(134), START)
    assert [tick.after.total_seconds() for tick in found][:3] == [0, 15, 30]
    assert all(b.x - a.x > 7 for a, b in pairwise(found))
    assert ticks.make(made(100), at(-3600))[0].after >= timedelta(hours=1)


def test_few_ticks_are_named_where_there_is_no_room() -> None:
    major = [tick for tick in ticks.make(made(134), START) if tick.major]
    assert 2 <= len(major) <= 4
    assert all(b.x - a.x >= ticks.BETWEEN_MAJOR for a, b in pairwise(major))


def test_no_tick_hides_the_length_of_a_fold() -> None:
    found = made(9060, (60, 9000))
    (fold,) = found.folds
    assert all(tick.x < fold.x or tick.x > fold.end for tick in ticks.make(found, START))


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
        (1800, 600, "30m"),
        (3600, 600, "1h 00m"),
        (3600, 3600, "1h"),
        (3785, 5, "1h 03m 05s"),
        (86400, 86400, "1d"),
        (86400, 3600, "1d"),
        (90000, 3600, "1d 1h"),
        (90060, 60, "1d 1h 01m"),
    ],
)
def test_a_tick_says_as_much_as_its_step_needs(after, step, label) -> None:
    assert ticks.label(timedelta(seconds=after), step) == label


@pytest.mark.parametrize(
    ("after", "step", "label"),
    [
        (0.5, 0.5, "0,5 s"),
        (62.4, 0.2, "1 min 02,4 s"),
        (1200, 600, "20 min"),
        (3785, 5, "1 h 03 min 05 s"),
        (90060, 60, "1 d 1 h 01 min"),
    ],
)
def test_a_tick_speaks_the_language_of_the_reader(after, step, label) -> None:
    with translation.override("de"):
        assert ticks.label(timedelta(seconds=after), step) == label


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_tick_touches_the_next(language) -> None:
    with translation.override(language):
        found = ticks.make(scale.make([], at(11_000), at(11_134)), START)
    assert len(found) > 2
    for one, other in pairwise(found):
        assert other.x - one.x >= (len(one.label) + len(other.label)) / 2 * ticks.SIGN


@pytest.mark.parametrize("length", [0.4, 3, 14, 41, 134, 4000, 100_000])
def test_no_two_ticks_say_the_same(length) -> None:
    for gaps in ((), ((length / 9, length * 0.9),)):
        labels = [tick.label for tick in ticks.make(made(length, *gaps), START)]
        assert len(labels) == len(set(labels))
        assert all(labels)


def test_labels_that_a_phone_shows_have_room_within_the_chart() -> None:
    for begins in range(0, 900, 7):
        found = scale.make([], at(begins), at(begins + 4_920))
        for tick in ticks.make(found, START):
            if tick.major and tick.anchor == "middle":
                assert ticks.EDGE_MAJOR <= tick.x <= 100 - ticks.EDGE_MAJOR
