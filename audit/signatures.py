"""Signatures of what was sealed: whoever has no key cannot make the chain anew, owner or not.

1. One signature for each pass of the sealer covers, for each place, the id of the entry and its
   *leaf*: the SHA-256 of the entry's id, digest and time, and of the time of sealing.
2. Leaves do not depend on each other. A chain made anew breaks from one place on; leaves name each
   entry that is not what it was, and each that was removed, put in or moved.
3. The public half of the key checks them: no secret is needed where the log is proved.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from audit import signing
from audit.errors import NoSigningKey
from audit.models import SealSignature

logger = logging.getLogger(__name__)

FORMAT = "signalbox-seals/1"
ID = 8
"""Bytes of an id, signed and big-endian."""
WIDE = ID + hashlib.sha256().digest_size


class Digested(NamedTuple):
    """What a seal covers of an entry."""

    id: int
    digest: str
    at: datetime


class Promise(NamedTuple):
    """What was sealed at one place, as it was signed."""

    seq: int
    entry_id: int
    leaf: bytes


def add(first: int, sealed_at: datetime, entries: Sequence[Digested]) -> None:
    """Sign that `entries` were sealed at the places from `first` on. Without a key: not."""
    sealed = stamp(sealed_at)
    parts = (_id(one.id) + leaf(one.id, one.digest, stamp(one.at), sealed) for one in entries)
    leaves, last = b"".join(parts), first + len(entries) - 1
    try:
        signed = signing.sign(_statement(first, last, leaves))
    except NoSigningKey as error:
        logger.warning("places %s to %s were sealed but not signed: %s", first, last, error)
        return
    SealSignature(
        first=first, last=last, leaves=leaves, key_id=signed.key_id, signature=signed.text
    ).save(force_insert=True)


def leaf(entry_id: int, digest: str, at: str, sealed_at: str) -> bytes:
    """What a signature holds of an entry."""
    return hashlib.sha256(f"{entry_id} {digest} {at} {sealed_at}".encode()).digest()


def holds(row: SealSignature, key: signing.PublicKey) -> bool:
    """Whether the owner of `key` signed exactly this row."""
    leaves = bytes(row.leaves)
    whole = len(leaves) == (row.last - row.first + 1) * WIDE
    return whole and key.fits(_statement(row.first, row.last, leaves), row.signature)


def promises(row: SealSignature) -> Iterator[Promise]:
    """What the row says was sealed, in the order of places. Look first whether it `holds`."""
    leaves = bytes(row.leaves)
    for place, start in enumerate(range(0, len(leaves), WIDE), start=row.first):
        entry_id = int.from_bytes(leaves[start : start + ID], signed=True)
        yield Promise(place, entry_id, leaves[start + ID : start + WIDE])


def stamp(moment: datetime) -> str:
    """A time as seals, signatures and exports write it."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _statement(first: int, last: int, leaves: bytes) -> dict[str, object]:
    digest = hashlib.sha256(leaves).hexdigest()
    return {"format": FORMAT, "first": first, "last": last, "leaves": digest}


def _id(entry_id: int) -> bytes:
    return entry_id.to_bytes(ID, signed=True)
