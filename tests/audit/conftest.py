"""People and hands of the audit tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from audit import canonical, seal, signatures, trail
from audit.models import Entry, Seal
from tests.support import flush


@dataclass(frozen=True, kw_only=True)
class Somebody:
    kind: str = "user"
    user_id: int | None = None
    label: str = ""
    entry: str = "page"


@pytest.fixture(autouse=True)
def anchor_file(settings, tmp_path) -> Path:
    """Each test has a file of anchors of its own, as it has a log of its own."""
    path: Path = tmp_path / "anchors.jsonl"
    settings.AUDIT_ANCHOR_FILE = path
    return path


@pytest.fixture
def ada() -> Somebody:
    return Somebody(user_id=7, label="Ada Marsh")


@pytest.fixture
def record(db: None, ada: Somebody) -> Callable[..., Entry]:
    """Add an entry that says that Ada started a run."""

    def record(target_id: str = "1", **given: Any) -> Entry:
        arguments: dict[str, Any] = {"actor": ada, "target": ("run", target_id), **given}
        return trail.record("run.started", **arguments)

    return record


@pytest.fixture
def tamper(db: None) -> Callable[..., None]:
    """Do to the log what only the database's owner can: the triggers are off meanwhile."""

    def tamper(sql: str, *arguments: str | int) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for table in flush.GROWS:
                cursor.execute(flush.unlock(table))
            cursor.execute(sql, arguments)
            assert cursor.rowcount, "the tampering matched nothing"
            for table in flush.GROWS:
                cursor.execute(flush.lock(table))

    return tamper


@pytest.fixture
def rechain(tamper) -> Callable[[], None]:
    """What a forger who owns the database does last: every digest and every link made anew."""

    def rechain() -> None:
        for entry in Entry.objects.all():
            digest = canonical.digest(entry.content)
            tamper("UPDATE audit_entry SET digest = %s WHERE id = %s", digest, entry.id)
        previous = seal.GENESIS
        for seq, row in enumerate(Seal.objects.order_by("seq").select_related("entry"), start=1):
            held = signatures.Digested(row.entry.id, row.entry.digest, row.entry.at)
            previous = seal.link(previous, seq, row.sealed_at, held)
            tamper(
                "UPDATE audit_seal SET seq = %s, hash = %s WHERE seq = %s", seq, previous, row.seq
            )

    return rechain
