"""The audit log of the copies: digests of their own, in the order of their times, and sealed.

The originals are driven first, so their entries are the newest. A log is in order if its ids are:
ids are left free below those of the originals (`leave_room`), and the copies' entries take them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256
from heapq import heappop, heappush
from typing import Any
from uuid import UUID

from django.db import connection

from audit import canonical, seal
from audit.models import content
from signalbox.seed import scripts
from signalbox.seed.loading import SQL
from signalbox.seed.people import Cast
from signalbox.seed.scripts import Copy, Script

COLUMNS = (
    *("id", "at", "digest", "verb", "actor_kind", "actor_id", "actor_label", "entry"),
    *("target_kind", "target_id", "run_id", "allowed", "reason", "data"),
)
ROOM, LEAST_ROOM = 100, 100_000
"""Ids left free for each run, and in all; its entries are far fewer."""
SIGN_INS = 10
"""Of so many copies' starters, one has just signed in."""
SEALED_AT_ONCE = 20_000
LEAVE_ROOM = (SQL / "leave_room.sql").read_text()

Said = tuple[datetime, str]
"""The time of an entry and its canonical text."""


def leave_room(runs: int) -> int:
    """Leave ids free for the entries of so many runs; return the first."""
    with connection.cursor() as cursor:
        cursor.execute(LEAVE_ROOM, {"room": max(runs * ROOM, LEAST_ROOM)})
        (first,) = cursor.fetchone()
    return int(first)


def write(originals: list[UUID], cast: Cast, *, first: int) -> int:
    """Write the entries of all copies, with ids from `first` on. Returns how many."""
    known = {run_id: Script(run_id, cast) for run_id in originals}
    copies = scripts.copies()
    place = first
    into = f"COPY audit_entry ({', '.join(COLUMNS)}) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(into) as out:
        for place, said in enumerate(_in_order(known, copies), start=first):
            out.write_row(_row(place, *said))
    return place - first + 1


def seal_all() -> Iterator[int]:
    """Seal everything; yields how many were sealed so far."""
    done = 0
    while sealed := seal.seal(SEALED_AT_ONCE):
        done += sealed
        yield done


def _in_order(known: dict[UUID, Script], copies: list[Copy]) -> Iterator[Said]:
    """What all copies say, the oldest first."""
    ahead: list[Said] = []
    begins = {copy.id: known[copy.original].begins(copy) for copy in copies}
    for number, copy in enumerate(sorted(copies, key=lambda copy: begins[copy.id])):
        while ahead and ahead[0][0] < begins[copy.id]:
            yield heappop(ahead)
        if number % SIGN_INS == 0:
            heappush(ahead, (begins[copy.id], _sign_in(copy)))
        for said in known[copy.original].played(copy):
            heappush(ahead, said)
    while ahead:
        yield heappop(ahead)


def _sign_in(copy: Copy) -> str:
    person = str(copy.starter)
    who = ("user", person, copy.starter_label, "page", "person", person)
    said = content("person.signed_in", *who, None, True, "", {})
    return canonical.dumps(said).decode()


def _row(place: int, at: datetime, text: str) -> tuple[Any, ...]:
    """What COPY takes, column by column."""
    said = json.loads(text)
    return (
        *(place, at, sha256(text.encode()).hexdigest(), said["verb"]),
        *(*said["actor"], *said["target"], said["run"], said["allowed"], said["reason"]),
        json.dumps(said["data"]),
    )
