"""Where anchors are kept: a file that only grows, and a table for the pages."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from audit import models
from audit.anchors.statement import FORMAT, Anchor
from audit.errors import AnchorNotWritten, AnchorsUnreadable
from audit.signatures import stamp


def kept() -> Iterator[Anchor]:
    """Those of the table, and those of the file of this installation. Raises AnchorsUnreadable."""
    for row in models.Anchor.objects.order_by("id"):
        yield Anchor(
            at=stamp(row.at),
            seq=row.seq,
            hash=row.hash,
            accepts=row.accepts,
            key_id=row.key_id,
            signature=row.signature,
        )
    path = Path(settings.AUDIT_ANCHOR_FILE)
    if path.exists():
        yield from read(path)


def read(path: Path) -> list[Anchor]:
    """The anchors of a file, as somebody kept it. Raises AnchorsUnreadable."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise AnchorsUnreadable(str(path), str(error)) from error
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found += [_anchor(line)] if line.strip() else []
        except (ValueError, TypeError) as error:
            raise AnchorsUnreadable(str(path), f"line {number} is none") from error
    return found


def append(anchor: Anchor) -> None:
    """Add it to the file, so that it is there after the power fails. Raises AnchorNotWritten."""
    path = Path(settings.AUDIT_ANCHOR_FILE)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, b"" if _ends_a_line(file) else b"\n")
            os.write(file, anchor.line)
            os.fsync(file)
        finally:
            os.close(file)
    except OSError as error:
        raise AnchorNotWritten(str(path), error.strerror or str(error)) from error


def _ends_a_line(file: int) -> bool:
    """False if the power failed while a line was written: the next one must not be lost with it."""
    size = os.fstat(file).st_size
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"


def _anchor(line: str) -> Anchor:
    said = json.loads(line)
    if not isinstance(said, dict) or said.pop("format", None) != FORMAT:
        raise ValueError(FORMAT)
    return Anchor(**said)
