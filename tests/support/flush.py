"""Emptying the database between transactional tests, although the audit log only grows.

Django flushes with TRUNCATE, which the log's triggers refuse. Its owner may switch them off.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db.backends.postgresql.operations import DatabaseOperations

GROWS = (
    "audit_entry",
    "audit_seal",
    "audit_signature",
    "audit_anchor",
    "approvals_policyversion",
    "approvals_mishap",
    "approvals_withdrawal",
)


def unlock(table: str) -> str:
    return f"ALTER TABLE {table} DISABLE TRIGGER {table}_only_grows"


def lock(table: str) -> str:
    return f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_only_grows"


@contextmanager
def allowed() -> Iterator[None]:
    """Let Django's flush switch the triggers off, and on again in the same transaction."""
    flush = DatabaseOperations.sql_flush

    def sql_flush(self, style, tables, **options):
        found = [table for table in GROWS if table in tables]
        statements = flush(self, style, tables, **options)
        return [*map(unlock, found), *statements, *map(lock, found)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "sql_flush", sql_flush)
        yield
