"""Emptying the database between transactional tests, in a twentieth of the time that Django takes.

Django truncates every table and makes all permissions again, most of a second for each test. Here
what a test made is deleted, and what migrations wrote stays. The audit log only grows: its triggers
refuse both, but its owner may switch them off.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.test import TransactionTestCase

from accounts import groups

GROWS = (
    "audit_entry",
    "audit_seal",
    "audit_signature",
    "audit_anchor",
    "approvals_policyversion",
    "approvals_mishap",
    "approvals_withdrawal",
)
KEPT = {
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "django_content_type",
    "django_migrations",
}
"""What migrations have written."""
LANGGRAPHS = {"checkpoints", "checkpoint_blobs", "checkpoint_writes"}


def unlock(table: str) -> str:
    return f"ALTER TABLE {table} DISABLE TRIGGER {table}_only_grows"


def lock(table: str) -> str:
    return f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_only_grows"


def empty() -> None:
    """Take away what tests have made; the groups hold again what they should.

    What a server still writes is waited for: otherwise it would be there afterwards.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        there = set(connection.introspection.table_names(cursor))
        ours = {*connection.introspection.django_table_names(), *LANGGRAPHS}
        tables = sorted(there & ours - KEPT)
        grow = [table for table in GROWS if table in there]
        cursor.execute(f"LOCK TABLE {', '.join(tables)} IN EXCLUSIVE MODE")
        statements = [
            *map(unlock, grow),
            "SET CONSTRAINTS ALL DEFERRED",
            *(f"DELETE FROM {table}" for table in tables),  # noqa: S608 (names of our own tables)
            "SET CONSTRAINTS ALL IMMEDIATE",
            *map(lock, grow),
        ]
        cursor.execute("; ".join(statements))
        Group.objects.exclude(name__in=groups.ALL).delete()
    groups.ensure()


@contextmanager
def quick() -> Iterator[None]:
    """Let Django empty the database in this way after transactional tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _: empty())
        yield
