"""Quiet hours: the part of a day in which a person is told nothing, by the clock on their wall.

Start and end are times of day in the person's zone. On the nights on which clocks are changed the
interval is as long as it is then: a time of day that is left out counts as if the clock had not
been changed, one that comes twice counts the first time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """From `start` to `end` of every day; over midnight where the end comes before the start."""

    start: time
    end: time
    zone: ZoneInfo

    def until(self, moment: datetime) -> datetime | None:
        """When the quiet ends that `moment` lies in; None if it lies in none."""
        today = moment.astimezone(self.zone).date()
        for day in (today - DAY, today):
            begins = self._at(day, self.start)
            ends = self._at(day if self.start < self.end else day + DAY, self.end)
            if begins <= moment < ends:
                return ends
        return None

    def _at(self, day: date, clock: time) -> datetime:
        return datetime.combine(day, clock, self.zone).astimezone(UTC)
