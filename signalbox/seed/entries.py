"""The audit log of the copies: written with digests of their own, and sealed."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from hashlib import md5
from typing import Any
from uuid import UUID

from django.db import connection

from accounts.models import User
from audit import canonical, seal
from audit.models import Entry
from signalbox.seed.originals import ORDER

COLUMNS = (
    *("at", "verb", "actor_kind", "actor_id", "actor_label", "entry", "target_kind", "target_id"),
    *("run_id", "allowed", "reason", "data", "digest"),
)
SEALED_AT_ONCE = 20_000
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Row = tuple[Any, ...]  # what COPY takes, column by column


def write(originals: list[UUID], *, least: int) -> int:
    """Write the entries of all copies, oldest run first; with sign-ins, at least so many."""
    templates = {run: list(Entry.objects.filter(run_id=run).order_by("id")) for run in originals}
    people = list(User.objects.order_by("pk"))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.id, c.original, extract(epoch FROM c.shift)::float8, c.number, c.shift,"
            " now() + c.shift FROM seed_copy c ORDER BY c.shift"
        )
        copies = cursor.fetchall()
        names = ", ".join(COLUMNS)
        count = 0
        with cursor.copy(f"COPY audit_entry ({names}) FROM STDIN") as out:
            for row in _rows(copies, templates, people, least):
                out.write_row(row)
                count += 1
    return count


def seal_all() -> Iterator[int]:
    """Seal everything; yields how many were sealed so far."""
    done = 0
    while sealed := seal.seal(SEALED_AT_ONCE):
        done += sealed
        yield done


def _rows(
    copies: list[tuple[Any, ...]],
    templates: dict[UUID, list[Entry]],
    people: list[User],
    least: int,
) -> Iterator[Row]:
    own = sum(len(templates[copy[1]]) for copy in copies)
    spare = max(least - own, 0)
    for place, (new, original, _, number, shift, at) in enumerate(copies):
        for entry in templates[original]:
            yield _copied(entry, new, original, number, entry.at + shift)
        for _ in range(spare * (place + 1) // len(copies) - spare * place // len(copies)):
            yield _sign_in(people[(place * place) % len(people)], at)


def _copied(entry: Entry, new: UUID, original: UUID, number: str, at: datetime) -> Row:
    known = str(original)

    def other(found: re.Match[str], *, run: str) -> str:
        old = found[0]
        return run if old == known else str(UUID(md5((run + old).encode()).hexdigest()))  # noqa: S324 (a name, no secret)

    renamed = partial(_UUID.sub, partial(other, run=str(new)))
    data = renamed(json.dumps(entry.data)).replace(ORDER, number)
    return _row(
        at,
        verb=entry.verb,
        actor_kind=entry.actor_kind,
        actor_id=entry.actor_id,
        actor_label=entry.actor_label,
        entry=entry.entry,
        target_kind=entry.target_kind,
        target_id=renamed(entry.target_id),
        run_id=new,
        allowed=entry.allowed,
        reason=entry.reason,
        data=json.loads(data),
    )


def _sign_in(user: User, at: datetime) -> Row:
    return _row(
        at,
        verb="person.signed_in",
        actor_kind="user",
        actor_id=str(user.pk),
        actor_label=user.label,
        entry="page",
        target_kind="person",
        target_id=str(user.pk),
        run_id=None,
        allowed=True,
        reason="",
        data={"session": uuid.UUID(int=user.pk).hex},
    )


def _row(at: datetime, **fields: Any) -> Row:
    entry = Entry(**fields)
    digest = canonical.digest(entry.content)
    values = fields | {"at": at, "digest": digest, "data": json.dumps(fields["data"])}
    return tuple(values[name] for name in COLUMNS)
