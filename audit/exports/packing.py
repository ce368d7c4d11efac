"""Making one export: rows into a .zip, the manifest about them, its signature, the audit entry."""

from __future__ import annotations

import hashlib
import re
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import IO
from uuid import UUID, uuid4

from django.db import transaction

from accounts import actors, clock
from accounts import errors as people
from accounts.actors import Actor
from audit import canonical, signing, trail
from audit.canonical import Json
from audit.exports import formats
from audit.exports.formats import Row
from audit.models import Seal

PERMISSION = "audit.export_entry"
FORMAT = "signalbox-export/1"
MANIFEST = "manifest.json"
SIGNATURE = "manifest.sig"
IN_MEMORY = 4 * 1024 * 1024
"""Bytes of an export above which it is kept on disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A finished export. Whoever gets it closes `file`; Django's FileResponse does."""

    id: UUID
    """In the manifest and in the audit entry."""
    name: str
    """What the .zip should be called."""
    file: IO[bytes]
    """At its beginning."""
    manifest: Mapping[str, Json]


def package(  # noqa: PLR0913  # what an export has to say of itself
    name: str,
    rows: Iterable[Row],
    *,
    columns: Sequence[str],
    about: str,
    filters: Mapping[str, object],
    actor: Actor,
    format: str = formats.JSON_LINES,  # noqa: A002  # the word that everybody uses
    permission: str = PERMISSION,
) -> Export:
    """Write `rows`, record that they are handed out, and return the file.

    `name` is a word such as "audit-entries"; `about` a sentence for the reader of the manifest;
    `filters` what was asked for, empty if everything. Raises NotPermitted, which is recorded, and
    NoSigningKey. Call it outside of transactions; rows are read while it runs.
    """
    order = _Order(
        id=uuid4(),
        name=name,
        columns=tuple(columns),
        about=about,
        filters=canonical.visible(filters),
        actor=actor,
        format=format,
        permission=permission,
    )
    spool: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  # given on
    try:
        actors.require(actor, permission)  # before the work, and again when it is recorded
        manifest = _write(spool, order, rows)
        _record(order, manifest)
    except BaseException as error:
        spool.close()
        if isinstance(error, people.NotPermitted):
            _record_refused(order, error)
        raise
    spool.seek(0)
    return Export(id=order.id, name=order.file_name(manifest), file=spool, manifest=manifest)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """What is asked for."""

    id: UUID
    name: str
    columns: tuple[str, ...]
    about: str
    filters: Json
    actor: Actor
    format: str
    permission: str

    @property
    def member(self) -> str:
        """The name of the rows inside the .zip."""
        return f"{self.name}.{self.format}"

    def file_name(self, manifest: Mapping[str, Json]) -> str:
        made = re.sub("[-:]", "", str(manifest["made_at"]))[:15]
        return f"{self.name}-{made}Z-{self.format}.zip"


def _write(spool: IO[bytes], order: _Order, rows: Iterable[Row]) -> dict[str, Json]:
    """Fill the .zip; the manifest that it holds."""
    signing.own()  # raises before anything is read
    with zipfile.ZipFile(spool, "w", zipfile.ZIP_DEFLATED) as bundle:
        written = _write_rows(bundle, order, rows)
        manifest = _manifest(order, written)
        bundle.writestr(MANIFEST, canonical.dumps(manifest))
        bundle.writestr(SIGNATURE, signing.sign(manifest).text)
    return manifest


def _write_rows(bundle: zipfile.ZipFile, order: _Order, rows: Iterable[Row]) -> dict[str, Json]:
    """Write the rows into the .zip; what the manifest says of their file."""
    digest, size, count = hashlib.sha256(), 0, 0

    def counted() -> Iterator[Row]:
        nonlocal count
        for row in rows:
            count += 1
            yield row

    with bundle.open(order.member, "w", force_zip64=True) as file:
        for piece in formats.FORMATS[order.format](counted(), order.columns):
            digest.update(piece)
            size += len(piece)
            file.write(piece)
    return {"name": order.member, "sha256": digest.hexdigest(), "bytes": size, "rows": count}


def _manifest(order: _Order, file: dict[str, Json]) -> dict[str, Json]:
    head = Seal.objects.order_by("-seq").first()
    return {
        "format": FORMAT,
        "id": str(order.id),
        "what": order.name,
        "about": canonical.text(order.about),
        "filters": order.filters,
        "by": {"label": canonical.text(order.actor.label), "entry": order.actor.entry},
        "made_at": clock.now().astimezone(UTC).isoformat(timespec="seconds"),
        "columns": list(order.columns),
        "file": dict(file),
        "chain": {"seq": head.seq, "hash": head.hash} if head else None,
        "key_id": signing.own().id,
    }


def _record(order: _Order, manifest: Mapping[str, Json]) -> None:
    with transaction.atomic(durable=True):
        actors.require(order.actor, order.permission)
        trail.record(
            "export.made",
            actor=order.actor,
            target=("export", str(order.id)),
            data={
                "name": order.name,
                "filters": order.filters,
                "file": manifest["file"],
                "key_id": manifest["key_id"],
            },
        )


def _record_refused(order: _Order, refusal: people.NotPermitted) -> None:
    trail.record_refused(
        "export.refused",
        actor=order.actor,
        target=("export", order.name),
        reason=str(refusal),
        data={"name": order.name, "filters": order.filters},
    )
