"""The chain over the entries: who alters, removes, adds or reorders one later breaks it.

1. One sealer at a time; a second one goes away at once. It never blocks whoever records.
2. Only committed entries are sealed, each once, in places 1, 2, 3, … without gaps.
3. Places follow the order in which entries became visible, not their ids: an entry that commits
   late takes a later place.
4. A seal covers the seal before it, its place, the id, content and time of its entry, and when it
   was sealed.
5. Each pass signs what it sealed (`audit.signatures`). Without a key it seals all the same; what is
   not signed is named when the log is proved.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from pathlib import Path

from django.db import connection, transaction

from audit import signatures
from audit.models import Seal
from audit.signatures import Digested, stamp

GENESIS = "0" * 64
"""What the first seal has in place of the hash of a seal before it."""
LOOK_BACK = 10_000
"""How many ids below the highest sealed one are searched for entries that committed late."""
BELOW_ALL = -(2**63)
"""An id under every id, also under those that only a forger would give."""
TURN = 0x5EA1
"""Key of the advisory lock that makes one process the sealer."""

SQL = Path(__file__).parent / "sql"
TAKE_TURN = (SQL / "take_turn.sql").read_text()
ADD_SEALS = (SQL / "add_seals.sql").read_text()
UNSEALED = (SQL / "unsealed.sql").read_text()


def seal(limit: int = 5000, *, full: bool = False) -> int:
    """Chain up to `limit` committed entries and return how many; 0 if another sealer is at work.

    Looks back `LOOK_BACK` ids for entries that committed late; `full` searches the whole log.
    """
    with transaction.atomic():
        now = _take_turn()
        if now is None:
            return 0
        # A statement of its own, after the lock: it sees what the last sealer committed.
        last = Seal.objects.order_by("-seq").values_list("seq", "hash").first()
        seq, previous = last or (0, GENESIS)
        entries = unsealed(BELOW_ALL if full else _look_back_to(), limit)
        if entries:
            _add(seq, previous, now, entries)
    return len(entries)


def link(previous: str, seq: int, sealed_at: datetime, entry: Digested) -> str:
    """The hash of one seal: SHA-256 over the RFC 8785 text of what it covers."""
    return linked(previous, seq, stamp(sealed_at), entry.id, entry.digest, stamp(entry.at))


def linked(  # noqa: PLR0913  # what a seal covers
    previous: str, seq: int, sealed_at: str, entry_id: int, digest: str, at: str
) -> str:
    """The same of times that are text already. For hex, integers and times this text is canonical;
    a digest that is no hex never fits its entry."""
    covered = (
        f'{{"at":"{at}","digest":"{digest}","entry":{entry_id},"prev":"{previous}",'
        f'"sealed_at":"{sealed_at}","seq":{seq}}}'
    )
    return hashlib.sha256(covered.encode()).hexdigest()


def unsealed(above: int, limit: int) -> list[Digested]:
    """Up to `limit` committed entries with an id over `above` that no seal names, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(UNSEALED, {"above": above, "limit": limit})
        return [Digested(*row) for row in cursor.fetchall()]


def _take_turn() -> datetime | None:
    """The database's clock if this transaction is the sealer now, else None."""
    with connection.cursor() as cursor:
        cursor.execute(TAKE_TURN, {"key": TURN})
        taken, now = cursor.fetchone()
    return now if taken else None


def _look_back_to() -> int:
    highest = Seal.objects.order_by("-entry_id").values_list("entry_id", flat=True).first()
    return BELOW_ALL if highest is None else highest - LOOK_BACK


def _add(seq: int, previous: str, now: datetime, entries: list[Digested]) -> None:
    """Chain `entries` to the seal at place `seq`."""
    hashes = []
    for place, entry in enumerate(entries, start=seq + 1):
        previous = link(previous, place, now, entry)
        hashes.append(previous)
    ids = [entry.id for entry in entries]
    with connection.cursor() as cursor:
        cursor.execute(ADD_SEALS, {"last": seq, "now": now, "entries": ids, "hashes": hashes})
    signatures.add(seq + 1, now, entries)
