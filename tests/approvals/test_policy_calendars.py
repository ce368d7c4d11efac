"""Deadlines in working hours and by the clock on the wall, over both changes of the clocks."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from approvals.policies import calendars, lengths
from approvals.policies.calendars import At, Hours
from approvals.policies.rule import Policy

BERLIN = "Mon-Fri 09:00-17:00 Europe/Berlin"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("asked", "length", "due"),
    [
        # 2026-07-03 is a Friday; Berlin is two hours ahead.
        ("2026-07-03 08:00", "2h", "2026-07-03 10:00"),
        ("2026-07-03 14:00", "2h", "2026-07-06 08:00"),  # an hour on Friday, one on Monday
        ("2026-07-03 14:00", "1h", "2026-07-03 15:00"),  # ends with the working day
        ("2026-07-04 12:00", "1h", "2026-07-06 08:00"),  # asked on Saturday
        ("2026-07-03 03:00", "1h", "2026-07-03 08:00"),  # asked at night
        ("2026-07-03 08:00", "40h", "2026-07-10 08:00"),  # a working week
        # The clocks go forward on Sunday 2026-03-29, back on Sunday 2026-10-25.
        ("2026-03-27 15:00", "2h", "2026-03-30 08:00"),
        ("2026-10-23 14:00", "2h", "2026-10-26 09:00"),
    ],
)
def test_a_length_counts_only_while_people_work(asked, length, due):
    assert Hours.parse(BERLIN).add(utc(asked), lengths.parse(length)) == utc(due)


@pytest.mark.parametrize(
    ("hours", "asked", "length", "due"),
    [
        # At night, over the hour that does not exist and the one that comes twice.
        ("Mon-Sun 00:00-06:00 Europe/Berlin", "2026-03-28 23:30", "4h", "2026-03-29 03:30"),
        ("Mon-Sun 00:00-06:00 Europe/Berlin", "2026-03-28 23:30", "5h", "2026-03-29 22:30"),
        ("Mon-Sun 00:00-06:00 Europe/Berlin", "2026-10-24 22:00", "7h", "2026-10-25 05:00"),
        ("Mon-Sun 00:00-24:00 Europe/Berlin", "2026-03-28 12:00", "24h", "2026-03-29 12:00"),
        ("Sat-Sun 10:00-12:00 Asia/Tokyo", "2026-07-03 00:00", "3h", "2026-07-05 02:00"),
        ("Mon 09:00-24:00 America/New_York", "2026-07-06 13:00", "16h", "2026-07-13 14:00"),
    ],
)
def test_lengths_are_real_time_when_the_clocks_change(hours, asked, length, due):
    assert Hours.parse(hours).add(utc(asked), lengths.parse(length)) == utc(due)


@pytest.mark.parametrize(
    ("at", "asked", "due"),
    [
        ("17:00", "2026-07-03 08:00", "2026-07-03 15:00"),
        ("17:00", "2026-07-03 15:00", "2026-07-06 15:00"),  # at that very moment: the next day
        ("17:00", "2026-07-04 08:00", "2026-07-06 15:00"),  # on Saturday
        ("17:00 +1", "2026-07-03 08:00", "2026-07-06 15:00"),
        ("12:00 +3", "2026-07-02 23:00", "2026-07-08 10:00"),  # Friday by now in Berlin
        ("17:00 +1", "2026-03-27 08:00", "2026-03-30 15:00"),  # summer time since
        ("17:00", "2026-03-27 08:00", "2026-03-27 16:00"),  # not yet
        ("17:00 +1", "2026-10-23 08:00", "2026-10-26 16:00"),
    ],
)
def test_a_time_of_day_falls_on_working_days_in_its_zone(at, asked, due):
    assert At.parse(at).after(utc(asked), Hours.parse(BERLIN)) == utc(due)


def test_a_time_that_the_clocks_skip_is_after_the_gap_and_one_that_comes_twice_the_earlier():
    every = "Mon-Sun 00:00-24:00 Europe/Berlin"
    skipped = At.parse("02:30").after(utc("2026-03-28 23:30"), Hours.parse(every))
    assert skipped == utc("2026-03-29 01:30")
    twice = At.parse("02:30").after(utc("2026-10-24 22:30"), Hours.parse(every))
    assert twice == utc("2026-10-25 00:30")


@pytest.mark.parametrize(
    "text",
    [
        *("", "Mon-Fri", "Mon-Fri 09:00-17:00", "Mon-Fri 17:00-09:00 UTC", "Mon-Fri 9-17 UTC"),
        *("Foo-Fri 09:00-17:00 UTC", "Mon-Fri 09:00-25:00 UTC", "Mon-Fri 09:00-17:00 Nowhere"),
        *("Mon-Fri 09:00-17:61 UTC", 7),
    ],
)
def test_what_are_no_working_hours_is_refused(text):
    with pytest.raises(ValueError, match=r"\w+"):
        Hours.parse(text)


@pytest.mark.parametrize("text", ["", "17", "5pm", "17:00 tomorrow", "24:30", "17:00 +x", None])
def test_what_is_no_time_of_day_is_refused(text):
    with pytest.raises(ValueError, match=r"\w+"):
        At.parse(text)


moments = st.integers(0, 366 * 24 * 60).map(
    lambda minutes: utc("2026-01-01 00:00") + timedelta(minutes=minutes)
)
hours = st.builds(
    lambda days, opens, length, zone: Hours(
        days=tuple(sorted(days)),
        opens=time(opens),
        closes=time((opens + length) % 24),
        zone=zone,
    ),
    st.sets(st.integers(0, 6), min_size=1),
    st.integers(0, 22),
    st.integers(1, 1),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
)
some = st.integers(1, 40 * 60).map(lambda minutes: timedelta(minutes=minutes))


@given(hours, moments, some, some)
def test_working_time_adds_up_and_never_runs_backwards(worked, start, one, more):
    first = worked.add(start, one)
    assert first >= start + one
    assert worked.add(first, more) == worked.add(start, one + more)


@given(hours)
def test_working_hours_are_read_back_as_they_were_written(worked):
    assert Hours.parse(str(worked)) == worked


@given(moments, st.times().map(lambda each: each.replace(second=0, microsecond=0)), hours)
def test_a_time_of_day_always_lies_ahead(start, at, worked):
    due = At(at=at).after(start, worked)
    assert start < due <= start + timedelta(days=9)


@given(st.integers(1, 10**9).map(lambda each: timedelta(milliseconds=each * 10)))
def test_a_length_is_read_back_as_it_was_written(length):
    if length >= lengths.SHORTEST:
        assert lengths.parse(lengths.written(length)) == length


def test_a_length_is_told_in_the_words_of_the_reader():
    length = timedelta(days=1, minutes=90)
    assert lengths.told(length) == lengths.written(length) == "1d 1h 30m"
    with translation.override("de"):
        assert lengths.told(length) == "1 d 1 h 30 min"


@pytest.mark.parametrize("text", ["", "5", "m", "1w", "-1h", "0s", "9999d", "1h x", "٣h m"])
def test_what_is_no_length_is_refused(text):
    with pytest.raises(ValueError, match=r"length of time|from one second"):
        lengths.parse(text)


def test_without_working_hours_a_deadline_counts_around_the_clock():
    rule = Policy(name="p", group="g", deadline=timedelta(hours=3))
    assert rule.due(utc("2026-07-03 22:00")) == utc("2026-07-04 01:00")
    by_day = Policy(name="p", group="g", deadline_at=At.parse("17:00"))
    assert by_day.due(utc("2026-07-04 08:00")) == utc("2026-07-04 17:00")


def test_days_are_named_as_people_name_them():
    assert str(Hours.parse("Mon,Tue,Wed,Thu,Fri 9:00-17:00 UTC")).startswith("Mon-Fri 09:00")
    assert Hours.parse("Fri-Mon 09:00-17:00 UTC").days == (0, 4, 5, 6)
    assert calendars.EVERY_DAY.days == tuple(range(7))
