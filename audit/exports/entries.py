"""The entries of the audit log as rows of an export.

In JSON Lines each has what its digest and its seal were taken of, and the hash of the seal before
it: whoever gets it can compute both again. In CSV, which people read, the parts stand apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from accounts.actors import Actor
from audit import queries, seal, signatures
from audit.exports import formats, packing
from audit.models import Entry, Seal

NAME = "audit-entries"
ABOUT = "Entries of the audit log, oldest first, with the seals that chain them."
COLUMNS = {
    formats.JSON_LINES: (
        *("id", "at", "verb", "actor", "target", "run", "allowed", "reason", "data", "digest"),
        *("seq", "prev", "hash", "sealed_at"),
    ),
    formats.CSV: (
        *("id", "at", "verb", "actor_kind", "actor_id", "actor_label", "entry"),
        *("target_kind", "target_id", "run", "allowed", "reason", "data", "digest", "seq", "hash"),
    ),
}


def export(filters: queries.Filters, *, actor: Actor, format: str) -> packing.Export:  # noqa: A002
    """Hand out the entries that match. Raises NotPermitted and NoSigningKey."""
    asked = {name: value for name, value in asdict(filters).items() if value not in ("", (), None)}
    return packing.package(
        NAME,
        _rows(filters),
        columns=COLUMNS[format],
        about=ABOUT,
        filters=asked,
        actor=actor,
        format=format,
    )


def _rows(filters: queries.Filters) -> Iterator[formats.Row]:
    for page in queries.pages(filters):
        places = [entry.seal.seq - 1 for entry in page if _is_sealed(entry)]
        before = dict(Seal.objects.filter(seq__in=places).values_list("seq", "hash"))
        for entry in page:
            yield _content(entry) | (_chain(entry.seal, before) if _is_sealed(entry) else {})


def _is_sealed(entry: Entry) -> bool:
    return hasattr(entry, "seal")


def _content(entry: Entry) -> dict[str, object]:
    return {
        **entry.content,
        "id": entry.pk,
        "at": signatures.stamp(entry.at),
        "digest": entry.digest,
        "actor_kind": entry.actor_kind,
        "actor_id": entry.actor_id,
        "actor_label": entry.actor_label,
        "entry": entry.entry,
        "target_kind": entry.target_kind,
        "target_id": entry.target_id,
    }


def _chain(of: Seal, before: dict[int, str]) -> dict[str, object]:
    return {
        "seq": of.seq,
        "prev": before.get(of.seq - 1, seal.GENESIS),
        "hash": of.hash,
        "sealed_at": signatures.stamp(of.sealed_at),
    }
