"""Moments that people type into filters: whatever they write, a page says something of it."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from accounts.moments import MomentField
from tests.support.people import person

LISTS = (
    ("/runs/", ("started_from", "started_until", "ended_from", "ended_until")),
    ("/audit/", ("start", "end")),
    ("/ledger/", ("since", "until")),
)
ABSURD = (
    "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00",
    "2026-01-01T12:00+23:59",
    "1e9",
    "\u0663",
)


def test_a_moment_is_read_on_the_readers_clock() -> None:
    with timezone.override(zoneinfo.ZoneInfo("Asia/Kolkata")):
        assert MomentField().clean("2026-01-31T16:00") == datetime(2026, 1, 31, 10, 30, tzinfo=UTC)


@pytest.mark.parametrize("typed", ["0001-01-01T00:00", "9999-12-31T23:59", "9999-12-31T23:59Z"])
@pytest.mark.parametrize("zone", ["America/Lima", "UTC", "Asia/Kolkata"])
def test_a_moment_at_the_end_of_the_calendar_is_refused_in_words(typed, zone) -> None:
    with timezone.override(zoneinfo.ZoneInfo(zone)), pytest.raises(ValidationError, match="Write"):
        MomentField().clean(typed)


@pytest.mark.django_db
@pytest.mark.parametrize(("page", "names"), LISTS)
@pytest.mark.parametrize("zone", ["America/Lima", "Asia/Kolkata"])
def test_no_moment_in_an_address_breaks_a_list(client, page, names, zone) -> None:
    client.force_login(person("Rut", time_zone=zone))
    answers = {
        (name, typed): client.get(page, {name: typed}).status_code
        for name in names
        for typed in ABSURD
    }
    assert set(answers.values()) == {200}
