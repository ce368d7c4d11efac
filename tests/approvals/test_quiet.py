"""Quiet hours and waves: when somebody is told, also on the nights on which clocks are changed."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from approvals.notices import timing
from approvals.notices.quiet import Quiet
from approvals.notices.timing import Habits

BERLIN = ZoneInfo("Europe/Berlin")
MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def quiet(start: str, end: str, zone: ZoneInfo = BERLIN) -> Quiet:
    return Quiet(start=time.fromisoformat(start), end=time.fromisoformat(end), zone=zone)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("start", "end", "moment", "ends"),
    [
        # a winter night over midnight: Berlin is one hour ahead
        ("22:00", "07:00", "2026-11-29T20:59", None),
        ("22:00", "07:00", "2026-11-29T21:00", "2026-11-30T06:00"),
        ("22:00", "07:00", "2026-11-30T05:59", "2026-11-30T06:00"),
        ("22:00", "07:00", "2026-11-30T06:00", None),
        # within one day
        ("12:00", "13:00", "2026-11-30T11:30", "2026-11-30T12:00"),
        ("12:00", "13:00", "2026-11-30T12:00", None),
        # the short night: 02:00 becomes 03:00
        ("22:00", "07:00", "2027-03-27T21:00", "2027-03-28T05:00"),
        ("22:00", "02:30", "2027-03-28T00:30", "2027-03-28T01:30"),
        ("02:30", "04:00", "2027-03-28T01:29", None),
        ("02:30", "04:00", "2027-03-28T01:30", "2027-03-28T02:00"),
        # the long night: 03:00 becomes 02:00
        ("22:00", "07:00", "2026-10-24T20:00", "2026-10-25T06:00"),
        ("22:00", "02:30", "2026-10-25T00:29", "2026-10-25T00:30"),
        ("22:00", "02:30", "2026-10-25T01:10", None),
        ("02:30", "03:30", "2026-10-25T01:10", "2026-10-25T02:30"),
    ],
)
def test_quiet_ends_when_the_clock_on_the_wall_says_so(start, end, moment, ends):
    assert quiet(start, end).until(utc(moment)) == (ends and utc(ends))


def test_no_moment_of_a_year_is_told_to_wait_for_the_past_or_for_more_than_a_night():
    night = quiet("23:30", "06:45", ZoneInfo("America/New_York"))
    moment = utc("2026-01-01T00:00")
    while moment < utc("2027-01-01T00:00"):
        ends = night.until(moment)
        assert ends is None or moment < ends <= moment + timedelta(hours=8, minutes=15)
        assert ends is None or night.until(ends) is None
        moment += timedelta(minutes=37)


NIGHT = quiet("22:00", "07:00")
NOW = utc("2026-11-29T23:00")
MORNING = utc("2026-11-30T06:00")


def test_news_waits_for_the_window_and_for_the_morning():
    assert Habits(window=MINUTE).when(NOW) == NOW + MINUTE
    assert Habits(window=MINUTE, quiet=NIGHT).when(NOW) == MORNING


@pytest.mark.parametrize(
    ("deadline", "wakes", "at"),
    [
        (MORNING - HOUR, True, NOW + MINUTE),
        (MORNING, True, NOW + MINUTE),
        (MORNING - HOUR, False, MORNING),
        (MORNING + HOUR, True, MORNING),
        (None, True, MORNING),
    ],
)
def test_only_what_cannot_wait_comes_through_in_the_night(deadline, wakes, at):
    habits = Habits(window=MINUTE, quiet=NIGHT, wakes=wakes)
    assert habits.when(NOW, deadline=deadline) == at


def test_a_window_that_is_longer_than_the_question_is_cut_short():
    habits = Habits(window=HOUR)
    assert habits.when(NOW, deadline=NOW + HOUR) == NOW + 30 * MINUTE
    assert habits.when(NOW, deadline=NOW + 3 * HOUR) == NOW + HOUR
    assert habits.when(NOW, deadline=NOW - HOUR) == NOW


def test_what_comes_while_a_mail_is_open_goes_with_it_and_does_not_put_it_off():
    habits = Habits(window=HOUR)
    first = habits.when(NOW)
    assert habits.when(NOW + 50 * MINUTE, under_way=first) == first
    assert habits.when(NOW + 61 * MINUTE, under_way=None) == NOW + 121 * MINUTE


def test_a_group_is_called_in_waves(settings):
    settings.APPROVALS_NOTICE_WAVE = 5
    settings.APPROVALS_NOTICE_WAVE_APART = 2 * MINUTE
    later = timing.waves("r1", range(12), left=timedelta(days=1))
    assert sorted(later.values()) == [0 * MINUTE] * 5 + [2 * MINUTE] * 5 + [4 * MINUTE] * 2
    assert timing.waves("r1", range(5), left=HOUR) == dict.fromkeys(range(5), 0 * MINUTE)
    assert timing.waves("r1", [], left=HOUR) == {}


def test_another_request_calls_others_first(settings):
    settings.APPROVALS_NOTICE_WAVE = 2
    firsts = {
        tuple(sorted(user for user, wait in timing.waves(n, range(10), left=HOUR).items()
                     if not wait))
        for n in range(20)
    }  # fmt: skip
    assert len(firsts) > 5
    assert timing.waves("r", range(10), left=HOUR) == timing.waves("r", range(10), left=HOUR)


def test_everybody_has_been_called_within_a_quarter_of_the_time(settings):
    settings.APPROVALS_NOTICE_WAVE = 1
    settings.APPROVALS_NOTICE_WAVE_APART = 10 * MINUTE
    assert max(timing.waves("r", range(9), left=HOUR).values()) == 15 * MINUTE
    assert max(timing.waves("r", range(9), left=-HOUR).values()) == 0 * MINUTE
