"""What an original's audit entries say, as texts in which each copy's own words are put."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import md5
from uuid import UUID

from django.db import connection

from audit import canonical
from audit.models import Entry
from signalbox.seed.originals import ORDER
from signalbox.seed.people import Cast

STARTER, APPROVER = "{starter}", "{approver}"
"""In place of the ids of people: numbers alone could mean anything."""
COPIES = (
    "SELECT id, original, shift, moved, number, starter, starter_label, approver, approver_label"
    "  FROM seed_copy"
)
_ID = re.compile(r'"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"')


@dataclass(frozen=True, slots=True)
class Copy:
    """A row of `seed_copy`."""

    id: UUID
    original: UUID
    shift: timedelta
    moved: int
    number: str
    starter: int
    starter_label: str
    approver: int
    approver_label: str


class Script:
    """The entries of one original."""

    def __init__(self, run_id: UUID, cast: Cast) -> None:
        entries = Entry.objects.filter(run_id=run_id).order_by("id")
        self._cast = cast
        self._lines = [(entry.at, _text(entry, cast)) for entry in entries]
        self._ids = {found for _, text in self._lines for found in _ID.findall(text)}
        words = self._words(Copy(run_id, run_id, timedelta(), 0, "", 0, "", 0, ""))
        # The longest first: an id as a whole value before the run's id in a longer text.
        self._any = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))

    def begins(self, copy: Copy) -> datetime:
        return self._lines[0][0] + copy.shift

    def played(self, copy: Copy) -> Iterator[tuple[datetime, str]]:
        """When each entry of this copy was made, and its canonical text."""
        words = self._words(copy)
        for at, text in self._lines:
            yield at + copy.shift, self._any.sub(lambda found: words[found[0]], text)

    def _words(self, copy: Copy) -> dict[str, str]:
        """What stands in the texts, and what a copy has instead."""
        return {f'"{old}"': f'"{_moved_id(old, copy)}"' for old in self._ids} | {
            f'"{copy.original}"': f'"{copy.id}"',
            str(copy.original): str(copy.id),
            ORDER: copy.number,
            STARTER: str(copy.starter),
            APPROVER: str(copy.approver),
            self._cast.requester.label: copy.starter_label,
            self._cast.approver.label: copy.approver_label,
            self._cast.operator.label: copy.approver_label,
        }


def copies() -> list[Copy]:
    with connection.cursor() as cursor:
        cursor.execute(COPIES)
        return [Copy(*row) for row in cursor.fetchall()]


def _text(entry: Entry, cast: Cast) -> str:
    places = {cast.requester: STARTER, cast.approver: APPROVER, cast.operator: APPROVER}
    for user, place in places.items():
        if entry.actor_kind == "user" and entry.actor_id == str(user.pk):
            entry.actor_id = place
    return canonical.dumps(entry.content).decode()


def _moved_id(old: str, copy: Copy) -> str:
    """As `sql/moved_id.sql` says it."""
    digest = md5(f"{copy.id}{old}".encode()).hexdigest()  # noqa: S324 (a name, no secret)
    if old[14] == "7":
        made = int(old[:13].replace("-", ""), 16) + copy.moved
        digest = f"{made:012x}7{digest[13:16]}8{digest[17:]}"
    return str(UUID(digest))
