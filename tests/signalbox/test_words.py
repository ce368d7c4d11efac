"""How times, durations, sizes and money read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from signalbox import words

NOW = datetime(2026, 11, 29, 15, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ahead", "text"),
    [
        (timedelta(seconds=0), "just now"),
        (timedelta(seconds=-4), "just now"),
        (timedelta(seconds=-37), "37 s ago"),
        (timedelta(minutes=-3, seconds=-29), "3 min ago"),
        (timedelta(minutes=-3, seconds=-30), "4 min ago"),
        (timedelta(seconds=59.6), "in 1 min"),
        (timedelta(minutes=59, seconds=40), "in 1 h"),
        (timedelta(hours=23, minutes=59, seconds=58), "in 24 h"),
        (timedelta(hours=47, minutes=40), "in 2 days"),
        (timedelta(minutes=57), "in 57 min"),
        (timedelta(hours=-47), "47 h ago"),
        (timedelta(days=-2), "2 days ago"),
        (timedelta(days=400), "in 400 days"),
    ],
)
def test_relative_times(ahead, text) -> None:
    assert words.relative(NOW + ahead, NOW) == text


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (0.1124, "112 ms"),
        (4.2, "4.2 s"),
        (41, "41 s"),
        (timedelta(minutes=2, seconds=14), "2m 14s"),
        (timedelta(hours=5, minutes=3, seconds=59), "5h 03m"),
        (timedelta(days=3, hours=4), "3d 4h"),
        (timedelta(minutes=-4, seconds=-59), "0 ms"),
    ],
)
def test_durations(length, text) -> None:
    assert words.duration(length) == text


@pytest.mark.parametrize(
    ("count", "text"), [(312, "312 bytes"), (65536, "64 KB"), (2_200_000, "2.1 MB")]
)
def test_sizes(count, text) -> None:
    assert words.size(count) == text


@pytest.mark.parametrize(
    ("minor", "currency", "text"),
    [
        (12000, "EUR", "€120.00"),
        (5, "USD", "$0.05"),
        (-123456, "EUR", "\N{MINUS SIGN}€1,234.56"),
        (1200, "JPY", "¥1,200"),
        (1234, "KWD", "1.234 KWD"),
        (1234, "CHF", "12.34 CHF"),
        (10**40 + 1, "EUR", f"€{10**38:,}.01"),
    ],
)
def test_money_is_exact_and_knows_its_minor_units(minor, currency, text) -> None:
    assert words.money(minor, currency) == text
