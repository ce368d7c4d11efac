"""Reading the log for a proof.

All is read page by page, each in a statement of its own: nothing long holds back vacuum or meets a
time-out, and in a log that only grows the pages fit together.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Q

from audit.canonical import Json
from audit.models import SealSignature, content
from audit.seal import BELOW_ALL, SQL, unsealed

EXTENT = (SQL / "extent.sql").read_text()
SEALS = (SQL / "seals.sql").read_text()
ENTRIES = (SQL / "entries.sql").read_text()
PAGE = 2000
SIGNATURES = 20
"""Signatures in a page: one may hold the leaves of thousands of entries."""


class Held(NamedTuple):
    """An entry as the database holds it. Times are text, as seals cover them."""

    id: int
    digest: str
    at: str
    content: dict[str, Json]


class Place(NamedTuple):
    """A seal, and its entry; None where that is gone."""

    seq: int
    hash: str
    sealed_at: str
    entry_id: int
    entry: Held | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """How far the chain and its signatures reached when the proof began.

    Both grow meanwhile: what came later must not look as if it lacked the other.
    """

    seq: int
    """The newest place."""
    signature: int
    """The id of the newest signature."""


def extent() -> Extent:
    ((seq, signature),) = _rows(EXTENT)
    return Extent(
        seq=BELOW_ALL if seq is None else seq,
        signature=BELOW_ALL if signature is None else signature,
    )


def chain(upto: Extent) -> Iterator[Place]:
    """Every place of the chain, in order."""
    above = BELOW_ALL
    while page := _rows(SEALS, above=above, upto=upto.seq, limit=PAGE):
        entries = {entry.id: entry for entry in _entries([row[3] for row in page])}
        for seq, seal_hash, sealed_at, entry_id in page:
            yield Place(seq, seal_hash, sealed_at, entry_id, entries.get(entry_id))
        above = page[-1][0]


def not_sealed() -> Iterator[Held]:
    """Every entry that no seal names."""
    above = BELOW_ALL
    while found := unsealed(above, PAGE * 10):
        for start in range(0, len(found), PAGE):
            yield from _entries([entry.id for entry in found[start : start + PAGE]])
        above = found[-1].id


def signed(upto: Extent) -> Iterator[SealSignature]:
    """Every signature, in the order of the places that it covers; of two for one, the older."""
    rows = SealSignature.objects.filter(id__lte=upto.signature).order_by("first", "id")
    after = (BELOW_ALL, BELOW_ALL)
    while page := list(rows.filter(_after(after))[:SIGNATURES]):
        yield from page
        after = (page[-1].first, page[-1].pk)


def _after(place: tuple[int, int]) -> Q:
    first, row = place
    return Q(first__gt=first) | Q(first=first, id__gt=row)


def _entries(ids: list[int]) -> Iterator[Held]:
    for entry_id, digest, at, *said, data in _rows(ENTRIES, ids=ids):
        yield Held(entry_id, digest, at, content(*[*said, json.loads(data)]))


def _rows(sql: str, **given: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found
