"""Working hours, and times of day in a zone: when a deadline that is written so falls.

1. Working hours are written `Mon-Fri 09:00-17:00 Europe/Berlin`. A length of time then counts only
   while somebody works.
2. A time of day is written `17:00` (today, if that lies ahead on a working day; else on the next
   one) or `17:00 +2` (on the second working day after today).
3. Everything is worked out in the zone and on its own clock: a time that a change of the clocks
   skips is the moment after the gap, one that comes twice is the earlier. Lengths are real time.
"""

from __future__ import annotations

import re
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from accounts.speech import later

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
HOURS = re.compile(r"(\S+)\s+(\d{1,2}:\d{2})\s*-\s*(\d{1,2}:\d{2})\s+(\S+)")
AT = re.compile(r"(\d{1,2}:\d{2})(?:\s*\+\s*(\d{1,3}))?")
HOW = later("working hours such as Mon-Fri 09:00-17:00 Europe/Berlin")
HOW_AT = later("a time of day such as 17:00, or 17:00 +1 for the next working day")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hours:
    """When people work."""

    days: tuple[int, ...]
    """0 is Monday."""
    opens: time
    closes: time
    """Midnight is the end of the day."""
    zone: str

    @classmethod
    def parse(cls, text: object) -> Hours:
        """Raises ValueError, whose words say what is wrong."""
        if isinstance(text, Hours):
            return text
        found = HOURS.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise ValueError(later("“{text}” are not {how}.", text=str(text)[:100], how=HOW))
        opens, closes = _time(found[2]), _time(found[3])
        if opens >= closes and closes != time():
            raise ValueError(
                later(
                    "{found}-{found2}: the end must be after the beginning.",
                    found=found[2],
                    found2=found[3],
                )
            )
        return cls(days=_days(found[1]), opens=opens, closes=closes, zone=_zone(found[4]))

    def __str__(self) -> str:
        """The text that `parse` reads back."""
        return f"{_named(self.days)} {self.opens:%H:%M}-{self.closes:%H:%M} {self.zone}"

    def add(self, start: datetime, length: timedelta) -> datetime:
        """The moment at which `length` of working time has passed since `start`."""
        day = start.astimezone(_tz(self.zone)).date()
        left = length
        while True:
            opens, closes = self._on(day)
            begins = max(opens, start)
            if begins < closes:
                if left <= closes - begins:
                    return begins + left
                left -= closes - begins
            day = self.next_day(day)

    def next_day(self, day: date, count: int = 1) -> date:
        """The `count`-th working day after `day`."""
        while count:
            day += timedelta(days=1)
            count -= day.weekday() in self.days
        return day

    def _on(self, day: date) -> tuple[datetime, datetime]:
        """When work begins and ends on `day`; twice the same moment if nobody works then."""
        opens = moment(day, self.opens, self.zone)
        if day.weekday() not in self.days:
            return opens, opens
        ends = day + timedelta(days=1) if self.closes == time() else day
        return opens, moment(ends, self.closes, self.zone)


EVERY_DAY = Hours(days=tuple(range(7)), opens=time(), closes=time(), zone="UTC")


@dataclass(frozen=True, slots=True, kw_only=True)
class At:
    """A time of day, on the first working day on which it lies ahead or some days later."""

    at: time
    days: int = 0

    @classmethod
    def parse(cls, text: object) -> At:
        """Raises ValueError, whose words say what is wrong."""
        if isinstance(text, At):
            return text
        found = AT.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise ValueError(
                later("“{text}” is not {how_at}.", text=str(text)[:100], how_at=HOW_AT)
            )
        return cls(at=_time(found[1]), days=int(found[2] or 0))

    def __str__(self) -> str:
        return f"{self.at:%H:%M}" + (f" +{self.days}" if self.days else "")

    def after(self, start: datetime, hours: Hours) -> datetime:
        """The first such moment after `start`. Of `hours`, the days and the zone count."""
        day = start.astimezone(_tz(hours.zone)).date()
        if self.days:
            return moment(hours.next_day(day, self.days), self.at, hours.zone)
        due = moment(day, self.at, hours.zone)
        if day.weekday() in hours.days and due > start:
            return due
        return moment(hours.next_day(day), self.at, hours.zone)


def moment(day: date, at: time, zone: str) -> datetime:
    """When it is `at` in `zone` on `day`, in UTC."""
    local = datetime.combine(day, at, _tz(zone))
    # A time in the gap: the offset before it gives a moment after it, on the clock as it is then.
    return local.astimezone(UTC)


@lru_cache(maxsize=64)
def _tz(zone: str) -> ZoneInfo:
    return ZoneInfo(zone)


def _zone(name: str) -> str:
    if name not in zoneinfo.available_timezones():
        raise ValueError(
            later("“{name}” is not a time zone such as Europe/Berlin.", name=name[:100])
        )
    return name


def _time(text: str) -> time:
    hour, minute = map(int, text.split(":"))
    if (hour, minute) == (24, 0):
        return time()
    if hour > 23 or minute > 59:
        raise ValueError(later("{text} is not a time of day.", text=text))
    return time(hour, minute)


def _days(text: str) -> tuple[int, ...]:
    """Mon-Fri, Mon,Wed or both."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        try:
            begins = DAYS.index(first[:3].capitalize())
            ends = DAYS.index(last[:3].capitalize()) if last else begins
        except ValueError:
            raise ValueError(
                later("“{part}” are not days such as Mon-Fri or Mon,Wed.", part=part[:100])
            ) from None
        found |= {each % 7 for each in range(begins, ends + (1 if begins <= ends else 8))}
    return tuple(sorted(found))


def _named(days: tuple[int, ...]) -> str:
    if len(days) > 2 and days == tuple(range(days[0], days[-1] + 1)):
        return f"{DAYS[days[0]]}-{DAYS[days[-1]]}"
    return ",".join(DAYS[day] for day in days)
